// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include <specdec/core/concepts.hpp>
#include <specdec/vocab/table/id_map.hpp>

namespace specdec {

/// The places where tokens of both vocabularies begin together, of one text in both of them: calls
/// f(i, j) where target token i and draft token j begin at the same byte, in ascending order, the
/// text's end (sizes for i and j) included. Draft tokens before `first` are no part of the text.
///
/// Control tokens (no bytes) stand as retokenised_context puts them: one with an equivalent is that
/// draft token, one without leaves no trace, so that the next begins at the same j. Where the
/// drafter's tokens say other bytes (its tokenizer normalises; the space that it adds in front of a
/// text is no difference), nothing is told up to the next control token that both have, and nothing
/// behind what it held back of an incomplete character.
///
/// Complexity: linear in the bytes. Allocates nothing.
template <TokenizerOf<target_id> TargetTokenizer, TokenizerOf<draft_id> DraftTokenizer, class F>
void each_common_beginning(const TargetTokenizer& target, std::span<const target_id> tokens,
                           const DraftTokenizer& draft, std::span<const draft_id> ids,
                           const id_map& map, std::size_t first, F&& f) {
    std::size_t j = first, used = 0;     // the draft's byte: that of token j
    bool agree = true, beginning = true; // of the run of text; nothing but added spaces so far
    const auto matches = [&](char byte) {
        while (j < ids.size() && used < draft.bytes(ids[j]).size()) {
            const char own = draft.bytes(ids[j])[used];
            if (own != byte && !(beginning && own == ' '))
                return false;
            if (++used == draft.bytes(ids[j]).size()) {
                ++j;
                used = 0;
            }
            if (own == byte) {
                beginning = beginning && byte == ' ';
                return true;
            }
        }
        return false;
    };
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        if (agree && used == 0)
            f(i, j);
        const std::string_view bytes = target.bytes(tokens[i]);
        for (std::size_t b = 0; agree && b < bytes.size(); ++b)
            agree = matches(bytes[b]);
        if (!bytes.empty())
            continue;
        const draft_id control = map.to_draft(tokens[i]);
        if (!control.valid())
            continue;
        while (j < ids.size() && ids[j] != control)
            ++j;
        agree = j < ids.size();
        j += agree ? 1 : 0;
        used = 0;
        beginning = true;
    }
    if (agree && used == 0)
        f(tokens.size(), j);
}

} // namespace specdec
