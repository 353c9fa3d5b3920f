// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include <specdec/core/concepts.hpp>
#include <specdec/vocab/table/id_map.hpp>

namespace specdec {

/// Finds where tokens of both vocabularies begin at the same byte of one text. Calls f(i, j) in
/// ascending order for target token i and draft token j that begin together, and at the text's end
/// with both sizes. Draft tokens before `first` are no part of the text.
///
/// Control tokens (no bytes) are as retokenised_context puts them: one with an equivalent is that
/// draft token; one without is left out, so the next token begins at the same j. If the drafter's
/// tokens have other bytes (its tokenizer normalises), f is not called up to the next control token
/// that both have; a space added in front of the text is no difference. Nor is it called behind
/// bytes of an incomplete character that the context held back.
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
