// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <specdec/core/basic/builtins.hpp>
#include <specdec/core/error.hpp>
#include <specdec/core/require.hpp>
#include <specdec/core/rows.hpp>
#include <specdec/core/token_id.hpp>
#include <specdec/learn/distillation_sample.hpp>
#include <specdec/learn/loss/forward_kl_loss.hpp>
#include <specdec/learn/loss/ngram_kl_loss.hpp>
#include <specdec/learn/loss/nll_loss.hpp>
#include <specdec/learn/loss/reverse_kl_loss.hpp>
#include <specdec/learn/loss/shared_softmax.hpp>
#include <specdec/learn/loss/total_variation_loss.hpp>
#include <specdec/sampling/law/sparse_law.hpp>
#include <specdec/vocab/table/id_map.hpp>

namespace specdec {

/// The loss where tokens of both vocabularies begin (OmniDraft, Eq. 4: L_DM is the reverse KL).
enum class direct_loss : std::uint8_t {
    reverse_kl,
    forward_kl,
    total_variation,
    nll,  ///< - log q(d) of the draft token that the text goes on with (Table 6)
    none, ///< merges alone teach (Table 6, where that is unstable)
};

/// The loss of a token that several draft tokens merge into (OmniDraft, Eq. 4 and Table 6).
enum class ngram_loss : std::uint8_t {
    none,
    nll,                ///< - lambda sum log q(d_j), lambda a number
    nll_by_probability, ///< the same, lambda = p(t)
    kl,                 ///< in place of the direct loss where the token begins: Eq. 2's law
};

struct distillation_loss_settings {
    direct_loss direct = direct_loss::reverse_kl;
    ngram_loss ngram = ngram_loss::nll_by_probability;
    double lambda = 0.2;    ///< of ngram_loss::nll
    double temperature = 1; ///< of q
    /// Rows are taught as p^(1 / this), renormalised: below 1 for texts that are drawn at a lower
    /// temperature than 1, where what is drafted is worth more than what might have been.
    double taught_temperature = 1;
};

/// Throws specdec::error naming the setting that is none.
inline void validate(const distillation_loss_settings& s) {
    if (!(s.lambda >= 0 && s.lambda < builtin::infinity))
        fail("distillation loss", "lambda", "expected a number of at least 0");
    for (const double t : {s.temperature, s.taught_temperature})
        if (!(t > 0 && t <= 1e6))
            fail("distillation loss", "temperature", "expected a number above 0 and at most 1e6");
}

/// Sums over the rows and merges of texts, without weights.
struct distillation_losses {
    double direct = 0; ///< of `rows` rows
    double ngram = 0;  ///< of `merges` tokens that were merged
    std::size_t rows = 0, merges = 0;

    void operator+=(const distillation_losses& more) {
        direct += more.direct;
        ngram += more.ngram;
        rows += more.rows;
        merges += more.merges;
    }
    /// The mean of a taught token.
    [[nodiscard]] double mean() const {
        return rows == 0 ? 0.0 : (direct + ngram) / static_cast<double>(rows);
    }
};

/// The loss of a sample's rows and merges, and its gradient with respect to the drafter's rows of
/// logits: the papers' losses (docs/adapt/learning.md), chosen by settings. p is the list of a row,
/// renormalised; outside it the reverse KL gives every token an equal part of what the list lacks.
///
///     loss.rows_of(text, behind);                  // which rows of the text it reads
///     sums = loss(text, behind, rows, gradients);  // rows[i]: behind text.tokens[behind[i]]
///
/// Borrows the map. Allocates only where merges or lists are longer than any before.
class distillation_loss {
public:
    /// Errors: as validate(settings).
    explicit distillation_loss(const id_map& map, const distillation_loss_settings& settings = {})
        : map_(&map), settings_(settings) {
        validate(settings);
    }

