// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include <specdec/speculation/speculation.hpp>

#include "support/toys/piece_tokenizer.hpp"
#include "support/toys/weighted_model.hpp"

namespace specdec::testing {

inline const weighted_rows weighted_target_rows{{{5, 1, 2, 0, 3}, {1, 6, 1, 2}, {0, 1, 4, 4, 1}}};
inline const weighted_rows weighted_draft_rows{{{4, 1, 3, 1, 3}, {2, 5, 1, 1}, {1, 1, 3, 5, 1}}};

/// A pair of toys; the drafter has a token more, and others at other places, unless `equal`.
struct weighted_pair {
    std::vector<std::string> pieces{"a", "b", "c", "ab", "ca"};
    std::vector<std::string> others;
    piece_tokenizer<target_id> words{pieces};
    piece_tokenizer<draft_id> draft_words;
    weighted_model<target_id> target{weighted_target_rows, pieces.size(), 90};
    weighted_model<draft_id> drafter;
    speculation pair;

    explicit weighted_pair(bool equal)
        : others(equal ? pieces : std::vector<std::string>{"b", "a", "c", "ca", "bb", "ab"}),
          draft_words(others), drafter(weighted_draft_rows, others.size(), 90),
          pair({.models = target, .tokenizer = words},
               {.models = drafter, .tokenizer = draft_words}) {}
};

} // namespace specdec::testing
