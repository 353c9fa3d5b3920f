// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <stdexcept>

#include <specdec/core/concepts.hpp>

#include "batch_of.hpp"
#include "toy_speculation.hpp"

namespace specdec::testing {

/// A drafter's models whose n-th pass fails where fails(n, sequence).
template <class Model = draft_model>
struct failing_models : batch_of<draft_id, Model> {
    using base = batch_of<draft_id, Model>;
    using base::base;
    std::function<bool(std::size_t, std::size_t)> fails = [](auto, auto) { return false; };
    std::size_t calls = 0, failures = 0;

    [[nodiscard]] logits_rows<draft_id> score(std::span<const sequence_tokens<draft_id>> parts) {
        fail_some(parts);
        return base::score(parts);
    }
    [[nodiscard]] logits_rows<draft_id> score_tree(std::span<const sequence_nodes<draft_id>> parts)
        requires BatchTreeModelOf<base, draft_id>
    {
        fail_some(parts);
        return base::score_tree(parts);
    }

private:
    void fail_some(const auto& parts) {
        const std::size_t n = calls++;
        for (const auto& part : parts)
            if (fails(n, part.sequence)) {
                ++failures;
                throw std::runtime_error("the drafter's machine is gone");
            }
    }
};

/// A pair of toys whose drafter fails when it is told to.
struct failing_pair {
    toy_pair words;
    batch_of<target_id, target_model> target;
    failing_models<> draft;
    speculation pair;

    explicit failing_pair(std::size_t sequences = 1)
        : target(sequences, target_model(words.target.table())),
          draft(sequences, draft_model(words.draft.table(), {.seed = 2})),
          pair({.models = target, .tokenizer = words.target, .ends = {toy_pair::end}},
               {.models = draft,
                .tokenizer = words.draft,
                .bos = toy_pair::bos,
                .begins_with_bos = true,
                .ends = {toy_pair::stop}}) {}
};

} // namespace specdec::testing
