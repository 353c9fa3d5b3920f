// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <specdec/core/contract.hpp>
#include <specdec/core/error.hpp>
#include <specdec/core/token_id.hpp>

namespace specdec {

/// What an engine has to do to a model's context: truncate it to `truncate_to` tokens, then feed
/// `append`, then score a tree of nodes with these parents, if there are any (TreeModelOf).
template <class Id>
struct context_edit {
    std::size_t truncate_to = 0;
    std::span<const Id> append;
    std::span<const Id> nodes{};
    std::span<const std::size_t> parents{};
};

/// What somebody saw who looked at the tokens that a context holds (held_tokens::look).
struct context_look {
    const void* record = nullptr; ///< the context_tracker that was looked at
    std::uint64_t feed = 0;       ///< the feed that its last token came with
    std::size_t tokens = 0;       ///< how many it had
};

/// The tokens that a context holds, as its model tells them: a view, which lives until the model's
/// next call. A model that records them in a context_tracker also tells which feed each token came
/// with. Whoever looks again then sees what has changed, without a comparison of all tokens.
template <class Id>
class held_tokens : public std::span<const Id> {
    using tokens = std::span<const Id>;

public:
    constexpr held_tokens() = default;
    /// Without their feeds.
    template <class Tokens>
        requires std::convertible_to<const Tokens&, tokens>
    constexpr explicit(false) held_tokens(const Tokens& ids) : tokens(ids) {}
    /// feeds: [ids.size()] the number of the feed that each token came with; it never falls from
    /// one token to the next, and every feed of this record has a number above all before it.
    constexpr held_tokens(tokens ids, const std::uint64_t* feeds, const void* record)
        : tokens(ids), feeds_(feeds), record_(record) {}

    [[nodiscard]] constexpr held_tokens first(std::size_t n) const {
        return {tokens::first(n), feeds_, record_};
    }

    [[nodiscard]] context_look look() const {
        if (feeds_ == nullptr || this->empty())
            return {};
        return {record_, feeds_[this->size() - 1], this->size()};
    }
    /// How many of the first tokens were there at that look, and have been there since; 0 if the
    /// model does not tell their feeds, or if another record was looked at. Complexity: linear in
    /// the tokens that have changed.
    [[nodiscard]] std::size_t unchanged_since(const context_look& at) const {
        if (feeds_ == nullptr || record_ != at.record)
            return 0;
        std::size_t n = at.tokens < this->size() ? at.tokens : this->size();
        while (n > 0 && feeds_[n - 1] > at.feed)
            --n;
        return n;
    }

private:
    const std::uint64_t* feeds_ = nullptr;
    const void* record_ = nullptr;
};

/// A model that tells which tokens its context holds, as shared_model does: m.held(), held_tokens
/// or any other span of them.
template <class M, class Id>
concept TellsHeld = requires(const M& m) {
    { m.held() } -> std::convertible_to<std::span<const Id>>;
};

/// The same of a model of several sequences: m.held(s).
template <class M, class Id>
concept TellsHeldBatch = requires(const M& m, std::size_t s) {
    { m.held(s) } -> std::convertible_to<std::span<const Id>>;
};

/// What tokens alone do not say of a context: which adapter made it, which image its placeholders
/// stand for. Two contexts of one model are the same only if their keys and their tokens are.
using context_key = std::uint64_t;

/// A model that reports the key that a context was made with: m.key().
template <class M>
concept ReportsKey = requires(const M& m) {
    { m.key() } -> std::convertible_to<context_key>;
};

/// The same of a model of several sequences: m.key(s).
template <class M>
concept ReportsKeyBatch = requires(const M& m, std::size_t s) {
    { m.key(s) } -> std::convertible_to<context_key>;
};

/// A model that is told the key of the text that its context is used for: m.set_key(key) empties a
/// context of another key, and computes with what the key stands for, an adapter, say.
template <class M>
concept TakesKey = ReportsKey<M> && requires(M& m, context_key key) { m.set_key(key); };

/// The same of a model of several sequences: m.set_key(s, key).
template <class M>
concept TakesKeys =
    ReportsKeyBatch<M> && requires(M& m, std::size_t s, context_key key) { m.set_key(s, key); };

/// What is done with what a context still holds of an earlier text.
enum class left_context { reused, dropped };

/// Knows which tokens a model's context holds, so that a wanted context is reached by the shortest
/// edit: truncate to the common prefix, append the rest. The record changes only when told what the
/// model really did, so a failed or abandoned round leaves it right.
///
/// If somebody else has used the model, meet() sees it where the model tells what it holds. Where
/// it tells the feeds of its tokens, too (it has a context_tracker of its own), meet() compares
/// only tokens that were fed, there or here, since it was called last; else it compares all of
/// them. Where the model tells nothing, meet() sees the size alone: other tokens of the same number
/// go unseen. Pre: if a model is destroyed and another one takes its place in memory, call
/// truncated(0) in between.
///
/// Memory: a token and its feed's number, 12 bytes a token.
template <class Id>
class context_tracker {
public:
    context_tracker() = default;
    context_tracker(const context_tracker&) = default;
    context_tracker(context_tracker&&) noexcept = default;
    ~context_tracker() = default;
    /// The tokens count as fed just now, so whoever looked at this record sees that they are
    /// others.
    context_tracker& operator=(const context_tracker& other) {
        if (this == &other)
            return *this;
        truncated(0);
        fed(other.held());
        return *this;
    }

