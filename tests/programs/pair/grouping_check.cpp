// SPDX-License-Identifier: MIT
// The watch around the programs' targets: what it passes on, and what it counts.
#include "support/pair/grouping_check.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include <catch2/catch.hpp>

#include "support/batch_of.hpp"
#include "support/toy_pair.hpp"

namespace grouping_check_tests {

using namespace specdec;
using namespace specdec::examples;
using namespace specdec::testing;

using toys = batch_of<target_id, text_model<target_id>>;

/// One that takes keys and copies prefixes, as the CPU engine's does.
struct keyed : toys {
    using toys::toys;
    static constexpr model_traits traits{.copies_prefix = true};
    std::vector<context_key> keys = std::vector<context_key>(2, 0);
    [[nodiscard]] context_key key(std::size_t s) const { return keys[s]; }
    void set_key(std::size_t s, context_key to) {
        if (keys[s] != to)
            truncate(s, 0);
        keys[s] = to;
    }
    bool copy_prefix(std::size_t to, std::size_t from, std::size_t n) {
        models[to] = models[from];
        models[to].truncate(n);
        return true;
    }
};

/// One whose rows of several positions are not those of each alone.
struct grouped : toys {
    using toys::toys;
    [[nodiscard]] logits_rows<target_id> score(std::span<const sequence_tokens<target_id>> parts) {
        const logits_rows<target_id> all = toys::score(parts);
        if (all.size() > 1)
            rows[toy_pair::mark.index()] = 100;
        return all;
    }
};

TEST_CASE("a watched target takes keys, tells what it holds and copies prefixes") {
    const toy_pair words;
    keyed model(2, text_model<target_id>(words.target.table()));
    any_batch_model<target_id> view(
        grouping_check(any_batch_model<target_id>(model), std::make_shared<grouping_watch>()));
    const auto ids = words.encode("abc a");
    view.set_key(0, 7);
    CHECK(model.keys == std::vector<context_key>{7, 0});
    view.append(0, ids);
    CHECK(view.key(0) == 7);
    CHECK(view.key(1) == 0);
    CHECK(view.held(0).size() == ids.size());
    CHECK(view.copy_prefix(1, 0, 2));
    CHECK(model.size(1) == 2);
    CHECK(view.held(1).size() == 2);
}

TEST_CASE("a watched round has the target's rows, and is counted where the grouping changes it") {
    const toy_pair words;
    const text_model<target_id> toy(words.target.table());
    const auto ids = words.encode("abc a");
    const sequence_tokens<target_id> part{1, ids};
    const auto run = [&](auto model) {
        auto plain = model;
        const auto watch = std::make_shared<grouping_watch>();
        grouping_check watched(any_batch_model<target_id>(model), watch);
        for (const bool on : {false, true}) {
            watch->on = on;
            watched.truncate(1, 0);
            plain.truncate(1, 0);
            const logits_rows<target_id> rows = watched.score({&part, 1}),
                                         wanted = plain.score({&part, 1});
            REQUIRE(rows.size() == wanted.size());
            for (std::size_t i = 0; i < rows.size(); ++i)
                for (std::size_t k = 0; k < rows.vocabulary(); ++k)
                    CHECK(rows[i].values[k] == wanted[i].values[k]);
            CHECK(watched.size(1) == ids.size());
            CHECK(watch->counts.rounds == (on ? 1U : 0U));
        }
        return watch->counts;
    };
    CHECK(run(toys(2, toy)).changed == 0);
    const grouping_counts counts = run(grouped(2, toy));
    CHECK(counts.changed == 1);
    CHECK(counts.largest_difference > 1);
}

} // namespace grouping_check_tests
