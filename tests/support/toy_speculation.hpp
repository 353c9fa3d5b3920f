// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include <specdec/speculation/speculation.hpp>

#include "batch_of.hpp"
#include "toy_pair.hpp"

namespace specdec::testing {

using target_model = text_model<target_id>;
using draft_model = text_model<draft_id>;

/// Two toy models of so many sequences, as sides of a speculation. Drafts: the drafter's.
template <class Drafts>
struct toys_with {
    toy_pair words;
    batch_of<target_id, target_model> target;
    Drafts draft;

    explicit toys_with(std::size_t sequences = 1)
        : target(sequences, target_model(words.target.table())),
          draft(sequences, draft_model(words.draft.table(), {.seed = 2})) {}

    speculation_side<target_id> target_side() {
        return {.models = target, .tokenizer = words.target, .ends = {toy_pair::end}};
    }
    speculation_side<draft_id> draft_side() {
        return {.models = draft,
                .tokenizer = words.draft,
                .bos = toy_pair::bos,
                .begins_with_bos = true,
                .ends = {toy_pair::stop}};
    }
    speculation pair() { return speculation(target_side(), draft_side()); }
};
using toys = toys_with<batch_of<draft_id, draft_model>>;

/// The same with one speculation of both, which remembers.
template <class Drafts>
struct paired_toys : toys_with<Drafts> {
    speculation pair;

    explicit paired_toys(std::size_t sequences = 1)
        : toys_with<Drafts>(sequences), pair(toys_with<Drafts>::pair()) {}
};

inline decode_settings fixed(std::optional<rule> how, float temperature, std::uint64_t seed = 1) {
    return {.rule = how,
            .sampling = {.temperature = temperature},
            .lengths = {.kind = length_kind::fixed, .length = 3},
            .seed = seed,
            .limits = {.max_tokens = 40}};
}

} // namespace specdec::testing
