// SPDX-License-Identifier: MIT
// A rule without a case of its own is refused by name, never decoded by another one.
#include <specdec/speculation/open_sequence.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include <catch2/catch.hpp>

#include "support/toy_speculation.hpp"

using namespace specdec;
using namespace specdec::testing;
using Catch::Contains;

namespace open_sequence_tests {

/// Texts of the toy pair, made without the facade, which would refuse them before.
struct maker {
    toys x;
    speculation_side<target_id> target = x.target_side();
    speculation_side<draft_id> draft = x.draft_side();
    id_map map = build_id_map(draft, target);
    drafter_rows rows{draft.models};
    sequence_pool seats{1};
    shared_tables tables{target.tokenizer, &draft.tokenizer, &map, {}};
    std::vector<target_id> prompt = x.words.encode("ab");

    std::unique_ptr<speculative_text> make(rule how, std::optional<tree_drafts> tree = {}) {
        const text_request request{.prompt = prompt};
        decode_settings s = fixed(how, 1);
        s.tree = std::move(tree);
        sequence_plan plan = plan_sequence(request, s, how, target.tokenizer, 64, target.ends,
                                           learnt_nothing(0.5), tables);
        plan.draft = &draft.tokenizer;
        const drafting_side side{draft, rows, map, seats, 0};
        return open_sequence(std::move(plan), &side, tables, request);
    }
};

TEST_CASE("make text: every rule has its own case, what is none is refused by its number") {
    maker m;
    for (const named_rule& r : rules)
        CHECK(m.make(r.rule) != nullptr);
    CHECK_THROWS_WITH(m.make(static_cast<rule>(77)),
                      Contains("rule: 77: expected one of autoregressive, identity"));
    CHECK_THROWS_WITH(about(static_cast<rule>(77)), Contains("rule: 77"));
    speculation pair = m.x.pair();
    CHECK_THROWS_WITH(pair.generate("ab", fixed(static_cast<rule>(77), 1)), Contains("rule: 77"));
    CHECK_THROWS_WITH(pair.explain(fixed(static_cast<rule>(77), 1)), Contains("rule: 77"));
}

TEST_CASE("make text: a rule that drafts no trees is refused where a tree is asked for") {
    maker m;
    const tree_drafts tree{.widths = {2, 1}};
    for (const named_rule& r : rules) {
        CAPTURE(r.name);
        if (can_draft_trees(r.rule))
            CHECK(m.make(r.rule, tree) != nullptr);
        else if (takes_drafter(r.rule))
            CHECK_THROWS_WITH(m.make(r.rule, tree),
                              Contains("tree: " + std::string(r.name) + ": expected identity"));
    }
}

TEST_CASE("make text: lengths of no kind are refused") {
    toys x;
    speculation pair = x.pair();
    decode_settings s = fixed(rule::tli, 1);
    s.lengths.kind = static_cast<length_kind>(9);
    CHECK_THROWS_WITH(pair.generate("ab", s), Contains("lengths: kind"));
}

} // namespace open_sequence_tests
