// SPDX-License-Identifier: MIT
#include <specdec/bridge/spelling.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include <specdec/core/error.hpp>
#include <specdec/draft/stop_rule.hpp>
#include <specdec/sampling/coin/coupled_coin.hpp>
#include <specdec/sampling/law/sparse_law.hpp>

#include "greedy_requests.hpp"
#include "support/ids.hpp"
#include "support/script_drafter.hpp"
#include "support/toy_rows.hpp"
#include "support/watched_coin.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace {

constexpr std::size_t drafts = 10;
const draft_id a{1}, ba{3}, c{4}, b{5};
const target_id target_ab{5}, target_abc{8};

/// A drafter whose rows depend on the whole context. Checks what it is told to be unchanged.
struct tree_drafter {
    row_tree rows;
    std::vector<draft_id> context{};
    std::vector<std::vector<draft_id>> asked{};

    explicit tree_drafter(std::uint64_t seed, row_kind kind = row_kind::random)
        : rows(toy_rows(kind, drafts, seed)) {}

    [[nodiscard]] std::size_t capacity() const { return 100; }
    void sync(std::span<const draft_id> ids, std::size_t unchanged) {
        REQUIRE(unchanged <= context.size());
        REQUIRE(unchanged <= ids.size());
        for (std::size_t i = 0; i < unchanged; ++i)
            REQUIRE(context[i] == ids[i]);
        context.assign(ids.begin(), ids.end());
    }
    logits_row<draft_id> row() {
        asked.push_back(context);
        return {row_behind(context)};
    }
    [[nodiscard]] law_version version() const { return 0; }
    void push(draft_id) { FAIL("the bridge syncs"); }

    const std::vector<float>& row_behind(const std::vector<draft_id>& ids) {
        return rows(values_of(ids));
    }
    /// The probability of a draft token among those that begin a spelling (or among all).
    double probability(const std::vector<draft_id>& ids, draft_id d, bool beginnings) {
        std::vector<float> row = row_behind(ids);
        if (beginnings)
            for (const draft_id unused : {toy_pair::bos, ba, draft_id{8}, draft_id{9}})
                row[unused.index()] = -__builtin_inff();
        return make_law(logits_row<draft_id>{row}, {}).probability(d);
    }
};

struct spelling_fixture {
    toy_pair two;
    text_keys keys{two.target, two.map};
    std::vector<draft_id> context{toy_pair::bos, c};

    [[nodiscard]] words_spelling bridge(spelling_limits limits) const {
        words_spelling made(two.spellings, words_context(two.target, two.draft, two.map, 64), 64,
                            limits);
        made.start(std::vector{toy_pair::bos});
        made.follow(two.encode("c"));
        return made;
    }
    [[nodiscard]] text_offset place() const {
        text_offset at(keys.widths());
        at.pass(std::string_view("c"));
        return at;
    }
    template <class D, class C>
    auto propose(words_spelling& by, D& drafter, C& coin, std::size_t room,
                 sampling_parameters sampling = {}, std::size_t length = 8) const {
        return by.propose(drafter, fixed_length{length}, coin, {4, room, sampling, ends, place()});
    }
    /// w by its definition.
    [[nodiscard]] std::map<target_id, double> weights(tree_drafter& drafter) const {
        std::map<target_id, double> w;
        for (std::size_t i = 0; i < two.target.vocabulary_size(); ++i) {
            std::vector<draft_id> path = context;
            double product = 1;
            for (const draft_id d : two.spellings.of(id_at<target_id>(i))) {
                product *= drafter.probability(path, d, path.size() == context.size());
                path.push_back(d);
            }
            if (path.size() > context.size())
                w[id_at<target_id>(i)] = product;
        }
        return w;
    }
};

} // namespace

// What is borrowed has a name: a temporary would be gone before use.
template <class Table>
constexpr bool takes_spellings =
    std::is_constructible_v<words_spelling, Table, words_context, std::size_t, spelling_limits>;
static_assert(takes_spellings<const canonical_spellings&> && !takes_spellings<canonical_spellings>);

