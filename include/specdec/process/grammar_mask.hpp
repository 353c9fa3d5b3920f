// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <specdec/core/basic/builtins.hpp>
#include <specdec/core/concepts.hpp>
#include <specdec/process/byte_grammar.hpp>
#include <specdec/process/row_processor.hpp>
#include <specdec/process/token_history.hpp>
#include <specdec/vocab/table/byte_order.hpp>

namespace specdec {

/// Forbids the tokens with which a text cannot go on under a grammar: tokens with a byte that it
/// refuses, and control tokens. `ends`, whatever their bytes, are allowed where the text may end.
/// The grammar begins behind the prompt, which is counted in bytes, so that both sides agree
/// however they cut it into tokens. Models RowProcessor<Id>. Everything passed by reference is
/// borrowed.
///
/// On the target's side some token has to be left wherever the grammar lets a text come to (a
/// vocabulary of all single bytes suffices); a row without a token is an error there. On the
/// drafter's side it ends the draft.
///
/// Complexity: the vocabulary is walked in the order of bytes, with a step for each byte of the
/// tokens that may follow, and O(1) for each other token. Memory: a state a token.
template <class Id, ByteGrammar G, TokenizerOf<Id> Tokenizer>
class grammar_mask {
    using state_type = typename G::state_type;

public:
    static constexpr processor_traits traits{.reserve = true};
    /// `order`: of the tokenizer. `ends`: the tokens that end a text.
    grammar_mask(G grammar, const Tokenizer& tokenizer, const byte_order<Id>& order,
                 std::size_t prompt_bytes, std::vector<Id> ends)
        : grammar_(std::move(grammar)), tokenizer_(&tokenizer), order_(&order),
          ends_(std::move(ends)), of_ends_(ends_.size()), begin_{grammar_.begin(), prompt_bytes},
          path_(order.longest() + 1, path_place{begin_.state}) {}

    void reserve(std::size_t tokens) {
        history_.reserve(tokens);
        places_.reserve(tokens);
    }

    void operator()(std::span<const Id> tokens, std::span<float> row) {
        history_.follow(
            tokens, [this](Id) { places_.pop_back(); },
            [this](Id id) { places_.push_back(behind(here(), tokenizer_->bytes(id))); });
        if (here().before == 0)
            mask(row);
    }

private:
    struct place {
        state_type state;
        std::size_t before; // bytes of the prompt that are still to come
        bool refused = false;
    };

    struct path_place { // a state may be a bool, of which vectors are no vectors
        state_type state;
    };

    [[nodiscard]] const place& here() const { return places_.empty() ? begin_ : places_.back(); }

    [[nodiscard]] place behind(place at, std::string_view bytes) const {
        const std::size_t prompt = bytes.size() < at.before ? bytes.size() : at.before;
        at.before -= prompt;
        for (const char byte : bytes.substr(prompt))
            at.refused = at.refused || !grammar_.step(at.state, byte);
        return at;
    }

    void mask(std::span<float> row) {
        constexpr float forbidden = -builtin::infinity;
        const place& at = here();
        const auto forbid = [&](Id id) {
            if (id.index() < row.size())
                row[id.index()] = forbidden;
        };
        const bool may_end = !at.refused && grammar_.complete(at.state);
        for (std::size_t i = 0; i < ends_.size(); ++i)
            of_ends_[i] =
                may_end && ends_[i].index() < row.size() ? row[ends_[i].index()] : forbidden;
        const order_range silent = order_->silent();
        for (std::size_t i = 0; i < silent.last; ++i)
            forbid(order_->id(i));
        for (std::size_t i = order_->size(); i < row.size(); ++i)
            row[i] = forbidden;

        // path_[0 .. good] are the states along `last`, whose next byte is refused, if it has one.
        path_[0].state = at.state;
        std::string_view last;
        std::size_t good = 0;
        for (std::size_t i = silent.last; i < order_->size(); ++i) {
            const std::string_view text = order_->bytes(i);
            std::size_t same = 0;
            while (same < text.size() && same < last.size() && text[same] == last[same])
                ++same;
            if (at.refused || same > good) {
                forbid(order_->id(i));
                continue;
            }
            for (good = same; good < text.size(); ++good) {
                path_[good + 1] = path_[good];
                if (!grammar_.step(path_[good + 1].state, text[good]))
                    break;
            }
            last = text;
            if (good < text.size())
                forbid(order_->id(i));
        }
        for (std::size_t i = 0; i < ends_.size(); ++i)
            if (ends_[i].index() < row.size())
                row[ends_[i].index()] = of_ends_[i];
    }

    G grammar_;
    const Tokenizer* tokenizer_;
    const byte_order<Id>* order_;
    std::vector<Id> ends_;
    std::vector<float> of_ends_; // [ends] their logits
    place begin_;
    token_history<Id> history_;
    std::vector<place> places_;    // behind each token of the history
    std::vector<path_place> path_; // [longest token + 1] scratch
};

} // namespace specdec
