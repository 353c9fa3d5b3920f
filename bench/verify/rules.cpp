// SPDX-License-Identifier: MIT
// Question: what does verifying a draft of four tokens cost, in plain reads of the target rows it
// looks at? The rows are cold, as they come from an LM head; `reads` is the time over that of
// reading one row in the same run, `rows` how many rows the rule needed on average.
#include <vector>

#include <benchmark/benchmark.h>

#include <specdec/sampling/coin/philox_coin.hpp>
#include <specdec/sampling/law/softmax_law.hpp>
#include <specdec/verify/block_verification.hpp>
#include <specdec/verify/exact_match.hpp>
#include <specdec/verify/token_rejection.hpp>

#include "sampling/arena.hpp"

using namespace specdec;

namespace {

const bench::arena& rows_of(std::size_t vocabulary) {
    static const bench::arena small(32000), large(128256);
    return vocabulary == 32000 ? small : large;
}

/// Seconds of a plain read of a cold row: the minimum over all rows.
double cold_read(const bench::arena& rows) {
    double best = 1e9;
    for (std::size_t r = 0; r < rows.rows(); ++r) {
        const double begin = bench::seconds();
        benchmark::DoNotOptimize(bench::plain_read(rows.target(r)));
        best = std::min(best, bench::seconds() - begin);
    }
    return best;
}

template <class Rule>
void verify_four(benchmark::State& state) {
    const bench::arena& rows = rows_of(static_cast<std::size_t>(state.range(0)));
    const double read = cold_read(rows);
    using law = softmax_law<target_id>;
    constexpr std::size_t gamma = 4;
    std::vector<proposal<law>> draft;
    philox_coin coin(1);
    std::size_t first = 0, used = 0;
    std::uint64_t position = 0;
    double spent = 0;
    for (auto _ : state) {
        draft.clear(); // made by the drafter: not part of the question
        for (std::size_t i = 0; i < gamma; ++i)
            draft.push_back(proposal<law>::draw(
                law(logits_row<target_id>{rows.draft((first + i) % rows.rows())}), coin,
                {position, purpose::draft, static_cast<std::uint32_t>(i)}));
        const auto law_at = [&](std::size_t i) {
            ++used;
            return law(logits_row<target_id>{rows.target((first + i) % rows.rows())});
        };
        const double begin = bench::seconds();
        const verdict v = Rule{}(law_at, std::span<const proposal<law>>(draft), coin, position);
        const double took = bench::seconds() - begin;
        benchmark::DoNotOptimize(v.next);
        state.SetIterationTime(took);
        spent += took;
        first = (first + gamma + 1) % rows.rows();
        position += gamma + 1;
    }
    const auto rounds = static_cast<double>(state.iterations());
    state.counters["rows"] = static_cast<double>(used) / rounds;
    state.counters["reads"] = spent / rounds / read;
    state.counters["reads_a_row"] = spent / static_cast<double>(used) / read;
}

} // namespace

BENCHMARK_TEMPLATE(verify_four, exact_match)->Arg(32000)->Arg(128256)->UseManualTime();
BENCHMARK_TEMPLATE(verify_four, token_rejection)->Arg(32000)->Arg(128256)->UseManualTime();
BENCHMARK_TEMPLATE(verify_four, block_verification)->Arg(32000)->Arg(128256)->UseManualTime();
