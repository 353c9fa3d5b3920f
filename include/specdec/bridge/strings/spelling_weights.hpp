// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <specdec/core/basic/builtins.hpp>
#include <specdec/core/rows.hpp>
#include <specdec/sampling/law/softmax_law.hpp>
#include <specdec/vocab/spelling/canonical_spellings.hpp>

namespace specdec {

/// What is known of the probability w(t) = q(d_1) q(d_2 | d_1) .. q(d_n | d_1 .. d_{n-1}) that the
/// drafter spells a target token t as d_1 .. d_n, when only some of its rows have been read:
///
///     w(t) = q(d_1) .. q(d_k | ..)       where k = n is known
///            q(d_1) .. q(d_k | ..) * r   where k < n is known,
///                                        r = min(1, likely_rest / (tokens that begin d_1 .. d_k))
///
/// The weights need not sum to 1. Tokens of more than `longest` draft tokens weigh nothing and are
/// not counted. Borrows the table. Memory: 16 bytes a target token, 4 a draft token. Allocates at
/// construction only.
class spelling_weights {
public:
    /// Precondition: likely_rest > 0.
    spelling_weights(const canonical_spellings& spellings, std::size_t longest, double likely_rest)
        : spellings_(&spellings), longest_(longest), likely_rest_(likely_rest),
          w_(spellings.target_size()), known_(spellings.target_size()),
          first_(spellings.target_size()), share_(spellings.target_size()),
          alike_(spellings.draft_size()) {
        for (std::size_t d = 0; d < alike_.size(); ++d) {
            const auto tokens = spellings.beginning_with(id_at<draft_id>(d));
            std::size_t alike = 0;
            for (const target_id t : tokens)
                alike += size(t) > 0 ? 1U : 0U;
            for (const target_id t : tokens) {
                first_[t.index()] = static_cast<std::uint32_t>(d);
                share_[t.index()] = size(t) > 1 ? part(alike) : static_cast<float>(size(t));
            }
        }
    }

    /// Behind a context whose next draft token has the law q. Shapes: q [|D|]. Complexity: linear
    /// in |T|.
    void begin(std::span<const double> q) {
        for (std::size_t i = 0; i < w_.size(); ++i) {
            w_[i] = static_cast<float>(q[first_[i]]) * share_[i];
            known_[i] = 1;
        }
    }

    [[nodiscard]] std::span<const float> weights() const { return w_; }
    [[nodiscard]] bool any() const {
        for (const float w : w_)
            if (w > 0)
                return true;
        return false;
    }
    /// Whether w(t) is known to its end. Precondition: t has a spelling.
    [[nodiscard]] bool known(target_id t) const { return known_[t.index()] == size(t); }
    /// The draft tokens of t that w(t) knows.
    [[nodiscard]] std::span<const draft_id> beginning(target_id t) const {
        return spellings_->of(t).first(known_[t.index()]);
    }

    /// The draft token behind beginning(t) has the law q, or none can follow (empty): one more is
    /// known of all tokens that begin so. Precondition: not known(t). Complexity: linear in the
    /// tokens that begin with t's first draft token.
    void look(target_id t, std::span<const double> q) {
        const std::span<const draft_id> prefix = beginning(t);
        const std::size_t n = prefix.size();
        std::size_t alike = 0;
        for (const target_id x : spellings_->beginning_with(prefix[0]))
            alike += begins_with(x, prefix) ? 1U : 0U;
        const double mass = static_cast<double>(w_[t.index()]) / static_cast<double>(part(alike));
        const auto for_each_longer = [&](const auto& act) {
            for (const target_id x : spellings_->beginning_with(prefix[0]))
                if (size(x) > n && begins_with(x, prefix))
                    act(x, spellings_->of(x)[n].index());
        };
        for_each_longer([&](target_id, std::size_t next) { ++alike_[next]; });
        for_each_longer([&](target_id x, std::size_t next) {
            const float w = static_cast<float>(q.empty() ? 0.0 : mass * q[next]);
            w_[x.index()] = size(x) == n + 1 ? w : w * part(alike_[next]);
            known_[x.index()] = static_cast<std::uint32_t>(n + 1);
        });
        for_each_longer([&](target_id, std::size_t next) { alike_[next] = 0; });
    }

    /// What is not known to its end weighs nothing.
    void forget_unknown() {
        for (std::size_t i = 0; i < w_.size(); ++i)
            if (w_[i] > 0 && !known(id_at<target_id>(i)))
                w_[i] = 0;
    }

private:
    /// Draft tokens of a spelling; 0: it does not count.
    [[nodiscard]] std::size_t size(target_id t) const {
        const std::size_t n = spellings_->of(t).size();
        return n <= longest_ ? n : 0;
    }

    [[nodiscard]] float part(std::size_t alike) const {
        const double even = likely_rest_ / static_cast<double>(alike);
        return even < 1 ? static_cast<float>(even) : 1.0F;
    }

    [[nodiscard]] bool begins_with(target_id t, std::span<const draft_id> beginning) const {
        if (size(t) < beginning.size())
            return false;
        for (std::size_t i = 0; i < beginning.size(); ++i)
            if (spellings_->of(t)[i] != beginning[i])
                return false;
        return true;
    }

    const canonical_spellings* spellings_;
    std::size_t longest_;
    double likely_rest_;
    std::vector<float> w_;             // [|T|]
    std::vector<std::uint32_t> known_; // [|T|] draft tokens
    std::vector<std::uint32_t> first_; // [|T|] the first of them
    std::vector<float> share_;         // [|T|] of q(d_1), what w begins with
    std::vector<std::uint32_t> alike_; // [|D|] scratch of look, 0 between calls
};

/// The likeliest token of one draft token, whatever else it could be of; invalid without one.
[[nodiscard]] inline target_id likeliest_shared(const canonical_spellings& spellings,
                                                logits_row<draft_id> row) {
    if (any_allowed(row.values))
        (void)make_law(row, {.temperature = 0}); // refuses what is no row
    target_id likeliest;
    float most = -builtin::infinity;
    for (std::size_t d = 0; d < row.size(); ++d) {
        const std::span<const target_id> tokens = spellings.beginning_with(id_at<draft_id>(d));
        if (row.values[d] > most && !tokens.empty() && spellings.of(tokens[0]).size() == 1) {
            most = row.values[d];
            likeliest = tokens[0];
        }
    }
    return likeliest;
}

} // namespace specdec
