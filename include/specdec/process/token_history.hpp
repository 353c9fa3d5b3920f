// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <specdec/core/basic/builtins.hpp>
#include <specdec/core/token_id.hpp>

namespace specdec {

/// Remembers the tokens that a state was made of, and makes the state follow the tokens of a call:
/// it undoes tokens that are gone and adds tokens that are new.
///
///     history.follow(tokens, undo, add)
///
/// calls undo(id) for each token held that is not in `tokens` at its place, the last first, then
/// add(id) for each further one. So a state that can undo tokens follows commits, truncations and
/// other texts without being told. If add throws, it must leave the state as it was. Complexity:
/// linear in the tokens undone and added; tokens that stay are compared by their bytes. Allocates
/// only beyond what was reserved.
template <class Id>
class token_history {
public:
    void reserve(std::size_t tokens) { held_.reserve(tokens); }
    [[nodiscard]] std::span<const Id> tokens() const { return held_; }

    template <class Undo, class Add>
    void follow(std::span<const Id> tokens, const Undo& undo, const Add& add) {
        const std::size_t same = common(tokens);
        while (held_.size() > same) {
            const Id last = held_.back();
            held_.pop_back();
            undo(last);
        }
        if (held_.capacity() < tokens.size()) // nothing may fail once an add is made
            held_.reserve(2 * tokens.size());
        for (const Id id : tokens.subspan(same)) {
            add(id);
            held_.push_back(id);
        }
    }

private:
    /// Length of the beginning that both have.
    [[nodiscard]] std::size_t common(std::span<const Id> tokens) const {
        constexpr std::size_t block = 64;
        const std::size_t most = tokens.size() < held_.size() ? tokens.size() : held_.size();
        std::size_t n = 0;
        while (n + block <= most &&
               builtin::same(&held_[n], &tokens[n], block * sizeof(Id))) // ids have no padding
            n += block;
        while (n < most && held_[n] == tokens[n])
            ++n;
        return n;
    }

    std::vector<Id> held_;
};

} // namespace specdec
