// SPDX-License-Identifier: MIT
#include <specdec/bridge/tree/slem_tree_bridge.hpp>

#include <map>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <specdec/bridge/slem.hpp>
#include <specdec/core/basic/builtins.hpp>
#include <specdec/draft/model_drafter.hpp>
#include <specdec/draft/stop_rule.hpp>
#include <specdec/draft/tree/beam_tree.hpp>
#include <specdec/draft/tree/fixed_tree.hpp>
#include <specdec/sampling/coin/philox_coin.hpp>

#include "bridge/greedy_requests.hpp"
#include "support/ids.hpp"
#include "support/toy_rows.hpp"
#include "support/toy_tree_model.hpp"
#include "support/watched_coin.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace slem_tree_bridge_tests {

constexpr int a = 1, space = 2, ba = 3, c = 4, b = 5, stop = 6, ca = 8, other_a = 9;

/// What is likeliest behind a draft, the likeliest first.
using script = std::map<std::vector<int>, std::vector<int>>;

/// A bridge of the toy pair behind a committed text, and a drafter that follows a script.
struct fixture {
    toy_pair two;
    philox_coin coin{1};
    toy_tree_model<draft_id> model;
    model_drafter<toy_tree_model<draft_id>> drafter{model};
    slem_tree_bridge<target_words, draft_words> bridge;

    explicit fixture(script likeliest, tree_settings settings = {},
                     std::string_view committed = "c")
        : model(10, rows_of(std::move(likeliest), two.encode_draft(committed).size() + 1)),
          bridge(two.target, two.draft, two.map, 128, likeliest_of(settings)) {
        bridge.start(std::vector{toy_pair::bos});
        bridge.follow(two.encode(committed));
    }

    static toy_tree_model<draft_id>::row_function rows_of(script likeliest, std::size_t behind) {
        return [likeliest, behind](const std::vector<draft_id>& context) {
            std::vector<float> row(10);
            if (context.size() < behind)
                return row;
            const std::vector<int> draft = values_of(std::span(context).subspan(behind));
            float logit = 9;
            if (const auto found = likeliest.find(draft); found != likeliest.end())
                for (const int d : found->second)
                    row[static_cast<std::size_t>(d)] = logit--;
            return row;
        };
    }
    static tree_settings likeliest_of(tree_settings settings) {
        settings.siblings = sibling_draw::likeliest;
        return settings;
    }
    auto propose(const auto& shape, std::size_t max_nodes = 64,
                 std::span<const target_id> end_ids = ends, std::size_t room = 8) {
        return bridge.propose(drafter, shape, coin,
                              tree_request{{4, room, greedy, end_ids}, max_nodes});
    }
    auto propose(std::vector<std::size_t> widths) { return propose(fixed_tree::of_widths(widths)); }

    /// The nodes, each as the tokens that lead to it.
    template <class View>
    std::vector<std::string> nodes_of(const View& draft) const {
        std::vector<std::string> nodes;
        for (std::size_t i = 0; draft.tree != nullptr && i < draft.tree->size(); ++i) {
            const std::size_t parent = draft.tree->parent(i);
            const std::string_view text = two.target.bytes(draft.tree->id(i));
            const std::string own(text.empty() ? "<end>" : text);
            nodes.push_back(parent == tree_root ? own : nodes[parent] + "|" + own);
            CHECK(draft.proposals[i].token() == draft.tree->id(i));
            CHECK(draft.proposals[i].probability() == 1.0);
        }
        return nodes;
    }
};
using nodes = std::vector<std::string>;
using path = std::vector<std::size_t>;

TEST_CASE("paths of text are scored once where they are alike") {
    fixture f({{{}, {c, a}}, {{c}, {space, c}}, {{a}, {c, space}}});
    const auto draft = f.propose({2, 2});
    CHECK(f.nodes_of(draft) == nodes{"c", "c| ", "c|c", "a", "a|c", "a| "});
    CHECK(draft.draft_tokens.size() == 6);
    CHECK(draft.nodes.size() == 6);
    CHECK(draft.reason == no_draft::none);
}

TEST_CASE("a path is encoded whole, whatever its beginning alone would be") {
    // a b c is one token of the target, a b another, a c is two.
    fixture f({{{}, {a}}, {{a}, {b, c}}, {{a, b}, {c, space}}, {{a, c}, {b, a}}});
    CHECK(f.nodes_of(f.propose({1})) == nodes{"a"});
    CHECK(f.propose({1, 2}).passes == 2); // of the drafter, whatever its text is to the target
    CHECK(f.nodes_of(f.propose({1, 2})) == nodes{"ab", "a", "a|c"});
    CHECK(f.nodes_of(f.propose({1, 2, 2})) ==
          nodes{"abc", "ab", "ab| ", "a", "a|c", "a|c|b", "a|c|a"});
}

