// SPDX-License-Identifier: MIT
#include <specdec/source/lookup_branch.hpp>

#include <optional>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <specdec/bridge/tree/tree_bridge.hpp>
#include <specdec/decode/session.hpp>
#include <specdec/draft/lookup/prompt_lookup.hpp>
#include <specdec/draft/model_drafter.hpp>
#include <specdec/draft/tree/fixed_tree.hpp>
#include <specdec/sampling/coin/philox_coin.hpp>
#include <specdec/source/recycled_tree_source.hpp>
#include <specdec/verify/tree/tree_exact_match.hpp>

#include "support/ids.hpp"
#include "support/tiny_tokenizer.hpp"
#include "support/toy_tree_model.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace lookup_branch_tests {

using words_type = tiny_tokenizer<target_id>;
using lookup_type = lookup_with<prompt_lookup, words_type, lookup_length>;
using bridge_type = lookup_branch<identity_tree_bridge, prompt_lookup, words_type>;

/// The drafter finds c likeliest, then a, everywhere.
struct fixture {
    words_type words{{"a", "b", "c", "d", " "}};
    toy_tree_model<draft_id> model{5, [](const std::vector<draft_id>&) {
                                       return std::vector<float>{4, 0, 9, 0, 0};
                                   }};
    model_drafter<toy_tree_model<draft_id>> drafter{model};
    acceptance_table table;
    cost_table costs{{1, 1}, 0, 0};
    philox_coin coin{1};
    fixed_tree shape = fixed_tree::of_widths(std::vector<std::size_t>{2, 1});

    [[nodiscard]] bridge_type make(bool looks_up) {
        std::optional<lookup_type> lookup;
        if (looks_up)
            lookup.emplace(
                lookup_type{{prompt_lookup(1024), words, 4}, lookup_length(table, costs)});
        return {identity_tree_bridge(
                    identity_map(5, 5), shared_context(5, 64),
                    {.max_nodes = 4, .max_depth = 2, .siblings = sibling_draw::likeliest}),
                std::move(lookup)};
    }
    [[nodiscard]] std::vector<target_id> tokens(const std::string& text) const {
        return encoded(words, text);
    }
    [[nodiscard]] auto propose(bridge_type& bridge, std::size_t depth = 8, std::size_t nodes = 16) {
        return bridge.propose(drafter, shape, coin, {{.round = 5, .max_proposals = depth}, nodes});
    }
};

std::string ids_and_parents(const token_tree<target_id>& tree) {
    std::string out;
    for (std::size_t i = 0; i < tree.size(); ++i)
        out += "abcd "[tree.id(i).index()] +
               (tree.parent(i) == tree_root ? std::string("^") : std::to_string(tree.parent(i)));
    return out;
}

TEST_CASE("lookup branch: a bridge that learns of rows is told of them") {
    fixture f;
    toy_tree_model<target_id> target{5, [](const std::vector<target_id>&) {
                                         return std::vector<float>{0, 0, 9, 0, 0};
                                     }};
    successor_table table(5);
    session text(lookup_branch<recycled_tree_source, prompt_lookup, words_type>(
                     recycled_tree_source(table, {}), {}),
                 tree_exact_match{}, session_settings{.capacity = 16});
    text.start(f.tokens("a"));
    (void)text.round(target, f.drafter, f.shape, f.coin, 4);
    text.commit(1);
    REQUIRE(table.of(target_id{0}).size() > 0);
    CHECK(table.of(target_id{0})[0].id == target_id{2});
}

