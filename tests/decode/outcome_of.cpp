// SPDX-License-Identifier: MIT
#include <specdec/decode/outcome_of.hpp>

#include <vector>

#include <catch2/catch.hpp>

#include "support/tiny_tokenizer.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace outcome_of_tests {

const tiny_tokenizer<target_id> target({"a", "b", "ab", "c"});
const tiny_tokenizer<draft_id> draft({"a", "b", "bc", "<end>"});

struct told {
    std::size_t kept;
    bool rejected;
    friend bool operator==(const told&, const told&) = default;
};

/// Of a round that proposed these tokens, of which so many were accepted.
told outcome(std::vector<draft_id> drafted, std::vector<target_id> proposed, std::size_t accepted) {
    std::vector<target_id> tokens(proposed.begin(),
                                  proposed.begin() + static_cast<std::ptrdiff_t>(accepted));
    tokens.push_back(target_id{3});
    const std::vector<draft_progress> steps(drafted.size());
    const round_result r{.tokens = tokens,
                         .accepted = accepted,
                         .proposed = proposed,
                         .drafted = drafted,
                         .steps = steps};
    const draft_outcome o = outcome_of(r, target, draft, 2);
    CHECK(o.steps.size() == drafted.size());
    CHECK(o.forwards == drafted.size() + 2);
    CHECK(o.proposed == proposed.size());
    CHECK(o.emitted == accepted + 1);
    return {o.kept, o.rejected};
}

constexpr draft_id a{0}, b{1}, bc{2}, end{3};
constexpr target_id A{0}, B{1}, AB{2}, C{3};

TEST_CASE("draft tokens are kept by the bytes that were accepted") {
    CHECK(outcome({a, b}, {A, B}, 2) == told{2, false});
    CHECK(outcome({a, b}, {A, B}, 1) == told{1, true});
    CHECK(outcome({a, b}, {A, B}, 0) == told{0, true});
    CHECK(outcome({a, b}, {AB}, 1) == told{2, false}); // one token of two
    CHECK(outcome({a, b}, {AB}, 0) == told{0, true});
    CHECK(outcome({a, bc}, {AB, C}, 1) == told{1, true}); // half a draft token is none
    CHECK(outcome({}, {}, 0) == told{0, false});
}

TEST_CASE("what was not decided on is neither kept nor rejected") {
    CHECK(outcome({a, b, b}, {A, B}, 2) == told{2, false}); // no room for the third
}

TEST_CASE("a draft token without bytes is kept if all proposals are") {
    CHECK(outcome({a, end}, {A, C}, 2) == told{2, false});
    CHECK(outcome({a, end}, {A, C}, 1) == told{1, true});
    CHECK(outcome({a, draft_id{}}, {A, target_id{}}, 1) == told{1, true}); // left the vocabulary
}

} // namespace outcome_of_tests