    /// Room for `capacity` tokens; nothing allocates below that. Allocates.
    void reserve(std::size_t capacity) {
        held_.reserve(capacity);
        feeds_.reserve(capacity);
    }

    [[nodiscard]] std::size_t size() const { return held_.size(); }
    [[nodiscard]] held_tokens<Id> held() const { return {held_, feeds_.data(), this}; }

    /// The edit that makes the model hold `wanted` once `append` is fed. At least the last token is
    /// in `append`, because only a token that is fed yields a row. Precondition: wanted is not
    /// empty; its first `unchanged` tokens are those of the last plan. Complexity: linear in the
    /// tokens behind `unchanged`.
    [[nodiscard]] context_edit<Id> plan(std::span<const Id> wanted, std::size_t unchanged) const {
        SPECDEC_PRECONDITION(!wanted.empty());
        const std::size_t most = held_.size() < wanted.size() ? held_.size() : wanted.size() - 1;
        std::size_t common = unchanged < most ? unchanged : most;
        while (common < most && held_[common] == wanted[common])
            ++common;
        return {common, wanted.subspan(common)};
    }

    void truncated(std::size_t n) {
        if (n >= held_.size())
            return;
        held_.resize(n);
        feeds_.resize(n);
        met_ = met_ < n ? met_ : n;
    }
    void fed(std::span<const Id> ids) {
        feeds_.resize(held_.size()); // more where an allocation failed
        feeds_.resize(held_.size() + ids.size(), ++feed_);
        held_.insert(held_.end(), ids.begin(), ids.end());
    }

    /// Makes the record agree with the model, whoever used the model meanwhile; call it before
    /// plan(). Returns how many of the first tokens are as they were recorded. A context whose
    /// tokens are unknown is truncated to nothing. Complexity: linear in the tokens that were fed
    /// since the last call; in the whole context for a model that tells no feeds; O(1) for one
    /// without held(). Errors: specdec::error for a model that does not truncate.
    template <class M>
    std::size_t meet(M& model) {
        if constexpr (TellsHeld<M, Id>) {
            const held_tokens<Id> held = model.held();
            if (held.size() == model.size()) {
                const std::size_t known = held.unchanged_since(seen_);
                std::size_t same = known < met_ ? known : met_;
                same += common_prefix<Id>(held.subspan(same), std::span(held_).subspan(same));
                truncated(same);
                if (same < held.size())
                    fed(held.subspan(same));
                seen_ = held.look();
                met_ = held.size();
                return same;
            }
        } else if (model.size() == held_.size()) {
            return held_.size();
        }
        model.truncate(0);
        if (model.size() != 0)
            fail("model", "truncate",
                 "expected no token to be left, found " + std::to_string(model.size()));
        truncated(0);
        return 0;
    }

private:
    std::vector<Id> held_;
    std::vector<std::uint64_t> feeds_; // [held_.size()] each token's, at least
    std::uint64_t feed_ = 0;           // the last one
    context_look seen_{};              // of the model, in the last meet()
    std::size_t met_ = 0;              // tokens of the record that are as they were then
};

} // namespace specdec
