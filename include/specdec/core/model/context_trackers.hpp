// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <specdec/core/model/context_tracker.hpp>

namespace specdec {

/// Which tokens the sequences of a model hold, for who sees every call on the model: meet() before
/// it, fed() or truncated() behind it. What somebody else did meanwhile is seen by the number of
/// tokens, and what nobody knows is not told again before the sequence was empty. A number of
/// tokens that is as it was hides what they are: who uses the model elsewhere leaves it empty.
/// Allocates where a sequence is longer than ever.
template <class Id>
class context_trackers {
public:
    /// Sequence s holds `size` tokens, and will be changed.
    void meet(std::size_t s, std::size_t size) {
        if (s >= contexts_.size())
            contexts_.resize(s + 1);
        context& c = contexts_[s];
        c.used = ++meetings_;
        ++c.calls;
        if (size == 0)
            c.ids.truncated(0);
        c.known = size == 0 || (c.known && c.ids.size() == size);
    }
    /// It was fed these, behind meet().
    void fed(std::size_t s, std::span<const Id> ids) {
        context& c = contexts_[s];
        if (c.known)
            c.ids.fed(ids);
        c.nodes.clear();
    }
    /// It was fed these as nodes of a tree, behind meet().
    void grown(std::size_t s, std::span<const Id> ids) {
        context& c = contexts_[s];
        c.nodes.insert(c.nodes.end(), ids.begin(), ids.end());
    }
    /// It kept this path of them, behind meet().
    void kept(std::size_t s, std::span<const std::size_t> path) {
        context& c = contexts_[s];
        for (const std::size_t node : path) {
            c.known = c.known && node < c.nodes.size(); // else somebody else grew the tree
            if (c.known)
                c.ids.fed({&c.nodes[node], 1});
        }
        c.nodes.clear();
    }
    /// It forgot all but the first n, behind meet().
    void truncated(std::size_t s, std::size_t n) {
        context& c = contexts_[s];
        c.ids.truncated(n);
        c.known = c.known || n == 0;
        c.nodes.clear();
    }
    /// Somebody else may have used all of them, and have left as many tokens.
    void lost() {
        for (context& c : contexts_) {
            c.ids.truncated(0);
            c.nodes.clear();
            c.known = false;
            ++c.calls;
        }
    }
    /// Greater for a sequence that was met later; 0 for one that never was.
    [[nodiscard]] std::uint64_t last_used(std::size_t s) const {
        return s < contexts_.size() ? contexts_[s].used : 0;
    }
    /// What its tokens were computed with; 0 where nobody has said.
    [[nodiscard]] context_key key(std::size_t s) const {
        return s < contexts_.size() ? contexts_[s].key : 0;
    }
    void set_key(std::size_t s, context_key to) {
        if (s >= contexts_.size())
            contexts_.resize(s + 1);
        contexts_[s].key = to;
    }
    /// How many calls there have been on sequence s: a number that stays as long as nobody uses it.
    [[nodiscard]] std::uint64_t calls(std::size_t s) const {
        return s < contexts_.size() ? contexts_[s].calls : 0;
    }
    /// The tokens of sequence s, which has `size` of them; none where they are not known.
    [[nodiscard]] held_tokens<Id> held(std::size_t s, std::size_t size) const {
        if (s >= contexts_.size() || !contexts_[s].known || contexts_[s].ids.size() != size)
            return {};
        return contexts_[s].ids.held();
    }

private:
    struct context {
        context_tracker<Id> ids{};
        std::vector<Id> nodes{}; // of a tree after it
        std::uint64_t used = 0;  // the last call for it
        bool known = true;
        std::uint64_t calls = 0; // for it
        context_key key = 0;
    };
    std::vector<context> contexts_; // [sequences]
    std::uint64_t meetings_ = 0;
};

} // namespace specdec