TEST_CASE("what the drafter spells twice stands once") {
    fixture f({{{}, {a, other_a}},
               {{a}, {ba, c}},
               {{other_a}, {b, c}},
               {{a, ba}, {c}},
               {{other_a, b}, {a}}});
    CHECK(f.nodes_of(f.propose({2})) == nodes{"a"});
    // a ba = ab a, as the other a and b begin; a c both times
    CHECK(f.nodes_of(f.propose({2, 2})) == nodes{"ab", "ab|a", "a", "a|c"});
}

TEST_CASE("at most so many nodes, the surest paths first") {
    const script likeliest{{{}, {a, c}}, {{a}, {space, c}}, {{c}, {c, space}}};
    fixture all(likeliest, {.max_nodes = 6});
    const beam_tree beam{.beam = 2, .width = 2, .depth = 2};
    CHECK(all.nodes_of(all.propose(beam)) == nodes{"a", "a| ", "a|c", "c", "c|c", "c| "});
    CHECK(all.nodes_of(all.propose(beam, 4)) == nodes{"a", "a| ", "a|c", "c"});
    CHECK(all.propose(beam, 1).tree->size() == 1);

    // The drafter's four nodes: a and c, and what follows a.
    fixture fewer(likeliest, {.max_nodes = 4});
    CHECK(fewer.nodes_of(fewer.propose(beam)) == nodes{"a", "a| ", "c", "a|c"});

    // A draft token that is several of the target: the budget is the target's.
    fixture longer({{{}, {ba, ca}}}, {.max_nodes = 3});
    CHECK(longer.nodes_of(longer.propose({2})) == nodes{"b", "b|a", "c"});
    CHECK(longer.bridge.settings().max_depth == 3);
}

TEST_CASE("a surer path that is drawn later is the first to be merged") {
    fixture f({}, {.max_nodes = 8});
    // Behind c all is b, so it is as sure as c: surer than what follows a.
    const auto rows = [](const std::vector<draft_id>& context) {
        std::vector<float> row(10, -builtin::infinity);
        const std::size_t drafted = context.size() < 2 ? 0 : context.size() - 2;
        if (drafted == 0) {
            row[a] = 1;
            row[c] = 0.9F;
        } else if (context.back() == draft_id{a}) {
            row[a] = row[space] = 1;
        } else {
            row[b] = 1;
        }
        return row;
    };
    f.model = toy_tree_model<draft_id>(10, rows);
    CHECK(f.nodes_of(f.propose(beam_tree{.beam = 2, .width = 2, .depth = 2})) ==
          nodes{"c", "c|b", "a", "a|a", "a| "});
}

TEST_CASE("a control token has no children, its equivalent comes last") {
    fixture f({{{}, {stop, 0, a}}, {{a}, {stop, c}}, {{stop}, {c}}, {{0}, {c}}});
    CHECK(f.nodes_of(f.propose({3, 2})) == nodes{"<end>", "a", "a|<end>", "a|c"});
    fixture silent({{{}, {0}}}); // it has no equivalent
    const auto nothing = silent.propose({1});
    CHECK(nothing.reason == no_draft::nothing_to_say);
    CHECK(nothing.draft_tokens.size() == 1); // paid for
    CHECK(nothing.tree == nullptr);
}

TEST_CASE("an end token of the target and the room end paths") {
    fixture f({{{}, {c}}, {{c}, {space, c}}, {{c, space}, {c}}, {{c, c}, {c}}});
    const std::vector<target_id> space_ends{target_id{4}};
    const fixed_tree shape = fixed_tree::of_widths(std::vector<std::size_t>{1, 2, 1});
    CHECK(f.nodes_of(f.propose(shape, 64, space_ends)) == nodes{"c", "c| ", "c|c", "c|c|c"});
    CHECK(f.nodes_of(f.propose(shape, 64, ends, 2)) == nodes{"c", "c| ", "c|c"});
}

TEST_CASE("every reason for an empty tree of text") {
    fixture f({{{}, {a}}});
    const fixed_tree one = fixed_tree::chain(1);
    CHECK(f.propose(one, 0).reason == no_draft::no_room);
    CHECK(f.propose(one, 8, ends, 0).reason == no_draft::no_room);
    CHECK(f.propose(fixed_tree::chain(0)).reason == no_draft::stop_rule);
    CHECK(f.model.calls == 0);
    f.bridge.start({});
    CHECK(f.propose(one).reason == no_draft::nothing_to_say);
}