TEST_CASE("lookup branch: behind the drafter's own nodes as far as they are the same") {
    fixture f;
    bridge_type bridge = f.make(true);
    CHECK(bridge.settings().max_nodes == 8);
    CHECK(bridge.settings().max_depth == 4);
    bridge.start({});
    bridge.follow(f.tokens("acbd"));
    const auto nothing = f.propose(bridge);
    CHECK(ids_and_parents(*nothing.tree) == "c^a^c0c1");
    CHECK(nothing.drafted == 4);
    CHECK(nothing.passes == 2);
    bridge.follow(f.tokens("acbd"));
    const auto found = f.propose(bridge); // a, c are there
    CHECK(ids_and_parents(*found.tree) == "c^a^c0c1b3d4");
    CHECK(found.drafted == 4);
    CHECK(found.draft_tokens.size() == 4);
    CHECK(found.passes == 2); // looked up without one
    CHECK(found.proposals[4].probability() == 1);
    CHECK(ids_and_parents(*f.propose(bridge, 3).tree) == "c^a^c0c1b3");    // room of a path
    CHECK(ids_and_parents(*f.propose(bridge, 8, 5).tree) == "c^a^c1b2d3"); // of the round
    bridge.follow(f.tokens("dacbd"));
    CHECK(ids_and_parents(*f.propose(bridge).tree) == "c^a^c0c1d^a4c5b6");
}

/// Keeps what it is told of the text that stands beside the tree.
struct told_shape : fixed_tree {
    std::vector<beside_tree>& told;
    void grow(const growing_tree& growing, std::span<std::size_t> children) const {
        told.push_back(growing.beside);
        fixed_tree::grow(growing, children);
    }
};

TEST_CASE("lookup branch: the shape is told of the branch before it grows, at every level") {
    fixture f;
    bridge_type bridge = f.make(true);
    bridge.start({});
    std::vector<beside_tree> told;
    const told_shape shape{f.shape, told};
    const auto propose = [&] {
        (void)bridge.propose(f.drafter, shape, f.coin, {{.round = 5, .max_proposals = 8}, 16});
    };
    bridge.follow(f.tokens("acbd"));
    propose();
    bridge.follow(f.tokens("acbd"));
    propose();
    REQUIRE(told.size() == 4); // two levels each
    for (std::size_t i = 0; i < told.size(); ++i) {
        CHECK(told[i].positions == (i < 2 ? 0 : 4));
        CHECK((i < 2 ? told[i].kept == 0 : told[i].kept > 0.5 && told[i].kept < 1));
    }
}

TEST_CASE("lookup branch: without a lookup it is the bridge") {
    fixture f;
    bridge_type bridge = f.make(false);
    CHECK(bridge.settings().max_nodes == 4);
    bridge.start({});
    bridge.follow(f.tokens("acbdacbd"));
    const auto draft = f.propose(bridge);
    CHECK(ids_and_parents(*draft.tree) == "c^a^c0c1");
    CHECK(draft.found() == 0);
}

TEST_CASE("lookup branch: a session counts and shows whose the kept nodes are") {
    fixture f;
    toy_tree_model<target_id> target(5, [](const std::vector<target_id>& context) {
        std::vector<float> row(5);
        row[std::vector<std::size_t>{0, 2, 1, 3}[context.size() % 4]] = 99; // acbd
        return row;
    });
    session session(f.make(true), tree_exact_match{}, {.capacity = 64});
    session.start(f.tokens("acbdacbd"));
    const round_result r = session.round(target, f.drafter, f.shape, f.coin, 16);
    REQUIRE(r.accepted == 4);
    CHECK(r.found == 2);
    CHECK(r.origin(1) == token_origin::accepted);
    CHECK(r.origin(2) == token_origin::looked_up);
    CHECK(r.origin(4) == token_origin::free);
    CHECK(r.drafted.size() == 4);
    session.commit(5, f.drafter);
    CHECK(session.counts().looked_up == 2);
    CHECK(session.counts().looked_up_accepted == 2);
    CHECK(session.counts().accepted == 4);
    CHECK(session.counts().draft_tokens == 4);
    const round_result next = session.round(target, f.drafter, f.shape, f.coin, 16);
    CHECK(next.accepted == 4); // the drafter kept its own nodes only
}

} // namespace lookup_branch_tests
