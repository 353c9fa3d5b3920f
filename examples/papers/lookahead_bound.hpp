// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "papers/byte_trie.hpp"
#include <specdec/vocab/table/vocabulary.hpp>

namespace specdec::papers {

/// n_max of Timor et al. ("Lookahead", section 3.3): the number of draft tokens after which the
/// first target token is determined, whatever was drafted.
///
/// While the drafted bytes s are a proper prefix of some target token, that token may still come;
/// once they are not, a tokenizer that takes the longest match has its first token. So
///
///     n_max = 1 + max { n : d_1 + ... + d_n is a proper prefix of some t in T },
///
/// over all text tokens of D, byte tokens included, and the empty s (n = 0, n_max >= 1). In the
/// paper's example, D = {hello_, world, wo, rld} and T = D + {hello_world}, it is 3: hello_, wo,
/// rld. With a drafter that has every single byte it is the bytes of the longest target token.
///
/// What it promises: for longest-match tokenizers, every draft of n_max tokens determines the first
/// target token (it may be more than needed, where s cannot be continued to t in D). For others,
/// BPE among them, text behind s can still change what stands before it; there n_max is the
/// paper's heuristic, and whether a token is determined is to be asked of the tokenizer.
/// A token without text (control) determines what stands before it and is not looked at.
/// Complexity: as counting the spellings of every target token. Allocates; keeps nothing.
[[nodiscard]] inline std::size_t lookahead_bound(const vocabulary& draft,
                                                 const vocabulary& target) {
    const byte_trie pieces(draft, [](std::size_t) { return true; });
    std::size_t most = 1;
    std::vector<std::size_t>
        tokens; // tokens[i]: 1 + the most that spell the first i bytes; 0: none
    for (std::size_t t = 0; t < target.size(); ++t) {
        const std::string_view text = target.text(t);
        tokens.assign(text.size() + 1, 0);
        tokens[0] = 1;
        for (std::size_t i = 0; i < text.size(); ++i) {
            if (tokens[i] == 0)
                continue;
            most = most > tokens[i] ? most : tokens[i];
            pieces.for_each_beginning(text.substr(i), [&](std::size_t size, std::size_t) {
                std::size_t& longer = tokens[i + size];
                longer = longer > tokens[i] + 1 ? longer : tokens[i] + 1;
            });
        }
    }
    return most;
}

} // namespace specdec::papers
