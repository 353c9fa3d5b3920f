// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <span>
#include <type_traits>
#include <vector>

#include <specdec/core/basic/builtins.hpp>
#include <specdec/core/error.hpp>
#include <specdec/core/rows.hpp>
#include <specdec/core/token_id.hpp>
#include <specdec/sampling/law/dense_law.hpp>
#include <specdec/sampling/law/draw.hpp>
#include <specdec/sampling/law/softmax_law.hpp>
#include <specdec/sampling/law/sparse_law.hpp>
#include <specdec/sampling/listed_rows.hpp>

namespace specdec {

/// A token and the logarithm of its probability. The token is invalid if a row has fewer than were
/// asked for.
struct token_log_probability {
    target_id token;
    double log_probability = -builtin::infinity;
};

/// Natural logarithms of probabilities at the places of a round's tokens, under the row as the
/// target gave it: the softmax at temperature 1, before processors and cutoffs. (Of rows that are
/// laws already: under those; what a list leaves out has -infinity.)
struct round_log_probabilities {
    std::span<const double> of_tokens;          ///< [tokens] of each; empty if not asked for
    std::span<const token_log_probability> top; ///< [tokens, k]
    std::size_t k = 0;

    /// The k likeliest at the place of token i, largest first.
    [[nodiscard]] std::span<const token_log_probability> likeliest(std::size_t i) const {
        return top.subspan(i * k, k);
    }
};

/// Whether the log-probabilities of such a row can be found: not of an engine's own kind of row.
template <class Row>
inline constexpr bool tells_log_probabilities =
    std::same_as<Row, probabilities_row<target_id>> || std::same_as<Row, listed_row<target_id>>;
template <class Number>
inline constexpr bool tells_log_probabilities<logits_row<target_id, Number>> = true;

/// In place of a number of likeliest tokens: log-probabilities are not asked for.
inline constexpr std::size_t no_log_probabilities = ~std::size_t{0};

/// Finds the log-probabilities of a round, within about 1e-6. Complexity: two reads of a row.
/// Memory: allocated by reserve, and a row of floats when the first row has to be widened.
class log_probability_record {
public:
    /// For `places` tokens a round, each with the `likeliest` likeliest tokens.
    void reserve(std::size_t likeliest, std::size_t places) {
        wanted_ = likeliest != no_log_probabilities;
        likeliest_ = wanted_ ? likeliest : 0;
        if (!wanted_)
            return;
        of_tokens_.resize(places);
        top_.resize(places * likeliest_);
        ids_.resize(likeliest_);
    }

    /// A round's tokens: token i was drawn after rows[i]. `next` is invalid where nothing was
    /// drawn after the accepted ones. Errors: specdec::error for rows of an engine's own kind, and
    /// as softmax_law for logits that are none.
    template <RowsOf<target_id> Rows>
    void record(const Rows& rows, std::span<const target_id> accepted, target_id next) {
        size_ = 0;
        if (!wanted_)
            return;
        if constexpr (tells_log_probabilities<std::remove_cvref_t<decltype(rows[0])>>) {
            for (std::size_t i = 0; i < accepted.size(); ++i)
                record_one(rows[i], i, accepted[i]);
            if (next.valid())
                record_one(rows[accepted.size()], accepted.size(), next);
            size_ = accepted.size() + (next.valid() ? 1U : 0U);
        } else {
            fail("session", "log_probabilities",
                 "expected rows of logits, of probabilities, or lists of them");
        }
    }

    /// What was recorded last. A view.
    [[nodiscard]] round_log_probabilities all() const {
        return {{of_tokens_.data(), size_}, {top_.data(), size_ * likeliest_}, likeliest_};
    }

private:
    template <class Row>
    void record_one(const Row& row, std::size_t i, target_id token) {
        const std::span<token_log_probability> top{top_.data() + i * likeliest_, likeliest_};
        const auto log_p = logarithms(row);
        of_tokens_[i] = log_p(token);
        const std::size_t n = find_likeliest(row);
        for (std::size_t k = 0; k < top.size(); ++k)
            top[k] =
                k < n ? token_log_probability{ids_[k], log_p(ids_[k])} : token_log_probability{};
    }

    /// The logarithm of each probability, as a function.
    auto logarithms(logits_row<target_id> row) {
        const double sum = softmax_law<target_id>(row).log_sum_exp();
        return [=](target_id t) { return static_cast<double>(row.values[t.index()]) - sum; };
    }
    template <class Number>
    auto logarithms(logits_row<target_id, Number> row) {
        wide_.resize(row.size());
        for (std::size_t v = 0; v < row.size(); ++v)
            wide_[v] = static_cast<float>(row.values[v]);
        return logarithms(logits_row<target_id>{wide_});
    }
    auto logarithms(probabilities_row<target_id> row) {
        const double sum = builtin::log(dense_law(row).total());
        return [=](target_id t) {
            return builtin::log(static_cast<double>(row.values[t.index()])) - sum;
        };
    }
    auto logarithms(listed_row<target_id> row) {
        const sparse_law<target_id> law(row.entries, row.vocabulary);
        return [=](target_id t) { return builtin::log(law.probability(t)); };
    }

    /// Fills ids_; how many there are.
    std::size_t find_likeliest(logits_row<target_id> row) { return top_ids(row, std::span(ids_)); }
    template <class Number>
    std::size_t find_likeliest(logits_row<target_id, Number>) {
        return find_likeliest(logits_row<target_id>{wide_});
    }
    std::size_t find_likeliest(probabilities_row<target_id> row) {
        return find_likeliest(logits_row<target_id>{row.values}); // in the same order
    }
    std::size_t find_likeliest(listed_row<target_id> row) {
        wide_.clear();
        for (const auto& [id, weight] : row.entries)
            wide_.push_back(weight);
        const std::size_t n = find_likeliest(logits_row<target_id>{wide_});
        for (std::size_t k = 0; k < n; ++k)
            ids_[k] = row.entries[ids_[k].index()].id;
        return n;
    }

    bool wanted_ = false;
    std::size_t size_ = 0; // tokens of the round
    std::size_t likeliest_ = 0;
    std::vector<double> of_tokens_;          // [places]
    std::vector<token_log_probability> top_; // [places, likeliest]
    std::vector<target_id> ids_;             // scratch
    std::vector<float> wide_;                // scratch
};

} // namespace specdec
