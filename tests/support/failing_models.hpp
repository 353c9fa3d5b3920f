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
using failing_pair = paired_toys<failing_models<>>;

} // namespace specdec::testing
