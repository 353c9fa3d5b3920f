// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "support/flags/head_flag.hpp"
#include "support/pair/loaded_pair.hpp"
#include "support/program/files.hpp"
#include <specdec/core/error.hpp>
#include <specdec/head/adaptive/adaptive_model.hpp>
#include <specdec/head/adaptive/adaptive_token_list.hpp>
#include <specdec/head/adaptive/target_topk.hpp>
#include <specdec/head/full_head.hpp>
#include <specdec/head/headed_model.hpp>
#include <specdec/head/residual_router.hpp>
#include <specdec/head/routed_head.hpp>
#include <specdec/head/trimmed_head.hpp>
#include <specdec_engine/drafter/lm_head.hpp>
#include <specdec_engine/drafter/router_file.hpp>
#include <specdec_engine/drafter/token_list_file.hpp>

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

    /// It stays where it is when the model is moved.
    [[nodiscard]] const Part& part() const { return (*this)->part; }
};

using head_type = engine::lm_head<draft_id>;

/// A drafter's model with a list that follows the one text it drafts for, and all that it borrows.
template <class Whole>
struct adaptive_parts {
    using list_head = trimmed_head<draft_id, head_type>;
    using rows_type = headed_model<decltype(Whole::model), list_head>;

    std::unique_ptr<Whole> whole;
    list_head part;
    adaptive_token_list<draft_id> hot;
    std::shared_ptr<target_topk> likely;
    rows_type rows{whole->model, part};

    adaptive_parts(std::unique_ptr<Whole> w, const token_list<draft_id>& list,
                   std::shared_ptr<target_topk> from)
        : whole(std::move(w)), part(whole->head, list, head_rows::copied), hot(list),
          likely(std::move(from)) {}
};
template <class Whole>
class owned_adaptive_model : std::unique_ptr<adaptive_parts<Whole>>,
                             public adaptive_model<typename adaptive_parts<Whole>::rows_type,
                                                   typename adaptive_parts<Whole>::list_head> {
    using parts = adaptive_parts<Whole>;

public:
    owned_adaptive_model(std::unique_ptr<Whole> whole, const token_list<draft_id>& list,
                         std::shared_ptr<target_topk> likely)
        : std::unique_ptr<parts>(
              std::make_unique<parts>(std::move(whole), list, std::move(likely))),
          adaptive_model<typename parts::rows_type, typename parts::list_head>(
              (*this)->rows, (*this)->part, (*this)->hot, (*this)->likely.get()) {}
};

/// A routed_head with the router of a file.
struct file_router {
    engine::router_weights weights;
    residual_router route{weights.inner, weights.outer, weights.width};
};
class file_routed_head : std::unique_ptr<file_router>,
                         public routed_head<draft_id, head_type, residual_router> {
public:
    file_routed_head(head_type& head, engine::router_weights weights, std::size_t active)
        : file_routed_head(head, std::make_unique<file_router>(std::move(weights)), active) {}

private:
    file_routed_head(head_type& head, std::unique_ptr<file_router> router, std::size_t active)
        : std::unique_ptr<file_router>(std::move(router)),
          routed_head<draft_id, head_type, residual_router>(
              head, (*this)->route,
              engine::groups_of<draft_id>((*this)->weights, head.vocabulary_size()), active,
              (*this)->weights.group_of.empty() ? head_rows::gathered : head_rows::copied) {}
};

/// A model with what was chosen of its head. folder: the drafter's, where a router lies. facts: of
/// the model without any head, to which the head's part is added. likely: what a list that follows
/// the text wants to be told; else as it was. Errors: specdec::error that names
/// the file, also for one of another vocabulary or another number of groups.
template <class Whole>
[[nodiscard]] any_batch_model<draft_id>
with_head(std::unique_ptr<Whole> whole, const head_choice& choice,
          const std::filesystem::path& folder, model_facts& facts,
          std::shared_ptr<target_topk>& likely) {
    const head_type& all = whole->head;
    const auto made = [&](const auto& make) -> any_batch_model<draft_id> {
        using part = std::invoke_result_t<decltype(make), head_type&>;
        return owned_headed_model<Whole, part>(std::move(whole), make);
    };
    if (choice.which == head_choice::kind::full) {
        facts.forward_bytes += all.bytes();
        return made([](head_type& head) { return full_head<draft_id, head_type>(head); });
    }
    if (choice.which != head_choice::kind::routed) {
        const auto list = engine::read_token_list<draft_id>(choice.list, all.vocabulary_size());
        facts.head_tokens = list.size();
        facts.forward_bytes += all.bytes_of(list.size());
        if (choice.which == head_choice::kind::trimmed)
            return made([&](head_type& head) {
                return trimmed_head<draft_id, head_type>(head, list, head_rows::copied);
            });
        if (whole->model.sequences() > 1)
            throw error("--head", choice.asked, "expected one text at a time (--sequences 1)");
        likely = std::make_shared<target_topk>();
        return owned_adaptive_model<Whole>(std::move(whole), list, likely);
    }
    const std::filesystem::path file = folder / "router.safetensors";
    if (const std::string why = why_missing(file); !why.empty())
        throw error("--head", choice.asked, "expected a router in " + file.string() + ": " + why);
    const engine::router_weights router = engine::read_router(file);
    if (router.groups() != choice.groups || router.width != all.width())
        throw error("--head", choice.asked,
                    "expected the router of " + file.string() + ", which has " +
                        std::to_string(router.groups()) + " groups and width " +
                        std::to_string(router.width));
    if (!router.group_of.empty() && router.group_of.size() != all.vocabulary_size())
        throw error("--head", choice.asked,
                    "expected a group for each of " + std::to_string(all.vocabulary_size()) +
                        " tokens, " + file.string() + " has " +
                        std::to_string(router.group_of.size()));
    facts.head_tokens = all.vocabulary_size() * choice.active / choice.groups;
    facts.forward_bytes += all.bytes_of(facts.head_tokens) + router.bytes();
    owned_headed_model<Whole, file_routed_head> model(std::move(whole), [&](head_type& head) {
        return file_routed_head(head, router, choice.active);
    });
    facts.routed = &model.part().counts();
    return model;
}

} // namespace specdec::examples
