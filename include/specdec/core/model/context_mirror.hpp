// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
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

/// A model that tells which tokens its context holds, as shared_model does: m.held().
template <class M, class Id>
concept TellsHeld = requires(const M& m) {
    { m.held() } -> std::convertible_to<std::span<const Id>>;
};

/// The same of a model of several sequences: m.held(s).
template <class M, class Id>
concept TellsHeldBatch = requires(const M& m, std::size_t s) {
    { m.held(s) } -> std::convertible_to<std::span<const Id>>;
};

/// What is done with what a context still holds of an earlier text.
enum class left_context { reused, dropped };

/// Knows which tokens a model's context holds, so that a wanted context is reached by the shortest
/// edit: truncate to the common prefix, append the rest. The record changes only when told what the
/// model really did, so a failed or abandoned round leaves it right. Where somebody else has used
/// the model, meet() sees it if the model tells what it holds, and else by its size alone: other
/// tokens of the same number go unseen.
template <class Id>
class context_mirror {
public:
    /// Room for `capacity` tokens; nothing allocates below that. Allocates.
    void reserve(std::size_t capacity) { held_.reserve(capacity); }

    [[nodiscard]] std::size_t size() const { return held_.size(); }
    [[nodiscard]] std::span<const Id> held() const { return held_; }

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

    void truncated(std::size_t n) { held_.resize(n < held_.size() ? n : held_.size()); }
    void fed(std::span<const Id> ids) { held_.insert(held_.end(), ids.begin(), ids.end()); }

    /// Makes the record agree with the model, whoever used the model meanwhile; call it before
    /// plan(). Returns how many of the first tokens are as they were recorded. A context whose
    /// tokens are unknown is truncated to nothing. Complexity: O(1); linear in the context for a
    /// model with held(). Errors: specdec::error for a model that does not truncate.
    template <class M>
    std::size_t meet(M& model) {
        if constexpr (TellsHeld<M, Id>) {
            const std::span<const Id> held = model.held();
            if (held.size() == model.size()) {
                const std::size_t same = common_prefix<Id>(held, held_);
                held_.resize(same);
                fed(held.subspan(same));
                return same;
            }
        } else if (model.size() == held_.size()) {
            return held_.size();
        }
        model.truncate(0);
        if (model.size() != 0)
            fail("model", "truncate",
                 "expected no token to be left, got " + std::to_string(model.size()));
        truncated(0);
        return 0;
    }

private:
    std::vector<Id> held_;
};

} // namespace specdec