TEST_CASE("without branches it is the chain, draw for draw") {
    const auto rows = [](const std::vector<draft_id>& context) {
        return toy_rows(row_kind::random, 10, 5)(values_of(context));
    };
    const toy_pair two;
    toy_tree_model<draft_id> model(10, rows), twin(10, rows);
    model_drafter drafter(model), twin_drafter(twin);
    auto chain = two.slem(4);
    slem_tree_bridge tree(two.target, two.draft, two.map, 128, {.max_nodes = 32, .max_depth = 4});
    for (std::uint64_t round = 0; round < 40; ++round) {
        const philox_coin coin(round);
        for (const std::string text : {"ab", "cab a", "a"}) {
            const auto begin = [&](auto& bridge) {
                bridge.start(std::vector{toy_pair::bos});
                bridge.follow(two.encode(text));
            };
            begin(chain);
            begin(tree);
            const draft_request request{round, 8, {}, ends};
            const auto one = chain.propose(drafter, fixed_length{4}, coin, request);
            const auto same =
                tree.propose(twin_drafter, fixed_tree::chain(4), coin, tree_request{request, 32});
            REQUIRE(one.reason == same.reason);
            REQUIRE(one.proposals.size() == same.proposals.size());
            for (std::size_t i = 0; i < one.proposals.size(); ++i)
                CHECK(one.proposals[i].token() == same.proposals[i].token());
            CHECK(copy_of(one.draft_tokens) == copy_of(same.draft_tokens));
        }
    }
}

TEST_CASE("behind half a character its other half stands alone, in a chain and in a tree") {
    const target_words target{{"\xC3", "\xA9", "\xA9z", "z"}};
    const draft_words draft{{"\xC3", "\xA9", "z"}};
    const id_map map = intersect(draft.table(), target.table());
    toy_tree_model<draft_id> model(3, [](const std::vector<draft_id>& context) {
        std::vector<float> row(3);
        row[context.back().value == 1 ? 2 : 1] = 9;
        return row;
    });
    model_drafter drafter(model);
    philox_coin coin{1};
    const draft_request request{4, 8, greedy, ends};
    const auto check = [](auto bridge, const auto& propose) {
        for (const bool half : {true, false, true}) {
            bridge.start(std::vector{draft_id{2}});
            if (half)
                bridge.follow(std::vector{target_id{0}});
            std::vector<int> found;
            for (const auto& x : propose(bridge))
                found.push_back(x.token().value);
            CHECK(found == (half ? std::vector{1, 3} : std::vector{2}));
        }
    };
    check(slem_bridge(target, draft, map, 16, 2), [&](auto& bridge) {
        return bridge.propose(drafter, fixed_length{2}, coin, request).proposals;
    });
    check(slem_tree_bridge(target, draft, map, 16, {}), [&](auto& bridge) {
        return bridge.propose(drafter, fixed_tree::chain(2), coin, {request, 8}).proposals;
    });
}

TEST_CASE("what is kept of the drafter's tree is what the kept text has of it") {
    fixture f({{{}, {c, a}},
               {{c}, {a, c}},
               {{a}, {c, b}},
               {{c, a}, {b, c}},
               {{c, c}, {a, c}},
               {{a, c}, {a, c}},
               {{a, b}, {c, a}}});
    const auto draft = f.propose({2, 2, 2});
    const auto kept = [&](const path& of) { return copy_of(f.bridge.kept(of).path); };
    CHECK(f.bridge.kept(path{}).tree->size() == 14);
    CHECK(kept({}).empty());
    CHECK(kept({0}) == path{0}); // c
    REQUIRE(f.nodes_of(draft)[1] == "c|ab");
    // c, a and b of the drafter, whose nodes are numbered level by level
    CHECK(kept({0, 1}) == path{0, 2, 6});
}

TEST_CASE("a draft token that ends inside a target token is kept with the whole of it only") {
    fixture f({{{}, {ca, b}}, {{ca}, {b, c}}, {{b}, {ca, a}}});
    const auto draft = f.propose({2, 2});
    CHECK(f.nodes_of(draft) == nodes{"c", "c|ab", "c|a", "c|a|c", "b", "b|c", "b|c|a", "b|a"});
    const auto kept = [&](const path& of) { return copy_of(f.bridge.kept(of).path); };
    CHECK(kept({0}).empty()); // half of ca
    CHECK(kept({0, 1}) == path{0, 2});
    CHECK(kept({0, 2}) == path{0});
    CHECK(kept({4, 5}) == path{1});
    CHECK(kept({4, 5, 6}) == path{1, 4});
}

TEST_CASE("a control token is kept if its equivalent was") {
    fixture f({{{}, {a}}, {{a}, {stop, 0}}});
    REQUIRE(f.nodes_of(f.propose({1, 2})) == nodes{"a", "a|<end>"});
    CHECK(copy_of(f.bridge.kept(path{0}).path) == path{0});
    CHECK(copy_of(f.bridge.kept(path{0, 1}).path) == path{0, 1});
}

