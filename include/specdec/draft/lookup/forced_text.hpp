// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string_view>
#include <utility>

#include <specdec/draft/lookup/lookup_hit.hpp>
#include <specdec/process/byte_grammar.hpp>

namespace specdec {

/// The bytes of a text that forced_text counts: all but zero bytes, which stand for control tokens.
[[nodiscard]] constexpr std::size_t count_text_bytes(std::string_view bytes) {
    std::size_t count = 0;
    for (const char byte : bytes)
        count += byte != no_text ? 1 : 0;
    return count;
}

/// The text that a grammar forces: as long as exactly one byte is allowed and the text may not end,
/// that byte has to follow. The keys, quotes and brackets of JSON and the frame of a tool call are
/// such bytes, and it takes no model to find them.
///
///     b_1 .. b_n    the longest bytes for which, in the state after b_1 .. b_(i-1), the grammar
///                   allows b_i only and is not complete
///
/// The grammar begins after the prompt, whose bytes are counted, as grammar_mask does; zero bytes,
/// which stand for control tokens, are passed over. A forced byte has chance 1, which no other
/// lookup gives. That holds for the target's text only if the target obeys the grammar
/// (grammar_mask). Without that, forced text is a proposal like any other: lossless, and in vain.
///
/// Lossless with every verifier: it depends on the committed bytes alone. After text that the
/// grammar refuses, it finds nothing until the next start().
///
/// Models TextLookup and TextGuide. Complexity: follow takes a step of the grammar for each byte,
/// find at most 257 for each byte that it finds, and 256 more. Allocates what copies of the
/// grammar's state allocate.
template <ByteGrammar G>
class forced_text {
    using state_type = typename G::state_type;

public:
    /// `prompt_bytes`: of the text before the grammar begins, by count_text_bytes.
    forced_text(G grammar, std::size_t prompt_bytes)
        : grammar_(std::move(grammar)), prompt_bytes_(prompt_bytes), state_(grammar_.begin()),
          prompt_left_(prompt_bytes) {}

    void start() {
        state_ = grammar_.begin();
        prompt_left_ = prompt_bytes_;
        refused_ = false;
    }
    void follow(std::string_view bytes) {
        for (const char byte : bytes)
            if (byte == no_text)
                continue;
            else if (prompt_left_ > 0)
                --prompt_left_;
            else
                refused_ = refused_ || !grammar_.step(state_, byte);
    }

    void find(std::size_t most, lookup_hit& out) const {
        out.clear();
        guide(most, out);
    }

    /// What another lookup found, as the grammar allows it: it is cut at the first byte that the
    /// grammar refuses, its forced bytes get chance 1, and forced bytes are put behind it, up to
    /// `most` bytes. Complexity: at most 257 steps of the grammar for each byte.
    void guide(std::size_t most, lookup_hit& out) const {
        if (refused_ || prompt_left_ > 0)
            return;
        state_type at = state_;
        std::size_t allowed = 0;
        for (; allowed < out.bytes.size(); ++allowed) {
            state_type next = at;
            if (!grammar_.step(next, out.bytes[allowed]))
                break;
            if (find_forced_byte(grammar_, at).any)
                out.chances[allowed] = 1;
            at = std::move(next);
        }
        out.cut(allowed);
        while (out.bytes.size() < most) {
            const forced_byte next = find_forced_byte(grammar_, at);
            if (!next.any)
                return;
            (void)grammar_.step(at, next.byte);
            out.push(next.byte, 1);
        }
    }

private:
    G grammar_;
    std::size_t prompt_bytes_;
    state_type state_;        // after the committed bytes
    std::size_t prompt_left_; // bytes of the prompt that are still to come
    bool refused_ = false;
};

} // namespace specdec
