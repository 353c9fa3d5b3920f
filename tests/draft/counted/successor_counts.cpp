// SPDX-License-Identifier: MIT
#include <specdec/draft/counted/successor_counts.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include <specdec/core/error.hpp>

#include "support/holds.hpp"
#include "support/ids.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace successor_counts_tests {

/// A text, token by token.
void read(successor_counts& counts, const std::vector<draft_id>& text) {
    for (std::size_t i = 0; i < text.size(); ++i)
        counts.learn(std::span(text).first(i), text[i]);
}
float weight_of(const successor_counts::found& seen, int id) {
    for (const auto& s : seen.successors)
        if (s.id == draft_id{id})
            return s.weight;
    return 0;
}

TEST_CASE("what followed the longest n-gram that was seen") {
    successor_counts counts;
    read(counts, ids_of({1, 2, 3, 4, 5, 6, 7, 8, 9}));
    const auto longest = counts.find(ids_of({0, 1, 2, 3, 4, 5, 6, 7, 8}));
    CHECK(longest.order == 8);
    CHECK(weight_of(longest, 9) == 1);
    CHECK(longest.weight == 1);
    CHECK(counts.find(ids_of({1, 2, 3, 4, 5, 6, 7})).order == 6); // of 7 tokens, none is kept
    CHECK(counts.find(ids_of({9, 2, 3, 4})).order == 3);
    CHECK(counts.find(ids_of({9, 9, 3, 4})).order == 2);
    CHECK(counts.find(ids_of({9, 9, 9, 4})).order == 1);
    CHECK(counts.find(ids_of({9})).order == 0);
    CHECK(counts.find({}).order == 0);
}

TEST_CASE("what was said lately counts most, and four successors are known") {
    successor_counts counts;
    const auto before = ids_of({1});
    counts.learn(before, draft_id{2});
    counts.learn(before, draft_id{2});
    counts.learn(before, draft_id{3});
    const auto seen = counts.find(before);
    CHECK(weight_of(seen, 2) == Approx(1.8 * 0.8));
    CHECK(weight_of(seen, 3) == 1);
    CHECK(seen.weight == Approx(1 + 1.8 * 0.8));
    for (int id = 4; id < 8; ++id)
        counts.learn(before, draft_id{id});
    const auto later = counts.find(before);
    CHECK(weight_of(later, 3) == 0); // the lightest made room, and then the next
    CHECK(weight_of(later, 7) == 1);
    CHECK(weight_of(later, 6) == Approx(0.8));
    CHECK(weight_of(later, 5) == Approx(0.64));
}

/// The same by a map of whole n-grams. Of equal weights the successor in front leaves.
struct plain_counts {
    using ngram = std::vector<int>;
    std::map<ngram, std::vector<std::pair<int, double>>> behind;

    static ngram last(const std::vector<int>& text, std::size_t n) {
        return {text.end() - static_cast<std::ptrdiff_t>(n), text.end()};
    }
    void learn(const std::vector<int>& text, int id) {
        for (const std::size_t n : successor_counts::orders) {
            if (n > text.size())
                return;
            auto& all = behind[last(text, n)];
            all.resize(successor_counts::width, {-1, 0});
            auto lightest = all.begin();
            for (auto s = all.begin(); s != all.end(); ++s) {
                s->second *= 0.8;
                lightest = s->second < lightest->second ? s : lightest;
            }
            const auto known =
                std::find_if(all.begin(), all.end(), [&](const auto& s) { return s.first == id; });
            auto& its = known == all.end() ? *lightest : *known;
            its = {id, (its.first == id ? its.second : 0) + 1};
        }
    }
    /// The longest n-gram that the text ends in and that was seen; 0: none.
    [[nodiscard]] std::size_t order(const std::vector<int>& text) const {
        std::size_t longest = 0;
        for (const std::size_t n : successor_counts::orders)
            if (n <= text.size() && behind.contains(last(text, n)))
                longest = n;
        return longest;
    }
};

TEST_CASE("counts of any text are those of a map of its n-grams") {
    require_holds([] {
        const auto text = *up_to(
            30, rc::gen::map(any_in(0, 5), [](std::size_t t) { return static_cast<int>(t); }));
        successor_counts counts;
        plain_counts plain;
        std::vector<int> before;
        for (const int id : text) {
            const auto ids = ids_of(before);
            const auto seen = counts.find(ids);
            RC_ASSERT(seen.order == plain.order(before));
            double weight = 0;
            if (seen.order > 0)
                for (const auto& [d, w] : plain.behind.at(plain_counts::last(before, seen.order))) {
                    weight += w;
                    if (w > 0)
                        RC_ASSERT(std::abs(static_cast<double>(weight_of(seen, d)) - w) < 1e-5);
                }
            RC_ASSERT(std::abs(seen.weight - weight) < 1e-5);
            counts.learn(ids, draft_id{id});
            plain.learn(before, id);
            before.push_back(id);
        }
    });
}

TEST_CASE("an n-gram takes another one's place by and by, and is never taken for it") {
    successor_counts counts(16);
    std::size_t found = 0;
    for (int i = 0; i < 1000; ++i)
        counts.learn(std::vector{draft_id{i}}, draft_id{i + 1});
    for (int i = 0; i < 1000; ++i) {
        const auto seen = counts.find(std::vector{draft_id{i}});
        found += seen.order;
        if (seen.order > 0)
            CHECK(weight_of(seen, i + 1) > 0);
    }
    CHECK(found > 0);
    CHECK(found <= 16);
}

TEST_CASE("counts are forgotten; marks move with whatever is learnt") {
    successor_counts counts;
    const auto untaught = counts.version();
    read(counts, ids_of({1, 2}));
    CHECK(counts.find(ids_of({1})).order == 1);
    const auto taught = counts.version();
    CHECK(taught != untaught);
    counts.forget();
    CHECK(counts.find(ids_of({1})).order == 0);
    CHECK(counts.version() != taught);
    CHECK(counts.memory() == (std::size_t{1} << 18) * 36);
    CHECK_THROWS_AS(successor_counts(15), error);
    CHECK_THROWS_AS(successor_counts(std::size_t{1} << 32), error);
}

} // namespace successor_counts_tests