TEST_CASE("the guess is the winner of the race between all spellings") {
    const spelling_fixture f;
    std::size_t looked = 0;
    std::map<target_id, int> won;
    for (std::uint64_t seed = 0; seed < 400; ++seed) {
        tree_drafter drafter(seed);
        std::vector<weighted_id<target_id>> entries;
        for (const auto& [t, w] : f.weights(drafter))
            entries.push_back({t, static_cast<float>(w)});
        const coupled_coin coin(f.keys, seed);
        const target_id expected =
            coin.pick({4, purpose::draft, 0, f.place().value()},
                      sparse_law<target_id>(entries, f.two.target.vocabulary_size()));
        words_spelling bridge = f.bridge({.max_draft = 1, .likely_rest = 1e9});
        const auto draft = f.propose(bridge, drafter, coin, 1);
        REQUIRE(tokens_of(draft) == std::vector{expected});
        looked += bridge.extra_forwards();
        CHECK(drafter.asked.size() == 1 + bridge.extra_forwards());
        ++won[expected];
    }
    CHECK(won[target_ab] > 5);
    CHECK(won[target_abc] > 0);
    CHECK(looked > 20);
    CHECK(looked < 400); // not at every spelling every time
}

TEST_CASE("a look serves all tokens that begin alike, and tells what is behind them") {
    const spelling_fixture f;
    std::size_t third = 0;
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        tree_drafter drafter(seed);
        const coupled_coin coin(f.keys, seed);
        words_spelling bridge = f.bridge({.max_draft = 1, .likely_rest = 1e9});
        (void)f.propose(bridge, drafter, coin, 1);
        std::vector<draft_id> path = f.context;
        REQUIRE(drafter.asked.front() == path);
        REQUIRE(drafter.asked.size() <= 3); // ab and abc: behind a, and abc: behind a b
        for (std::size_t i = 1; i < drafter.asked.size(); ++i) {
            path.push_back(i == 1 ? a : b);
            REQUIRE(drafter.asked[i] == path);
        }
        third += drafter.asked.size() == 3 ? 1U : 0U;
    }
    CHECK(third > 0);
}

TEST_CASE("fewer looks where the rest is taken to be unlikely, none where none is allowed") {
    const spelling_fixture f;
    std::size_t looks[3] = {};
    const spelling_limits limits[3] = {{.max_draft = 1, .likely_rest = 1e9},
                                       {.max_draft = 1, .likely_rest = 0.3},
                                       {.max_draft = 1, .max_looks = 0, .likely_rest = 1e9}};
    for (std::uint64_t seed = 0; seed < 200; ++seed)
        for (std::size_t i = 0; i < 3; ++i) {
            tree_drafter drafter(seed);
            const coupled_coin coin(f.keys, seed);
            words_spelling bridge = f.bridge(limits[i]);
            const auto draft = f.propose(bridge, drafter, coin, 1);
            REQUIRE(draft.proposals.size() == 1);
            looks[i] += bridge.extra_forwards();
            if (i == 2) // what was not looked at is not guessed
                REQUIRE(f.two.spellings.of(draft.proposals[0].token()).size() == 1);
        }
    CHECK(looks[1] < looks[0] / 2);
    CHECK(looks[1] > 0);
    CHECK(looks[2] == 0);
}

TEST_CASE("what a look cannot finish is not guessed, and takes nothing from others") {
    const spelling_fixture f;
    std::map<target_id, int> won;
    for (std::uint64_t seed = 0; seed < 400; ++seed) {
        tree_drafter drafter(seed);
        const coupled_coin coin(f.keys, seed);
        words_spelling bridge = f.bridge({.max_draft = 1, .max_looks = 1, .likely_rest = 1e9});
        ++won[f.propose(bridge, drafter, coin, 1).proposals[0].token()];
        REQUIRE(bridge.extra_forwards() <= 1);
    }
    CHECK(won[target_ab] > 5);
    CHECK(won[target_abc] == 0);
}

TEST_CASE("nothing follows a beginning whose row has no mass") {
    const spelling_fixture f;
    struct dead_end : tree_drafter {
        using tree_drafter::tree_drafter;
        std::vector<float> none = std::vector<float>(drafts, -__builtin_inff());
        logits_row<draft_id> row() {
            const logits_row<draft_id> found = tree_drafter::row();
            return context.back() == a ? logits_row<draft_id>{none} : found;
        }
    };
    std::size_t looks = 0;
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        dead_end drafter(seed);
        const coupled_coin coin(f.keys, seed);
        words_spelling bridge = f.bridge({.max_draft = 1, .likely_rest = 1e9});
        const auto draft = f.propose(bridge, drafter, coin, 1);
        REQUIRE(f.two.spellings.of(draft.proposals[0].token()).size() == 1);
        looks += bridge.extra_forwards();
    }
    CHECK(looks > 10);
}

