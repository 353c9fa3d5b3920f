// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <concepts>
#include <cstddef>

#include <specdec/draft/draft_outcome.hpp>

namespace specdec {

/// A prediction of what the target keeps of a draft d_1 .. d_n.
///
///     a.accept(progress)   the chance that d_n is kept if those before it are; n >= 1
///     a.next(progress)     the same of d_(n+1), which is not drawn yet
///     a.version()          another number whenever the answers may be others (law_version.hpp)
///     a.reads()            optional (rule_traits): the row_reading it needs; else sureness
///     a.learn(outcome)     optional (rule_traits): a round was decided
///
/// Predictions depend on `progress` and on rounds that were committed, and on nothing random
/// besides.
template <class A>
concept AcceptancePredictor = requires(const A& a, const draft_progress& now) {
    { a.accept(now) } -> std::convertible_to<double>;
    { a.next(now) } -> std::convertible_to<double>;
    { a.version() } -> std::convertible_to<law_version>;
};

template <AcceptancePredictor A>
[[nodiscard]] row_reading reading_of(const A& predictor) {
    if constexpr (traits_of<rule_traits, A>.reads)
        return predictor.reads();
    else
        return row_reading::sureness;
}
/// No-op if the predictor does not learn.
template <AcceptancePredictor A>
void teach(A& predictor, const draft_outcome& o) {
    if constexpr (traits_of<rule_traits, A>.learn)
        predictor.learn(o);
}

/// Bins of how sure a drafter was, and counts of what was kept, for tables of them.
class acceptance_bins {
protected:
    static constexpr std::array edges{0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.97};
    static constexpr std::size_t bins = edges.size() + 1;

    struct counter {
        double kept = 0, decided = 0;
        /// The share that was kept, counted as if eight more had been kept at the rate `before`.
        [[nodiscard]] double rate(double before) const {
            return (kept + 8 * before) / (decided + 8);
        }
        void count(bool was_kept, double fading = 0.995) {
            kept = kept * fading + (was_kept ? 1 : 0);
            decided = decided * fading + 1;
        }
    };
    static std::size_t bin(double sure) {
        std::size_t b = 0;
        while (b < edges.size() && sure >= edges[b])
            ++b;
        return b;
    }
    static double middle(std::size_t b) {
        const double low = b == 0 ? 0.0 : edges[b - 1], high = b == edges.size() ? 1.0 : edges[b];
        return (low + high) / 2;
    }
};

/// How often draft tokens were kept, by how sure the drafter was of them (draft_progress::sure, in
/// bins) and by their place in the draft: a calibration that is learnt while decoding. Forced
/// tokens (token_certainty) have bins of their own, so that guessed tokens are not expected to do
/// as well. A place leans on its bin, a bin on a guess from which it starts; old rounds fade. One
/// for a text, or for texts that take turns: then each text asks a copy of it that it takes at
/// every round's draft. Models AcceptancePredictor. Complexity: O(1) a token. Allocates nothing.
class acceptance_table : acceptance_bins {
public:
    static constexpr rule_traits traits{.learn = true};
    /// usual: the share that is kept of the first tokens of drafts, before anything is known.
    explicit acceptance_table(double usual = 0.6) : usual_(usual), first_{known * usual, known} {}

    [[nodiscard]] double accept(const draft_progress& now) const {
        const std::size_t b = bin_of(now);
        return place(of_[b], now.drafted - 1).rate(of_[b].all.rate(guess(b)));
    }
    [[nodiscard]] double next(const draft_progress& now) const {
        if (now.drafted == 0)
            return first_.kept / first_.decided;
        const std::size_t b = bin_of(now);
        return place(behind_[b], now.drafted - 1).rate(behind_[b].all.rate(usual_));
    }

    [[nodiscard]] law_version version() const { return learnt_; }

    /// Of a round that decided no draft token it learns nothing, and its mark stays.
    void learn(const draft_outcome& o) {
        const std::size_t decided = o.kept + (o.rejected && o.kept < o.steps.size() ? 1 : 0);
        learnt_ += decided > 0 ? 1 : 0;
        for (std::size_t i = 0; i < decided; ++i) {
            const bool kept = i < o.kept;
            of_[bin_of(o.steps[i])].count(i, kept);
            if (i == 0)
                first_.count(kept, 0.98);
            else
                behind_[bin_of(o.steps[i - 1])].count(i - 1, kept);
        }
    }

private:
    static constexpr std::size_t places = 3;
    static constexpr double known = 8; // tokens that the guess of first tokens counts for

    struct row {
        counter all;
        std::array<counter, places> at;
        void count(std::size_t i, bool kept) {
            all.count(kept);
            at[i < places ? i : places - 1].count(kept, 0.99);
        }
    };

    static constexpr std::size_t forced = bins, forced_end = bins + 1; // behind those of sureness

    static std::size_t bin_of(const draft_progress& now) {
        return now.certainty == token_certainty::guessed  ? bin(now.sure)
               : now.certainty == token_certainty::forced ? forced
                                                          : forced_end;
    }
    static const counter& place(const row& r, std::size_t i) {
        return r.at[i < places ? i : places - 1];
    }
    /// What a drafter's probability says of a bin before it is known.
    static double guess(std::size_t b) {
        return b == forced ? 0.95 : b == forced_end ? 0.6 : 0.1 + 0.8 * middle(b);
    }

    double usual_;
    std::array<row, bins + 2> of_;     // [bin_of the token] it was kept
    std::array<row, bins + 2> behind_; // [bin_of a kept token] the next one was kept
    counter first_;                    // first tokens of drafts; what they began with fades, too
    law_version learnt_ = 0;           // outcomes
};
static_assert(AcceptancePredictor<acceptance_table>);

} // namespace specdec
