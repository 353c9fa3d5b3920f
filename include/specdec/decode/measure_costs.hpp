// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include <specdec/core/concepts.hpp>
#include <specdec/core/error.hpp>
#include <specdec/decode/clock.hpp>
#include <specdec/draft/cost_table.hpp>
#include <specdec/sampling/softmax_law.hpp>

namespace specdec {

namespace measure_costs_detail {

/// The shortest of three times of act(), each behind `context` tokens.
template <class Model, class Time, class Act>
double seconds(Model& model, std::size_t context, const Time& clock, const Act& act) {
    double shortest = 0;
    for (int i = 0; i < 3; ++i) {
        const double begin = clock();
        act();
        const double took = clock() - begin;
        model.truncate(context);
        shortest = i == 0 || took < shortest ? took : shortest;
    }
    return shortest;
}

/// A context of n tokens, whatever they are, and more to follow. Allocates.
template <class Id, class Model>
std::vector<Id> some_tokens(Model& model, std::size_t n, std::size_t more) {
    std::vector<Id> ids;
    for (std::size_t i = 0; i < n + more; ++i)
        ids.push_back(id_at<Id>(i * 7 % model.vocabulary_size()));
    model.truncate(0);
    if (n > 0)
        model.append(std::span<const Id>(ids).first(n));
    return ids;
}

} // namespace measure_costs_detail

/// Measures what rounds cost, in passes of the target over one position, to two digits behind the
/// point: passes of the target over 1 to 16 positions, a draft token (a pass of the drafter and one
/// law of each side), and a token more in a pass of the drafter. Call it once, before any text, on
/// a machine that does what it will do then; both contexts are empty afterwards. Takes about 30
/// passes of the target. Throws what the models
/// throw, and specdec::error for a clock that stands still.
template <ModelOf<target_id> Target, ModelOf<draft_id> Draft, Clock Time>
[[nodiscard]] cost_table measure_costs(Target& target, Draft& drafter, const Time& clock) {
    using namespace measure_costs_detail;
    static constexpr std::array<std::size_t, 9> measured{1, 2, 3, 4, 5, 6, 8, 12, 16};
    const auto context_of = [](std::size_t capacity) {
        const std::size_t room = capacity > measured.back() ? capacity - measured.back() : 0;
        return room < 64 ? room : std::size_t{64};
    };
    cost_table costs{.pass = {}};
    {
        const std::size_t n = context_of(target.capacity());
        const auto ids = some_tokens<target_id>(target, n, measured.back());
        for (const std::size_t positions : measured) {
            if (n + positions > target.capacity())
                break;
            const std::span<const target_id> some{ids.data() + n, positions};
            const double took = seconds(target, n, clock, [&] { (void)target.score(some); });
            // In between as on a line, and never less than for fewer positions.
            const std::size_t known = costs.pass.size();
            const double last = known == 0 ? took : costs.pass.back();
            const double now = took > last ? took : last;
            for (std::size_t i = known + 1; i <= positions; ++i)
                costs.pass.push_back(last + (now - last) * static_cast<double>(i - known) /
                                                static_cast<double>(positions - known));
        }
        const logits_rows<target_id> rows = target.score({ids.data() + n, 1});
        const std::vector<float> row(rows[0].values.begin(), rows[0].values.end());
        costs.draft =
            seconds(target, n, clock, [&] { (void)make_law(logits_row<target_id>{row}, {}); });
        target.truncate(0);
    }
    const std::size_t n = context_of(drafter.capacity());
    const std::size_t more = drafter.capacity() < n + 8 ? drafter.capacity() - n : 8;
    const auto ids = some_tokens<draft_id>(drafter, n, more);
    const double one = seconds(drafter, n, clock, [&] {
        (void)make_law(logits_rows<draft_id>(drafter.score({ids.data() + n, 1}))[0], {});
    });
    const double several = seconds(drafter, n, clock, [&] {
        drafter.append({ids.data() + n, more});
    });
    drafter.truncate(0);
    costs.draft += one;
    costs.catch_up = several > one ? (several - one) / static_cast<double>(more - 1) : 0;

    const double unit = costs.pass[0];
    if (!(unit > 0))
        throw error("measure_costs", "clock", "expected one that runs");
    const auto rounded = [&](double cost) {
        return static_cast<double>(static_cast<long long>(cost / unit * 100 + 0.5)) / 100;
    };
    for (double& cost : costs.pass)
        cost = rounded(cost);
    costs.draft = rounded(costs.draft);
    costs.catch_up = rounded(costs.catch_up);
    return costs;
}

} // namespace specdec
