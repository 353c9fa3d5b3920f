// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "support/files.hpp"
#include "support/head_flag.hpp"
#include "support/loaded_pair.hpp"
#include <specdec/core/error.hpp>
#include <specdec/head/full_head.hpp>
#include <specdec/head/headed_model.hpp>
#include <specdec/head/residual_router.hpp>
#include <specdec/head/routed_head.hpp>
#include <specdec/head/trimmed_head.hpp>
#include <specdec/reference/lm_head.hpp>
#include <specdec/reference/router_file.hpp>
#include <specdec/reference/token_list_file.hpp>

namespace specdec::examples {

/// A headed_model with all that it borrows. Whole: has a `model` and its whole `head`. Part: what
/// is computed of that.
template <class Whole, class Part>
struct headed_parts {
    std::unique_ptr<Whole> whole;
    Part part;

    template <class MakePart>
    headed_parts(std::unique_ptr<Whole> w, const MakePart& make)
        : whole(std::move(w)), part(make(whole->head)) {}
};
template <class Whole, class Part>
class owned_headed_model : std::unique_ptr<headed_parts<Whole, Part>>,
                           public headed_model<decltype(Whole::model), Part> {
    using parts = headed_parts<Whole, Part>;

public:
    template <class MakePart>
    owned_headed_model(std::unique_ptr<Whole> whole, const MakePart& make)
        : std::unique_ptr<parts>(std::make_unique<parts>(std::move(whole), make)),
          headed_model<decltype(Whole::model), Part>((*this)->whole->model, (*this)->part) {}
};

/// A routed_head with the router of a file.
struct file_router {
    reference::router_weights weights;
    residual_router route{weights.inner, weights.outer, weights.width};
};
template <class Id>
class file_routed_head : std::unique_ptr<file_router>,
                         public routed_head<Id, reference::lm_head<Id>, residual_router> {
public:
    file_routed_head(reference::lm_head<Id>& head, reference::router_weights weights,
                     std::size_t active)
        : file_routed_head(head, std::make_unique<file_router>(std::move(weights)), active) {}

private:
    file_routed_head(reference::lm_head<Id>& head, std::unique_ptr<file_router> router,
                     std::size_t active)
        : std::unique_ptr<file_router>(std::move(router)),
          routed_head<Id, reference::lm_head<Id>, residual_router>(
              head, (*this)->route,
              token_groups<Id>::equal_parts(head.vocabulary_size(), (*this)->weights.groups()),
              active) {}
};

/// A model with what was chosen of its head. folder: the drafter's, where a router lies. facts: of
/// the model without any head, to which the head's part is added. Errors: specdec::error that names
/// the file, also for one of another vocabulary or another number of groups.
template <class Id, class Whole>
[[nodiscard]] any_batch_model<Id> with_head(std::unique_ptr<Whole> whole, const head_choice& choice,
                                            const std::filesystem::path& folder,
                                            model_facts& facts) {
    using head_type = reference::lm_head<Id>;
    const head_type& all = whole->head;
    const auto made = [&](const auto& make) -> any_batch_model<Id> {
        using part = std::invoke_result_t<decltype(make), head_type&>;
        return owned_headed_model<Whole, part>(std::move(whole), make);
    };
    if (choice.which == head_choice::kind::full) {
        facts.forward_bytes += all.bytes();
        return made([](head_type& head) { return full_head<Id, head_type>(head); });
    }
    if (choice.which == head_choice::kind::trimmed) {
        const auto list = reference::read_token_list<Id>(choice.list, all.vocabulary_size());
        facts.head_tokens = list.size();
        facts.forward_bytes += all.bytes_of(list.size());
        return made([&](head_type& head) {
            return trimmed_head<Id, head_type>(head, list, head_rows::copied);
        });
    }
    const std::filesystem::path file = folder / "router.safetensors";
    if (const std::string why = why_missing(file); !why.empty())
        throw error("--head", choice.asked, "expected a router in " + file.string() + ": " + why);
    const reference::router_weights router = reference::read_router(file);
    if (router.groups() != choice.groups || router.width != all.width())
        throw error("--head", choice.asked,
                    "expected the router of " + file.string() + ", which has " +
                        std::to_string(router.groups()) + " groups and width " +
                        std::to_string(router.width));
    facts.head_tokens = all.vocabulary_size() * choice.active / choice.groups;
    facts.forward_bytes += all.bytes_of(facts.head_tokens) + router.bytes();
    return made([&](head_type& head) { return file_routed_head<Id>(head, router, choice.active); });
}

} // namespace specdec::examples