    /// The places whose rows are read, ascending, each once: the taught ones, and those that tokens
    /// of a merge are drawn from.
    void rows_of(const distillation_sample& text, std::vector<std::size_t>& behind) const {
        behind.clear();
        const std::size_t merges = settings_.ngram == ngram_loss::none ? 0 : text.merges.size();
        std::size_t r = 0, m = 0, j = 0; // j: tokens of merge m that are done
        while (r < text.rows.size() || m < merges) {
            const std::size_t none = ~std::size_t{0};
            const std::size_t row = r < text.rows.size() ? text.rows[r].behind : none;
            const std::size_t inner = m < merges ? text.merges[m].first - 1 + j : none;
            behind.push_back(row < inner ? row : inner);
            if (row == behind.back())
                ++r;
            if (inner == behind.back() && ++j == text.merges[m].count) {
                ++m;
                j = 0;
            }
        }
    }

    /// Writes the gradient of weight * (sum of the losses). Shapes: rows [behind, |D|], gradients
    /// the same, other memory. Precondition: behind is rows_of(text). Complexity: O(rows (|D| +
    /// |T|)). Errors: specdec::error for rows and gradients that do not fit, a text that is not of
    /// these vocabularies, and as the losses (rows with NaN).
    distillation_losses operator()(const distillation_sample& text,
                                   std::span<const std::size_t> behind, logits_rows<draft_id> rows,
                                   std::span<float> gradients, double weight = 1) {
        require_rows(rows, behind.size(), map_->draft_size(), "distillation loss");
        require_gradients(gradients, rows.size(), rows.vocabulary(), "distillation loss");
        for (float& g : gradients)
            g = 0;
        distillation_losses sums;
        std::size_t at = 0, merge = 0;
        for (const distillation_sample::row& r : text.rows) {
            while (behind[at] < r.behind)
                ++at;
            while (merge < text.merges.size() && text.merges[merge].first <= r.behind)
                ++merge;
            if (r.count == 0)
                continue;
            const sparse_law<target_id> p(taught(text.entries_of(r)), map_->target_size());
            const shared_softmax q(rows[at], *map_, settings_.temperature);
            const bool merged =
                merge < text.merges.size() && text.merges[merge].first == r.behind + 1;
            const auto dz = gradients.subspan(at * rows.vocabulary(), rows.vocabulary());
            if (settings_.ngram == ngram_loss::kl && merged &&
                is_ngram(q, text, text.merges[merge]))
                sums.ngram += kl(p, q, text, text.merges[merge], at, rows, gradients, weight);
            else if (settings_.direct == direct_loss::nll)
                sums.direct += merged || r.behind + 1 == text.tokens.size()
                                   ? 0
                                   : of_next(text.tokens[r.behind + 1], rows[at], dz, weight);
            else
                sums.direct += direct(p, q, dz, weight);
            ++sums.rows;
        }
        if (settings_.ngram == ngram_loss::nll || settings_.ngram == ngram_loss::nll_by_probability)
            add_nll(text, behind, rows, gradients, weight, sums);
        sums.merges = settings_.ngram == ngram_loss::none ? 0 : text.merges.size();
        return sums;
    }

    /// The direct loss of one row apart: p, the likeliest entries of the target's row, against the
    /// drafter's; `next`: the draft token that the text goes on with, for the NLL, or an invalid
    /// one. Writes the gradient of weight * loss. Errors: as above.
    double of_row(std::span<const weighted_id<target_id>> p, draft_id next,
                  logits_row<draft_id> row, std::span<float> gradient, double weight = 1) {
        for (float& g : gradient)
            g = 0;
        if (settings_.direct == direct_loss::nll)
            return next.valid() ? of_next(next, row, gradient, weight) : 0;
        const sparse_law<target_id> law(taught(p), map_->target_size());
        return direct(law, shared_softmax(row, *map_, settings_.temperature), gradient, weight);
    }

private:
    /// p^(1 / T) of a list, scaled to the mass that the list had.
    std::span<const weighted_id<target_id>> taught(std::span<const weighted_id<target_id>> list) {
        if (settings_.taught_temperature == 1)
            return list;
        double before = 0, sum = 0;
        sharp_.assign(list.begin(), list.end());
        for (weighted_id<target_id>& x : sharp_) {
            before += static_cast<double>(x.weight);
            x.weight = static_cast<float>(
                builtin::pow(static_cast<double>(x.weight), 1 / settings_.taught_temperature));
            sum += static_cast<double>(x.weight);
        }
        if (!(sum > 0))
            return list;
        for (weighted_id<target_id>& x : sharp_)
            x.weight = static_cast<float>(static_cast<double>(x.weight) * before / sum);
        return sharp_;
    }