TEST_CASE("a control token is kept behind all of the kept text only") {
    fixture f({{{}, {ca, c}}, {{ca}, {stop}}, {{c}, {stop}}});
    const auto names = f.nodes_of(f.propose({2, 1}));
    REQUIRE(names == nodes{"c", "c|a", "c|a|<end>", "c|<end>"});
    CHECK(copy_of(f.bridge.kept(path{0, 1, 2}).path) == path{0, 2}); // ca, not c
    CHECK(copy_of(f.bridge.kept(path{0, 3}).path) == path{1, 3});
}

TEST_CASE("the drafter keeps what it was fed of the committed text") {
    fixture f({{{}, {c, a}},
               {{c}, {c, b}},
               {{a}, {b, c}},
               {{c, b}, {c, b}},
               {{c, c}, {b, a}},
               {{a, b}, {b, c}},
               {{a, c}, {b, c}}});
    const auto draft = f.propose({2, 2, 2});
    REQUIRE(f.nodes_of(draft)[5] == "c|b|c");
    f.bridge.keep(f.drafter, path{0, 4, 5});
    CHECK(values_of(f.model.held()) == std::vector{0, c, c, b}); // not fed: c
    f.bridge.follow(f.two.encode("cbc"));
    const std::size_t fed = f.model.fed;
    (void)f.propose({1});
    CHECK(f.model.fed == fed + 1);
    CHECK(values_of(f.model.held()) == std::vector{0, c, c, b, c});
    f.bridge.follow(f.two.encode("cc")); // something else was committed
    (void)f.propose({1});
    CHECK(values_of(f.model.held()) == std::vector{0, c, c, b, c, c, c});
}

TEST_CASE("the shape of the drafter's tree is told of the text that stands beside it") {
    struct shape : fixed_tree {
        std::size_t& positions;
        void grow(const growing_tree& growing, std::span<std::size_t> children) const {
            positions = growing.beside.positions;
            fixed_tree::grow(growing, children);
        }
    };
    fixture f({});
    std::size_t positions = 0;
    (void)f.bridge.propose(f.drafter, shape{fixed_tree::chain(1), positions}, f.coin,
                           tree_request{{4, 8, greedy, ends}, 64, {.positions = 3}});
    CHECK(positions == 3);
}

TEST_CASE("an abandoned tree of text leaves no trace") {
    const script likeliest{{{}, {ba, c}}, {{ba}, {c, a}}, {{c}, {a}}};
    fixture once(likeliest), twice(likeliest);
    for (int i = 0; i < 3; ++i)
        (void)twice.propose({2, 2});
    CHECK(once.nodes_of(once.propose({2, 2})) == twice.nodes_of(twice.propose({2, 2})));
    CHECK(once.model.held() == twice.model.held());
}

TEST_CASE("every draw of a tree of text has the place of its bytes") {
    fixture f({{{}, {ba, c}}, {{ba}, {c, ca}}, {{c}, {stop, ca}}, {{ba, c}, {a}}});
    const std::vector<std::uint32_t> widths{1, 1, 1, 1, 1, 2, 2, 1, 3};
    text_offset place(widths);
    place.pass("c");
    slem_tree_bridge drawn(f.two.target, f.two.draft, f.two.map, 128,
                           {.siblings = sibling_draw::without_replacement});
    drawn.start(std::vector{toy_pair::bos});
    drawn.follow(f.two.encode("c"));
    const fixed_tree shape = fixed_tree::of_widths(std::vector<std::size_t>{2, 2});
    watched_coin<> watch;
    const auto draft =
        drawn.propose(f.drafter, shape, watch, tree_request{{1, 8, {}, {}, place}, 8});
    REQUIRE(watch.picked.size() == draft.draft_tokens.size());
    for (std::size_t i = 0; i < watch.picked.size(); ++i) {
        const bool root = i < 2; // siblings, and behind them their children
        const std::size_t parent = i / 2 - 1;
        const std::uint64_t begin =
            root ? 1 : 1 + text_width(f.two.draft.bytes(draft.draft_tokens[parent]));
        CHECK(watch.picked[i].place == begin);
    }
}

TEST_CASE("trees of text refuse settings and maps that do not fit") {
    const toy_pair two;
    const auto make = [&](const tree_settings& settings) {
        return slem_tree_bridge(two.target, two.draft, two.map, 64, settings);
    };
    CHECK_THROWS_AS(make({.max_nodes = 0}), error);
    CHECK_THROWS_AS(make({.max_depth = 0}), error);
    fixture f({}, {.max_nodes = 4, .max_drafted = 8});
    slem_tree_bridge drawn(two.target, two.draft, two.map, 64, {.max_nodes = 4});
    drawn.follow(two.encode("a"));
    CHECK_THROWS_WITH(
        drawn.propose(f.drafter, eagle2_tree{}, f.coin, tree_request{{0, 8, {}, ends}, 8}),
        Catch::Contains("likeliest"));
}

} // namespace slem_tree_bridge_tests