TEST_CASE("the stop rule is told the draft tokens and the weight of the last guess") {
    const spelling_fixture f;
    struct told {
        std::vector<std::pair<std::size_t, double>>* log;
        [[nodiscard]] law_version version() const { return 0; }
        bool more(const draft_progress& now) const {
            log->push_back({now.drafted, now.last});
            return true;
        }
    };
    bool longer = false;
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        tree_drafter drafter(seed);
        const coupled_coin coin(f.keys, seed);
        words_spelling bridge = f.bridge({.max_draft = 2, .likely_rest = 1e9});
        std::vector<std::pair<std::size_t, double>> log;
        const auto draft = bridge.propose(drafter, told{&log}, coin, {4, 2, {}, ends, f.place()});
        if (draft.proposals.size() < 2)
            continue;
        const target_id t = draft.proposals[0].token();
        const std::size_t size = f.two.spellings.of(t).size();
        REQUIRE(log.back().first == size);
        REQUIRE(log.back().second == Approx(f.weights(drafter).at(t)).epsilon(1e-5));
        longer = longer || size > 1;
    }
    CHECK(longer);
}

TEST_CASE("the drafter goes on behind the spelling of the guess") {
    const spelling_fixture f;
    bool met = false;
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        tree_drafter drafter(seed);
        const coupled_coin coin(f.keys, seed);
        words_spelling bridge = f.bridge({.max_draft = 3, .likely_rest = 1e9});
        const auto draft = f.propose(bridge, drafter, coin, 3);
        std::vector<draft_id> spelled;
        for (const auto& x : draft.proposals) {
            CHECK(x.probability() == 1.0);
            for (const draft_id d : f.two.spellings.of(x.token()))
                spelled.push_back(d);
        }
        REQUIRE(copy_of(draft.draft_tokens) == spelled);
        if (draft.proposals.size() == 3 && draft.proposals[0].token() == target_ab) {
            std::vector<draft_id> behind = f.context;
            behind.insert(behind.end(), {a, b});
            CHECK(std::count(drafter.asked.begin(), drafter.asked.end(), behind) >= 1);
            met = true;
        }
        // A second round, of which the first two tokens were kept.
        if (draft.proposals.size() == 3) {
            const std::vector kept{draft.proposals[0].token(), draft.proposals[1].token()};
            bridge.follow(kept);
            drafter.asked.clear();
            (void)f.propose(bridge, drafter, coin, 1);
            REQUIRE(drafter.asked.front().size() == bridge.context().ids().size());
        }
    }
    CHECK(met);
}

TEST_CASE("guesses by spelling: room, length, stop rule, end token") {
    const spelling_fixture f;
    philox_coin coin(1);
    words_spelling bridge = f.bridge({.max_draft = 4});
    script_drafter drafter(drafts, {c});
    drafter.forbid_others = true;
    CHECK(f.propose(bridge, drafter, coin, 2).proposals.size() == 2);
    CHECK(f.propose(bridge, drafter, coin, 8, {}, 3).proposals.size() == 3);
    CHECK(f.propose(bridge, drafter, coin, 8, {}, 100).proposals.size() == 4);
    script_drafter ending(drafts, {toy_pair::stop});
    ending.forbid_others = true;
    CHECK(tokens_of(f.propose(bridge, ending, coin, 8)) == std::vector{toy_pair::end});
}

TEST_CASE("guesses by spelling at temperature 0 are the likeliest shared tokens") {
    const spelling_fixture f;
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        tree_drafter drafter(seed);
        const coupled_coin coin(f.keys, seed);
        words_spelling bridge = f.bridge({.max_draft = 1});
        const auto draft = f.propose(bridge, drafter, coin, 1, {.temperature = 0});
        REQUIRE(draft.proposals.size() == 1);
        const auto w = f.weights(drafter);
        for (const auto& [t, weight] : w)
            if (f.two.spellings.of(t).size() == 1)
                REQUIRE(w.at(draft.proposals[0].token()) >= weight);
        REQUIRE(f.two.spellings.of(draft.proposals[0].token()).size() == 1);
        CHECK(bridge.extra_forwards() == 0);
    }
}