    /// NLL of the token that the text goes on with behind a row.
    [[nodiscard]] double of_next(draft_id next, logits_row<draft_id> row, std::span<float> dz,
                                 double weight) const {
        return nll_loss(row_softmax(row, settings_.temperature), next, dz, weight) / weight;
    }
    double direct(const sparse_law<target_id>& p, const shared_softmax& q, std::span<float> dz,
                  double weight) const {
        double loss = 0;
        if (settings_.direct == direct_loss::none)
            return 0;
        if (settings_.direct == direct_loss::forward_kl)
            loss = forward_kl_loss(p, q, dz, weight);
        else if (settings_.direct == direct_loss::total_variation)
            loss = total_variation_loss(p, q, dz, weight);
        else
            loss = reverse_kl_loss(p, q, dz, weight, floor_of(p));
        return loss / weight;
    }

    /// The floor of a token outside the list: the missing mass in equal parts.
    [[nodiscard]] static probability_floor floor_of(const sparse_law<target_id>& p) {
        const double missing = (1 - p.total()) / static_cast<double>(p.size());
        return {missing > probability_floor{}.value ? missing : probability_floor{}.value};
    }

    /// Whether Eq. 2 has a case for the merge.
    [[nodiscard]] bool is_ngram(const shared_softmax& q, const distillation_sample& text,
                                const distillation_sample::merge& m) const {
        const draft_id first = text.tokens[m.first];
        return m.count > 1 && m.token.valid() && map_->to_target(first).valid() &&
               !map_->to_draft(m.token).valid() &&
               q.row().log_probability(first) > -builtin::infinity;
    }

    /// The gradients of a merge's rows go over memory of their own, to be added.
    std::span<float> merge_memory(std::size_t tokens, std::size_t vocabulary) {
        if (memory_.size() < tokens * vocabulary)
            memory_.resize(tokens * vocabulary);
        return {memory_.data(), tokens * vocabulary};
    }
    static void add(std::span<const float> from, std::span<float> to) {
        for (std::size_t i = 0; i < from.size(); ++i)
            to[i] += from[i];
    }

    double kl(const sparse_law<target_id>& p, const shared_softmax& q,
              const distillation_sample& text, const distillation_sample::merge& m, std::size_t at,
              logits_rows<draft_id> rows, std::span<float> gradients, double weight) {
        const std::size_t v = rows.vocabulary();
        const auto dz = merge_memory(m.count, v);
        const double loss = ngram_kl_loss(p, m.token, q, rows.middle(at + 1, m.count - 1),
                                          std::span(text.tokens).subspan(m.first, m.count), dz,
                                          weight, floor_of(p));
        add(dz, gradients.subspan(at * v, dz.size()));
        return loss / weight;
    }

    void add_nll(const distillation_sample& text, std::span<const std::size_t> behind,
                 logits_rows<draft_id> rows, std::span<float> gradients, double weight,
                 distillation_losses& sums) {
        const std::size_t v = rows.vocabulary();
        std::size_t at = 0;
        for (const distillation_sample::merge& m : text.merges) {
            while (behind[at] + 1 < m.first)
                ++at;
            const double lambda = settings_.ngram == ngram_loss::nll
                                      ? settings_.lambda
                                      : static_cast<double>(m.probability);
            const auto dz = merge_memory(m.count, v);
            sums.ngram += ngram_nll_loss(rows.middle(at, m.count),
                                         std::span(text.tokens).subspan(m.first, m.count), dz,
                                         lambda * weight, settings_.temperature) /
                          weight;
            add(dz, gradients.subspan(at * v, dz.size()));
        }
    }

    const id_map* map_;
    distillation_loss_settings settings_;
    std::vector<float> memory_;
    std::vector<weighted_id<target_id>> sharp_;
};

} // namespace specdec
