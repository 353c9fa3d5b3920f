// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <specdec/core/concepts.hpp>
#include <specdec/core/token_id.hpp>

namespace specdec {

/// Whether a string of target tokens begins with another.
[[nodiscard]] inline bool begins_with(std::span<const target_id> tokens,
                                      std::span<const target_id> beginning) {
    if (tokens.size() < beginning.size())
        return false;
    for (std::size_t i = 0; i < beginning.size(); ++i)
        if (tokens[i] != beginning[i])
            return false;
    return true;
}

/// Whether the tokens, all of them text, have together these bytes.
template <class Tokenizer, class Id>
[[nodiscard]] bool spells(const Tokenizer& tokenizer, std::span<const Id> ids,
                          std::string_view bytes) {
    for (const Id id : ids) {
        const std::string_view part = tokenizer.bytes(id);
        if (part.empty() || !bytes.starts_with(part))
            return false;
        bytes.remove_prefix(part.size());
    }
    return bytes.empty();
}

/// The draft tokens that the drafter's tokenizer writes for what `text` lacks of the wanted tokens'
/// bytes (`scratch` then); none where it begins otherwise.
template <TokenizerOf<target_id> TargetTokenizer, TokenizerOf<draft_id> DraftTokenizer>
void spell_rest(const TargetTokenizer& target, const DraftTokenizer& draft, std::string_view text,
                std::span<const target_id> wanted, std::string& scratch,
                std::vector<draft_id>& out) {
    scratch.clear();
    for (const target_id t : wanted)
        scratch += target.bytes(t);
    if (scratch.size() <= text.size() || !scratch.starts_with(text))
        return;
    draft.encode(std::string_view(scratch).substr(text.size()), text_position::continuation, out);
}

} // namespace specdec
