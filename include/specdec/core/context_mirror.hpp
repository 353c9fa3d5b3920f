// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <specdec/core/contract.hpp>

namespace specdec {

/// What an engine has to do to a model's context: keep the first `truncate_to` tokens, then feed
/// `append`.
template <class Id>
struct context_edit {
    std::size_t truncate_to = 0;
    std::span<const Id> append;
};

/// Knows which tokens a model's context holds, so that a wanted context is reached by the shortest
/// edit: truncate to the common prefix, append the rest. The record changes only when told what the
/// model really did, so a failed or abandoned round leaves it right.
template <class Id>
class context_mirror {
public:
    /// Room for `capacity` tokens; nothing allocates below that. Allocates.
    void reserve(std::size_t capacity) { held_.reserve(capacity); }

    [[nodiscard]] std::size_t size() const { return held_.size(); }

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

    /// The model forgot all but the first n tokens.
    void truncated(std::size_t n) { held_.resize(n < held_.size() ? n : held_.size()); }
    /// The model was fed these tokens.
    void fed(std::span<const Id> ids) { held_.insert(held_.end(), ids.begin(), ids.end()); }

private:
    std::vector<Id> held_;
};

} // namespace specdec
