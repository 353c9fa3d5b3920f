// SPDX-License-Identifier: MIT
#include <specdec/bridge/strings/spelling_weights.hpp>

#include <limits>
#include <vector>

#include <catch2/catch.hpp>

#include "support/toy_pair.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace {

/// Behind a: nothing, b, bc, bcc, c. Behind b: nothing.
struct weights_fixture {
    target_words target{{"a", "ab", "abc", "abcc", "ac", "b"}};
    draft_words draft{{"a", "b", "c"}};
    id_map map = intersect(draft.table(), target.table());
    canonical_spellings spellings{target, draft, map};
    std::vector<double> first{0.5, 0.3, 0.2};
    static constexpr target_id a{0}, ab{1}, abc{2}, abcc{3}, ac{4};
};

void check(const spelling_weights& w, std::vector<double> expected) {
    REQUIRE(w.weights().size() == expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
        CAPTURE(i);
        CHECK(static_cast<double>(w.weights()[i]) == Approx(expected[i]).margin(1e-9));
    }
}

} // namespace

TEST_CASE("what is not known is an even part of a beginning, counted anew at every look") {
    const weights_fixture f;
    spelling_weights w(f.spellings, 4, 0.5);
    w.begin(f.first);
    const double of_a = 0.5 * 0.5 / 5; // five tokens begin with a
    check(w, {0.5, of_a, of_a, of_a, of_a, 0.3});
    CHECK(w.known(f.a));
    CHECK_FALSE(w.known(f.ab));
    CHECK(w.beginning(f.abc).size() == 1);

    w.look(f.abc, std::vector{0.1, 0.6, 0.3});
    const double ab = 0.5 * 0.6, of_ab = ab * 0.5 / 3; // three begin with a b
    check(w, {0.5, ab, of_ab, of_ab, 0.5 * 0.3, 0.3});
    CHECK(w.known(f.ab));
    CHECK(w.known(f.ac));
    CHECK(w.beginning(f.abcc).size() == 2);

    w.look(f.abcc, std::vector{0.0, 0.2, 0.8});
    const double abc = ab * 0.8;
    check(w, {0.5, ab, abc, abc * 0.5 / 2, 0.15, 0.3});
    CHECK(w.known(f.abc));

    w.look(f.abcc, std::vector{0.0, 0.75, 0.25});
    check(w, {0.5, ab, abc, abc * 0.25, 0.15, 0.3});
    CHECK(w.known(f.abcc));

    w.begin(f.first);
    check(w, {0.5, of_a, of_a, of_a, of_a, 0.3});
}

TEST_CASE("a part is at most the whole") {
    const weights_fixture f;
    for (const double all : {5.0, 1e9, std::numeric_limits<double>::infinity()}) {
        spelling_weights w(f.spellings, 4, all);
        w.begin(f.first);
        check(w, {0.5, 0.5, 0.5, 0.5, 0.5, 0.3});
        w.look(f.ab, std::vector{0.1, 0.6, 0.3});
        check(w, {0.5, 0.3, 0.3, 0.3, 0.15, 0.3});
    }
}

TEST_CASE("spellings that are too long weigh nothing and are not counted") {
    const weights_fixture f;
    spelling_weights w(f.spellings, 2, 0.5);
    w.begin(f.first);
    const double of_a = 0.5 * 0.5 / 3; // a, ab, ac
    check(w, {0.5, of_a, 0, 0, of_a, 0.3});
    w.look(f.ac, std::vector{0.1, 0.6, 0.3});
    check(w, {0.5, 0.3, 0, 0, 0.15, 0.3});
}

TEST_CASE("nothing weighs what nothing can follow, or what is forgotten") {
    const weights_fixture f;
    spelling_weights w(f.spellings, 4, 0.5);
    w.begin(f.first);
    w.look(f.ab, {});
    check(w, {0.5, 0, 0, 0, 0, 0.3});
    w.begin(f.first);
    w.look(f.ab, std::vector{0.1, 0.6, 0.3});
    w.forget_unknown();
    check(w, {0.5, 0.3, 0, 0, 0.15, 0.3});
}