TEST_CASE("every draw of a guess has a site of its own, at the place of that guess") {
    const spelling_fixture f;
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        tree_drafter drafter(seed);
        watched_coin<> coin{philox_coin(seed)};
        words_spelling bridge = f.bridge({.max_draft = 2, .likely_rest = 1e9});
        const auto draft = f.propose(bridge, drafter, coin, 2);
        const std::uint64_t first = f.place().value();
        REQUIRE(!draft.proposals.empty());
        const std::uint64_t second =
            first + text_width(f.two.target.bytes(draft.proposals[0].token()));
        REQUIRE(coin.picked.front().place == first);
        for (const draw_site& site : coin.picked)
            REQUIRE((site.place == first || site.place == second));
        if (draft.proposals.size() == 2)
            REQUIRE(coin.picked.back().place == second);
        for (std::uint32_t i = 0; i < coin.picked.size(); ++i)
            REQUIRE(coin.picked[i].attempt == i);
    }
}

TEST_CASE("every reason for an empty draft of guesses") {
    const spelling_fixture f;
    philox_coin coin(1);
    words_spelling bridge = f.bridge({.max_draft = 2});
    script_drafter drafter(drafts, {a});
    const auto reason = [](const auto& draft) {
        CHECK(draft.proposals.empty());
        return draft.reason;
    };
    CHECK(reason(f.propose(bridge, drafter, coin, 0)) == no_draft::no_room);
    CHECK(reason(f.propose(bridge, drafter, coin, 8, {}, 0)) == no_draft::stop_rule);
    script_drafter full(drafts, {a}, 4); // two in the context, a spelling of three
    CHECK(reason(f.propose(bridge, full, coin, 8)) == no_draft::drafter_full);
    CHECK(full.syncs == 0);
    script_drafter fits(drafts, {c}, 5);
    fits.forbid_others = true;
    CHECK(f.propose(bridge, fits, coin, 8).proposals.size() == 1); // behind c no three fit
    words_spelling short_only = f.bridge({.max_draft = 2, .max_looks = 1});
    script_drafter small(drafts, {a}, 4); // a spelling of two: abc is none of them
    CHECK(f.propose(short_only, small, coin, 8).reason == no_draft::none);
    script_drafter foreign(drafts, {ba}); // no spelling begins with it
    foreign.forbid_others = true;
    CHECK(reason(f.propose(bridge, foreign, coin, 8)) == no_draft::nothing_to_say);
    bridge.start({});
    CHECK(reason(f.propose(bridge, drafter, coin, 8)) == no_draft::nothing_to_say);
}

TEST_CASE("guesses by spelling refuse what they cannot use") {
    const spelling_fixture f;
    philox_coin coin(1);
    for (const double rest : {0.0, -1.0, std::nan("")})
        CHECK_THROWS_AS(f.bridge({.max_draft = 1, .likely_rest = rest}), error);
    words_spelling bridge = f.bridge({.max_draft = 1});
    script_drafter narrow(drafts - 1, {a});
    CHECK_THROWS_AS(f.propose(bridge, narrow, coin, 1), error);
}

TEST_CASE("guesses by spelling refuse rows with NaN or +infinity, at temperature 0, too") {
    const spelling_fixture f;
    philox_coin coin(1);
    for (const float temperature : {0.0F, 1.0F})
        for (const float bad : {__builtin_inff(), std::nanf("")})
            for (const bool all : {false, true}) {
                words_spelling bridge = f.bridge({.max_draft = 1});
                tree_drafter drafter(7);
                drafter.rows = row_tree([=](const sequence&) {
                    std::vector<float> row(drafts, all ? bad : 0.5F);
                    row[a.index()] = bad;
                    return row;
                });
                CHECK_THROWS_WITH(f.propose(bridge, drafter, coin, 8, {.temperature = temperature}),
                                  Catch::Contains("logits row"));
            }
}
