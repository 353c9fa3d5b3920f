// SPDX-License-Identifier: MIT
// What the suites of generated sessions share: rounds, rows, and what was enumerated.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <ostream>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "play.hpp"
#include "support/property/any.hpp"
#include "support/property/check_property.hpp"
#include "support/property/laws.hpp"
#include "support/property/vocabularies.hpp"
#include "toy_bridges.hpp"

namespace specdec::testing {

inline std::ostream& operator<<(std::ostream& out, const std::vector<step>& steps) {
    static constexpr const char* ends[] = {"commit", "part", "nothing", "abandon", "again"};
    for (const step& s : steps)
        out << "draft " << s.gamma << " room " << s.room << " threshold " << s.threshold
            << (s.by_last_round ? " if all was kept" : "") << ", "
            << ends[static_cast<std::size_t>(s.what)] << "; ";
    return out;
}

/// At most two rounds of at most two draft tokens. They shrink to fewer and shorter rounds that are
/// committed.
inline rc::Gen<std::vector<step>> rounds() {
    const auto one = rc::gen::build<step>(
        rc::gen::set(&step::gamma, any_in(1, 2)),
        rc::gen::set(&step::room, any_of(std::vector<std::size_t>{8, 1, 2})),
        rc::gen::set(&step::threshold, any_of(std::vector<double>{0, 0.4})),
        rc::gen::set(&step::what, any_of(std::vector{then::commit, then::part, then::nothing,
                                                     then::abandon, then::again})),
        rc::gen::set(&step::by_last_round, any_of(std::vector<bool>{false, true})));
    return rc::gen::map(rc::gen::pair(one, up_to(1, one)), [](const auto& drawn) {
        std::vector<step> all{drawn.first};
        all.insert(all.end(), drawn.second.begin(), drawn.second.end());
        return all;
    });
}

/// Rows of a vocabulary by generated weights. Borrows them.
inline row_tree::maker rows_behind(const weighted_rows& rows, std::size_t vocabulary) {
    return [&rows, vocabulary](const sequence& prefix) {
        std::vector<target_id> ids;
        for (const int t : prefix)
            ids.push_back(target_id{t});
        std::vector<float> row(vocabulary);
        rows.logits(std::span<const target_id>(ids), std::span(row));
        return row;
    };
}

/// The target tokens that several draft tokens spell, as the n-grams of a cache.
inline std::vector<std::pair<std::vector<int>, int>> ngrams_of(const toy_words& two) {
    std::vector<std::pair<std::vector<int>, int>> all;
    for (std::size_t t = 0; t < two.target_size(); ++t) {
        std::vector<draft_id> spelled;
        two.draft.encode(two.target.bytes(id_at<target_id>(t)), encode_mode::continuation, spelled);
        if (spelled.size() > 1)
            all.emplace_back(values_of(std::span<const draft_id>(spelled)), static_cast<int>(t));
    }
    return all;
}

/// What became of generated cases, that none passes for nothing.
struct generated_ledger {
    std::uint64_t most_paths = 30'000; ///< of a case that is not given up
    std::size_t cases = 0, too_long = 0;
    std::uint64_t paths = 0;
    double worst = 0; ///< total variation

    /// play_case(most paths) gives the law and what it has to be.
    void require(const auto& play_case) {
        ++cases;
        try {
            const played found = play_case(most_paths);
            paths += found.paths;
            const double tv = found.deviation();
            if (!(tv < exact))
                RC_FAIL("total variation " + std::to_string(tv));
            worst = tv > worst ? tv : worst;
        } catch (const too_many_paths&) {
            ++too_long;
        }
    }
};

/// require_law(case, ledger) of so many generated ones, at least half of which are enumerated.
template <class Case>
void check_generated(const char* name, const rc::Gen<Case>& cases, const auto& require_law,
                     int tried, std::uint64_t most_paths = 30'000) {
    generated_ledger ledger{.most_paths = most_paths};
    const property_report report =
        check_property([&] { require_law(*cases, ledger); }, {.cases = tried});
    std::printf("generated, %-18s %4zu cases (%zu too long), %llu paths, worst total variation "
                "%.1e\n",
                name, ledger.cases, ledger.too_long, static_cast<unsigned long long>(ledger.paths),
                ledger.worst);
    INFO(report.text);
    CHECK(report.holds);
    CHECK(2 * ledger.too_long < ledger.cases);
}

} // namespace specdec::testing
