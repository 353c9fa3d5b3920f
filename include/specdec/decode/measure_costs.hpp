// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <span>
#include <vector>

#include <specdec/core/concepts.hpp>
#include <specdec/core/error.hpp>
#include <specdec/core/rows.hpp>
#include <specdec/decode/clock.hpp>
#include <specdec/draft/cost_table.hpp>
#include <specdec/draft/costs/cost_model.hpp>
#include <specdec/sampling/law/softmax_law.hpp>

namespace specdec {

namespace measure_costs_detail {

/// Of rounds, whose passes are those of a text alone.
inline constexpr std::array<std::size_t, 7> positions{1, 2, 3, 4, 5, 6, 9};
/// Tokens in front of all that is measured, or as many as leave room for it.
inline constexpr std::size_t default_context = 64;
/// Of passes that several texts share: the powers of two after those, as far as there is room.
[[nodiscard]] inline std::vector<std::size_t> wide_positions(std::size_t most,
                                                             std::size_t capacity) {
    std::vector<std::size_t> wide;
    for (std::size_t n = 2; n <= most && n + default_context <= capacity; n *= 2)
        if (n > positions.back())
            wide.push_back(n);
    return wide;
}

[[nodiscard]] inline double hundredths(double x) {
    return std::round(x * 100) / 100;
}

/// A model whose context is filled with some tokens, and more tokens that can follow.
template <class Id, class Model>
class behind_tokens {
public:
    explicit behind_tokens(Model& model, std::size_t most = positions.back()) : model_(model) {
        const std::size_t capacity = model.capacity();
        const std::size_t room = capacity > most ? capacity - most : 0;
        context_ = room < default_context ? room : default_context;
        more_ = capacity - context_ < most ? capacity - context_ : most;
        for (std::size_t i = 0; i < context_ + more_; ++i)
            ids_.push_back(id_at<Id>(i * 7 % model.vocabulary_size()));
        model.truncate(0);
        if constexpr (std::same_as<Id, draft_id>) // a target is not told of rounds
            specdec::begin_draft_round(model, 0);
        if (context_ > 0)
            model.append(std::span<const Id>(ids_).first(context_));
    }

