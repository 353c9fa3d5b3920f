// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "support/head_flag.hpp"
#include "support/loaded_pair.hpp"
#include <specdec/head/headed_model.hpp>
#include <specdec/head/trimmed_head.hpp>
#include <specdec/reference/batch_model.hpp>
#include <specdec/reference/lm_head.hpp>
#include <specdec/reference/token_list_file.hpp>

namespace specdec::examples {

/// A headed_model with all that it borrows: Parts has a `model` and a `part` of its head.
template <class Parts>
class owned_headed_model : std::unique_ptr<Parts>,
                           public headed_model<decltype(Parts::model), decltype(Parts::part)> {
public:
    explicit owned_headed_model(std::unique_ptr<Parts> parts)
        : std::unique_ptr<Parts>(std::move(parts)),
          headed_model<decltype(Parts::model), decltype(Parts::part)>((*this)->model,
                                                                      (*this)->part) {}
};

template <class Id>
struct trimmed_parts {
    trimmed_parts(reference::transformer loaded, const token_list<Id>& list)
        : model(std::move(loaded)), head(model.engine()), part(head, list, head_rows::copied) {}

    reference::batch_model<Id> model;
    reference::lm_head<Id> head;
    trimmed_head<Id, reference::lm_head<Id>> part;
};

/// The model with what was chosen of its head; facts: of the whole one, changed to what it then
/// reads and computes. Errors: specdec::error that names the list's file, also for a list of
/// another vocabulary.
template <class Id>
[[nodiscard]] any_batch_model<Id> model_with_head(reference::transformer loaded,
                                                  const head_choice& choice, model_facts& facts) {
    if (!choice.partial())
        return reference::batch_model<Id>(std::move(loaded));
    const auto list = reference::read_token_list<Id>(choice.list, loaded.vocabulary_size());
    auto parts = std::make_unique<trimmed_parts<Id>>(std::move(loaded), list);
    facts.head_tokens = list.size();
    facts.forward_bytes -= parts->head.bytes() - parts->head.bytes_of(list.size());
    return owned_headed_model(std::move(parts));
}

} // namespace specdec::examples
