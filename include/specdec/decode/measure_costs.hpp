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

/// The median time of act(), again and again behind `context` tokens: first for a while without
/// counting, since what was done before may make a factor of two (caches, the CPU's frequency), and
/// a text, too, does the same again and again. Allocates.
template <class Model, class Time, class Act>
double seconds(Model& model, std::size_t context, const Time& clock, const Act& act) {
    constexpr double settling = 0.006, counting = 0.008;
    constexpr std::size_t most = 1000;
    std::vector<double> times; // in order
    const double first = clock();
    for (std::size_t i = 0; times.empty() || (i < most && clock() - first < settling + counting);
         ++i) {
        const double begin = clock();
        act();
        const double took = clock() - begin;
        model.truncate(context);
        if (i == 0 || (begin - first < settling && took < settling && i < most / 2))
            continue;
        std::size_t place = times.size();
        times.push_back(took);
        for (; place > 0 && times[place - 1] > took; --place)
            times[place] = times[place - 1];
        times[place] = took;
    }
    return times[times.size() / 2];
}

/// The least of such times in three turns through act(0) .. act(n - 1): what disturbs the machine
/// for a while disturbs one turn. Allocates.
template <class Model, class Time, class Act>
std::vector<double> turns(Model& model, std::size_t context, std::size_t n, const Time& clock,
                          const Act& act) {
    std::vector<double> least(n);
    for (int turn = 0; turn < 3; ++turn)
        for (std::size_t i = 0; i < n; ++i) {
            const double took = seconds(model, context, clock, [&] { act(i); });
            least[i] = turn == 0 || took < least[i] ? took : least[i];
        }
    return least;
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
/// point: passes of the target over 1 to 9 positions, a draft token (a pass of the drafter and one
/// law of each side), and a token more in a pass of the drafter. Call it once, before any text, on
/// a machine that does what it will do then; both contexts are empty afterwards. Takes 0.4 seconds,
/// or about 50 passes of the target. Throws what the models throw, and specdec::error for a clock
/// that stands still. Allocates.
template <ModelOf<target_id> Target, ModelOf<draft_id> Draft, Clock Time>
[[nodiscard]] cost_table measure_costs(Target& target, Draft& drafter, const Time& clock) {
    using namespace measure_costs_detail;
    static constexpr std::array<std::size_t, 7> measured{1, 2, 3, 4, 5, 6, 9};
    const auto context_of = [](std::size_t capacity) {
        const std::size_t room = capacity > measured.back() ? capacity - measured.back() : 0;
        return room < 64 ? room : std::size_t{64};
    };
    cost_table costs{.pass = {}};
    {
        const std::size_t n = context_of(target.capacity());
        const auto ids = some_tokens<target_id>(target, n, measured.back());
        std::size_t sizes = 0;
        while (sizes < measured.size() && n + measured[sizes] <= target.capacity())
            ++sizes;
        const std::vector<double> took = turns(target, n, sizes, clock, [&](std::size_t i) {
            (void)target.score({ids.data() + n, measured[i]});
        });
        for (std::size_t i = 0; i < sizes; ++i) {
            // In between as on a line, and never less than for fewer positions.
            const std::size_t known = costs.pass.size();
            const double last = known == 0 ? took[i] : costs.pass.back();
            const double now = took[i] > last ? took[i] : last;
            for (std::size_t k = known + 1; k <= measured[i]; ++k)
                costs.pass.push_back(last + (now - last) * static_cast<double>(k - known) /
                                                static_cast<double>(measured[i] - known));
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
    const std::vector<double> took = turns(drafter, n, 2, clock, [&](std::size_t i) {
        if (i == 0)
            (void)make_law(logits_rows<draft_id>(drafter.score({ids.data() + n, 1}))[0], {});
        else
            drafter.append({ids.data() + n, more});
    });
    drafter.truncate(0);
    costs.draft += took[0];
    costs.catch_up = took[1] > took[0] ? (took[1] - took[0]) / static_cast<double>(more - 1) : 0;

    const double unit = costs.pass[0];
    if (!(unit > 0))
        fail("measure_costs", "clock", "expected one that runs");
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