    /// How many tokens can follow.
    [[nodiscard]] std::size_t more() const { return more_; }
    [[nodiscard]] std::span<const Id> tokens(std::size_t first, std::size_t n) const {
        return {ids_.data() + context_ + first, n};
    }
    [[nodiscard]] logits_rows<Id> score(std::size_t first, std::size_t n) {
        return model_.score(tokens(first, n));
    }
    /// Feeds all that can follow, whenever the model does the work for it.
    void append() {
        const std::size_t last = lazy_append(model_) ? 1 : 0;
        if (more_ > last)
            model_.append(tokens(0, more_ - last));
        if (last > 0)
            (void)score(more_ - last, last);
    }
    void forget() { model_.truncate(context_); }
    void leave() { model_.truncate(0); }

private:
    Model& model_;
    std::vector<Id> ids_;
    std::size_t context_ = 0, more_ = 0;
};

/// The law of a draft token. A row that allows nothing, as that of a drafter none of whose exits is
/// sure, has none: it ends a draft.
inline void make_draft_law(const logits_row<draft_id>& row) {
    if (any_allowed(row.values))
        (void)make_law(row, {});
}

/// Times rounds of `drafts` draft tokens, again and again, as a text makes them, a law of each side
/// for each: the median of each part. The first two at least do not count, because the caches still
/// hold other weights and threads have slept, unless they are slow.
template <class Target, class Draft, class Time>
round_seconds measure_rounds(Target& target, Draft& drafter, std::size_t drafts,
                             const Time& clock) {
    constexpr double settling = 0.003, counting = 0.004, slow = 0.05;
    constexpr std::size_t most = 100;
    std::vector<double> pass, draft;
    const double first = clock();
    double begin = first;
    bool settled = false;
    const auto few = [&] { return pass.size() < 3 && (pass.empty() || begin - first < slow); };
    for (std::size_t i = 0; few() || (i < most && begin - first < settling + counting); ++i) {
        for (std::size_t d = 0; d < drafts; ++d)
            make_draft_law(drafter.score(d, 1)[0]);
        const double drafted = clock();
        const logits_rows<target_id> rows = target.score(0, drafts + 1);
        const double scored = clock();
        for (std::size_t d = 0; d < drafts; ++d)
            (void)make_law(rows[d], {});
        target.forget();
        drafter.forget();
        const double end = clock();
        if (settled || end - begin > slow) {
            pass.push_back(scored - drafted);
            draft.push_back(end - scored + drafted - begin);
        }
        settled = i > 0 && (end - first > settling || i > most / 2);
        begin = end;
    }
    return {median_of(pass), median_of(draft)};
}

/// Seconds of a pass over n positions, none of which anybody drafted. The first one does not count,
/// unless it is slow: threads may have slept.
template <class Target, class Time>
double measure_pass(Target& target, std::size_t n, const Time& clock) {
    constexpr double slow = 0.05;
    double least = 0;
    for (int i = 0; i < 3; ++i) {
        const double begin = clock();
        (void)target.score(0, n);
        const double took = clock() - begin;
        target.forget();
        least = i < 2 || took < least ? took : least;
        if (took > slow)
            break;
    }
    return least;
}

/// What turns through rounds of all lengths saw, in passes over one position of the same turn.
struct turns {
    std::array<std::vector<double>, positions.size()> pass{};
    std::vector<std::vector<double>> wide{}; ///< [wide sizes] the same of passes that texts share
    std::vector<double> draft{};             ///< a token, with a law of each side
    std::vector<double> more{};              ///< a token more in a pass of the drafter
};

/// Passes that texts share, each between two plain rounds.
template <class Target, class Draft, class Time>
void measure_wide_turn(Target& target, Draft& drafter, std::span<const std::size_t> sizes,
                       const Time& clock, turns& out) {
    const auto plain = [&] { return measure_rounds(target, drafter, 0, clock).pass; };
    double before = plain();
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        const double took = measure_pass(target, sizes[i], clock);
        const double behind = plain();
        out.wide[i].push_back(2 * took / (before + behind));
        before = behind;
    }
}

template <class Target, class Draft, class Time>
void measure_turn(Target& target, Draft& drafter, std::size_t sizes, std::size_t more,
                  const Time& clock, turns& out) {
    const auto plain = [&] { return measure_rounds(target, drafter, 0, clock).pass; };
    double before = plain(), unit = before, drafts = 0, drafted = 0;
    out.pass[0].push_back(before);
    for (std::size_t i = 1; i < sizes; ++i) {
        const round_seconds took = measure_rounds(target, drafter, positions[i] - 1, clock);
        // Plain rounds between all others: what these are told in, whatever the machine is at.
        const double behind = plain();
        unit = (before + behind) / 2;
        before = behind;
        out.pass[i].push_back(took.pass / unit);
        drafts += took.rest / unit;
        drafted += static_cast<double>(positions[i] - 1);
    }
    std::vector<double> one, all;
    while (all.size() < 5) {
        const double begin = clock();
        make_draft_law(drafter.score(0, 1)[0]);
        one.push_back(clock() - begin);
        drafter.forget();
        const double again = clock();
        drafter.append();
        all.push_back(clock() - again);
        drafter.forget();
    }
    out.draft.push_back(drafted > 0 ? drafts / drafted : median_of(one) / unit);
    if (more > 1)
        out.more.push_back((median_of(all) - median_of(one)) / unit /
                           static_cast<double>(more - 1));
}

/// A drafter of nothing.
class nobody {
public:
    explicit nobody(std::size_t capacity) : capacity_(capacity), logits_(positions.back()) {}
    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] std::size_t capacity() const { return capacity_; }
    [[nodiscard]] std::size_t vocabulary_size() const { return 1; }
    void append(std::span<const draft_id> ids) { size_ += ids.size(); }
    [[nodiscard]] logits_rows<draft_id> score(std::span<const draft_id> ids) {
        append(ids);
        return {logits_.data(), ids.size(), 1, 1};
    }
    void truncate(std::size_t n) { size_ = n; }

private:
    std::size_t capacity_, size_ = 0;
    std::vector<float> logits_;
};

} // namespace measure_costs_detail

/// Measures what rounds cost: passes of the target over 1 to 9 positions, and over each power of
/// two up to `most` if several texts share a pass; a draft token (a pass of the drafter and one law
/// of each side; of a block_model its share of a pass), one token more in a pass of the drafter,
/// and one that a target is fed again, where it is (replays_on_reject). The unit is a pass of the
/// target over one position, rounded to hundredths. It makes rounds of all lengths in turns, each
/// between two plain ones that it is told in, and takes the median of the turns, so neither a burst
/// of other work nor a machine that changes its pace makes a cost. Call it once, before any text;
/// both contexts are empty afterwards. Takes half a second, or 100 to 200 passes of the target if
/// that is longer; and three passes or more over each power of two. Throws what the models throw,
/// and specdec::error for a clock that stands still and for contexts without room for a token.
/// Allocates.
template <ModelOf<target_id> Target, ModelOf<draft_id> Draft, Clock Time>
[[nodiscard]] cost_table measure_costs(Target& target, Draft& drafter, const Time& clock,
                                       std::size_t most = 0) {
    using namespace measure_costs_detail;
    constexpr double enough = 0.5;
    constexpr std::size_t fewest = 5, most_turns = 100, wide_turns = 3;
    const std::vector<std::size_t> wide = wide_positions(most, target.capacity());
    behind_tokens<target_id, Target> words(target, wide.empty() ? positions.back() : wide.back());
    behind_tokens<draft_id, Draft> pieces(drafter);
    const std::size_t room = words.more() < pieces.more() ? words.more() : pieces.more();
    std::size_t sizes = 0;
    while (sizes < positions.size() && positions[sizes] <= room)
        ++sizes;
    if (sizes == 0)
        fail("measure_costs", "capacity", "expected contexts with room for a token");

    const double first = clock();
    turns seen;
    for (std::size_t n = 0; n < fewest || (n < most_turns && clock() - first < enough); ++n)
        measure_turn(words, pieces, sizes, pieces.more(), clock, seen);
    seen.wide.resize(wide.size());
    for (std::size_t n = 0; n < wide_turns && !wide.empty(); ++n)
        measure_wide_turn(words, pieces, wide, clock, seen);
    words.leave();
    pieces.leave();
    if (!(median_of(seen.pass[0]) > 0))
        fail("measure_costs", "clock", "expected a clock that runs");

    cost_table costs{.pass = {1}};
    const auto add = [&](std::size_t n, double now) {
        // In between as on a line, and never less than for fewer positions.
        const std::size_t known = costs.pass.size();
        const double last = costs.pass.back(), more = now > last ? now - last : 0;
        for (std::size_t k = known + 1; k <= n; ++k)
            costs.pass.push_back(hundredths(last + more * static_cast<double>(k - known) /
                                                       static_cast<double>(n - known)));
    };
    for (std::size_t i = 1; i < sizes; ++i)
        add(positions[i], hundredths(median_of(seen.pass[i])));
    if (replays_on_reject(target)) // what a position more costs
        costs.replay = (costs.pass.back() - costs.pass.front()) /
                       static_cast<double>(sizes > 1 ? positions[sizes - 1] - 1 : 1);
    for (std::size_t i = 0; i < wide.size(); ++i)
        add(wide[i], hundredths(median_of(seen.wide[i])));
    costs.draft = hundredths(median_of(seen.draft));
    if (median_of(seen.more) > 0)
        costs.catch_up = hundredths(median_of(seen.more));
    return costs;
}

/// The same of a target without a drafter: passes only.
template <ModelOf<target_id> Target, Clock Time>
[[nodiscard]] cost_table measure_costs(Target& target, const Time& clock, std::size_t most = 0) {
    measure_costs_detail::nobody drafter(target.capacity());
    cost_table costs = measure_costs(target, drafter, clock, most);
    costs.draft = costs.catch_up = 0;
    return costs;
}

} // namespace specdec
