// SPDX-License-Identifier: MIT
// Sessions whose tokens may end a sequence: what stands up to the first end token has the target's
// law, and behind an end token that was accepted, or drawn by the drafter, nobody is asked for
// anything: no processor, no law, no row of the drafter.
#include <specdec/verify/verdict.hpp>

#include <cstddef>
#include <span>
#include <vector>

#include <specdec/bridge/tree/slem_tree_bridge.hpp>
#include <specdec/process/processed_rows.hpp>
#include <specdec/verify/tree/coupled_tree_match.hpp>

#include "toy_bridges.hpp"
#include "tree_law.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace ends_tests {

/// Throws where it is asked behind an end token that the prompt did not have, as matchers of
/// grammars do.
struct strict_matcher {
    target_id end;
    std::size_t prompt = 1;

    void operator()(std::span<const target_id> tokens, std::span<float>) const {
        if (is_one_of(tokens.subspan(prompt), end))
            throw "a processor was asked behind the end of the target";
    }
};

/// A drafter that throws where it is asked for a row behind an end token of its own draft.
template <class D>
class strict_drafter {
public:
    static constexpr model_traits traits{.begin_draft_round = true};
    strict_drafter(D& drafter, std::vector<draft_id> ends)
        : drafter_(drafter), ends_(std::move(ends)) {}

    [[nodiscard]] std::size_t capacity() const { return drafter_.capacity(); }
    [[nodiscard]] law_version version() const { return drafter_.version(); }
    void begin_draft_round(std::size_t tokens) { round_ = tokens; }
    void sync(std::span<const draft_id> context, std::size_t unchanged) {
        drafter_.sync(context, unchanged);
        tokens_.assign(context.begin(), context.end());
    }
    void push(draft_id id) {
        drafter_.push(id);
        tokens_.push_back(id);
    }
    [[nodiscard]] logits_row<draft_id> row() {
        require_open(std::span(tokens_).subspan(round_));
        return drafter_.row();
    }
    [[nodiscard]] logits_rows<draft_id> rows(std::size_t n)
        requires ManyRowsDrafter<D>
    {
        require_open(std::span(tokens_).subspan(round_));
        return drafter_.rows(n);
    }
    [[nodiscard]] logits_rows<draft_id> grow(std::span<const draft_id> ids,
                                             std::span<const std::size_t> parents)
        requires TreeDrafter<D>
    {
        require_open(ids);
        return drafter_.grow(ids, parents);
    }
    void keep(std::span<const std::size_t> nodes, std::span<const draft_id> ids)
        requires TreeDrafter<D>
    {
        drafter_.keep(nodes, ids);
    }

private:
    void require_open(std::span<const draft_id> drafted) const {
        for (const draft_id d : drafted)
            if (is_end(ends_, d))
                throw "a drafter was asked behind its own end";
    }

    D& drafter_;
    std::vector<draft_id> ends_;
    std::vector<draft_id> tokens_; // the context, and what was pushed
    std::size_t round_ = 0;        // of these tokens when the round began
};

/// A scenario whose text ends with the first end token.
struct until_end {
    scenario how;
    std::size_t* ended; // rounds that an accepted end token ended
};

template <class Player>
sequence run(Player& text, const until_end& s) {
    const target_id end = s.how.end_ids.front();
    sequence found;
    for (std::size_t i = 0; found.size() < s.how.length; ++i) {
        const step now = i < s.how.steps.size() ? s.how.steps[i] : step{.gamma = 0};
        const round_result r = text.round(fixed_length{now.gamma}, now.room);
        for (const target_id t : r.tokens)
            found.push_back(t.value);
        if (r.ended() != (r.accepted > 0 && r.tokens[r.accepted - 1] == end))
            throw "a round has no token of the target, and was not ended";
        *s.ended += r.ended() ? 1U : 0U;
        const bool over = r.tokens.back() == end;
        text.decoder.commit(r.tokens.size());
        if (over)
            break;
    }
    if (found.size() > s.how.length)
        found.resize(s.how.length);
    return found;
}

/// The law of texts that end with the first end token.
joint_law cut_behind(const joint_law& law, target_id end) {
    joint_law cut;
    for (const auto& [text, p] : law) {
        sequence shown;
        for (std::size_t i = 0; i < text.size() && (i == 0 || text[i - 1] != end.value); ++i)
            shown.push_back(text[i]);
        cut[shown] += p;
    }
    return cut;
}

template <class WithBridge, class Rule>
void check_rule(const toy_words& two, const WithBridge& with_bridge, const Rule& rule,
                const std::vector<draft_id>& draft_ends) {
    const std::vector<target_id> ends{target_id{1}}; // a token that all pairs share
    std::size_t ended = 0;
    toy_rows_of rows(two, 610);
    scenario s{.steps = {{.gamma = 2}, {.gamma = 1}}, .length = 3, .end_ids = ends};
    s.start.settings.draft_end_ids = draft_ends;
    const auto make = [&](auto& coin, const auto& use) {
        rows.models()(coin, [&](auto& target, auto& plain) {
            strict_drafter drafter(plain, draft_ends);
            use(target, drafter);
        });
    };
    const played found = play(made_world{rows.p, make}, with_bridge, rule, until_end{s, &ended},
                              processed_rows(two.target_size(), strict_matcher{ends[0]}));
    CHECK(total_variation(found.law, cut_behind(found.wanted, ends[0])) < exact);
    CHECK(ended > 0);
}

/// Of the drafter's tokens one is an end: the target's, too, or to it a text.
template <class WithBridge>
void check_bridge(const char* name, const toy_words& two, const WithBridge& with_bridge) {
    for (const draft_id end : {draft_id{0}, draft_id{1}}) {
        const std::vector<draft_id> ends{end};
        CAPTURE(name, end.index());
        check_rule(two, with_bridge, by_rejection, ends);
        check_rule(two, with_bridge, by_block, ends);
        check_rule(two, with_bridge, by_match, ends);
        check_rule(two, with_bridge, by_coupling(two.keys), ends);
    }
}

template <class Rule, class MakeBridge>
void check_trees_of(const toy_words& two, const Rule& rule, const MakeBridge& make_bridge,
                    const std::vector<draft_id>& draft_ends) {
    const target_id end{1};
    const session_settings settings{.capacity = 24, .end_ids = {end}, .draft_end_ids = draft_ends};
    std::size_t ended = 0;
    for (const sibling_draw siblings : sibling_draws) {
        toy_rows_of rows(two, 640);
        const auto bridge = make_bridge(tree_settings{.max_nodes = 8, .siblings = siblings});
        const joint_law found = on_every_path([&](interval_coin& coin) {
            auto target = model_of<target_id, toy_tree_model<target_id>>(rows.p);
            auto model = model_of<draft_id, toy_tree_model<draft_id>>(rows.q);
            model_drafter plain(model);
            strict_drafter drafter(plain, draft_ends);
            session text(bridge, rule, settings,
                         processed_rows(two.target_size(), strict_matcher{end}));
            text.start(std::vector{target_id{0}}, std::vector{draft_id{0}});
            sequence tokens;
            for (std::size_t i = 0; tokens.size() < 2; ++i) {
                const auto r = i == 0 ? text.round(target, drafter, tree_of({2, 1}), coin, 8)
                                      : text.round(target, drafter, no_tree(), coin, 8);
                for (const target_id t : r.tokens)
                    tokens.push_back(t.value);
                ended += r.tokens.size() == r.accepted ? 1U : 0U;
                const bool over = r.tokens.back() == end;
                text.commit(r.tokens.size(), drafter);
                if (over)
                    break;
            }
            if (tokens.size() > 2)
                tokens.resize(2);
            return tokens;
        });
        CAPTURE(static_cast<int>(siblings));
        CHECK(total_variation(found, cut_behind(target_alone(rows.p, 2, {}), end)) < exact);
    }
    CHECK(ended > 0);
}

} // namespace ends_tests

using namespace ends_tests;

TEST_CASE("ends: nothing is asked for behind an accepted end, under every bridge and rule",
          "[law]") {
    const toy_words& two = permuted_words();
    static const toy_words equal({"a", "b", "ab"}, {"a", "b", "ab"});
    check_bridge("identity", equal, equal.identity());
    check_bridge("tli", two, two.tli());
    check_bridge("union", two, two.union_of());
    check_bridge("nested", two, two.nested());
    check_bridge("slem", two, two.slem());
    check_bridge("spelling", two, two.spelling());
    check_bridge("merge", two, two.merge(0, {{{1, 0}, 2}}));
}

TEST_CASE("ends: nothing is asked for behind an accepted end, where laws ask again", "[law]") {
    check_bridge("slrs", permuted_words(), permuted_words().slrs(0));
    check_bridge("slrs, ends of drafts", twofold_words(), twofold_words().slrs(0.3));
}

TEST_CASE("ends: nothing is asked for behind an accepted end of a tree", "[law]") {
    const toy_words& two = permuted_words();
    static const toy_words equal({"a", "b", "ab"}, {"a", "b", "ab"});
    const auto identity = [&](const tree_settings& s) { return identity_trees(3, s); };
    const auto slem = [&](const tree_settings& s) {
        return slem_tree_bridge(two.target, two.draft, two.map, 24, s);
    };
    for (const std::vector<draft_id>& ends : {std::vector<draft_id>{}, {draft_id{1}}}) {
        check_trees_of(equal, recursive, identity, ends);
        check_trees_of(equal, traversal, identity, ends);
        check_trees_of(equal, tree_exact_match{}, identity, ends);
        check_trees_of(two, recursive, two.tli_trees(), ends);
        check_trees_of(two, traversal, two.tli_trees(), ends);
        check_trees_of(two, tree_exact_match{}, slem, ends);
        check_trees_of(two, coupled_tree_match(two.keys), slem, ends);
    }
}

namespace ends_tests {

/// A bridge of its own kind, which goes on behind an end token.
struct heedless {
    using law_type = one_hot_law<target_id>;
    std::vector<proposal<law_type>> proposals{certain(target_id{0}), certain(target_id{1}),
                                              certain(target_id{0})};

    void start(std::span<const draft_id>) {}
    void follow(std::span<const target_id>) {}
    template <class D, StopRule Stop, Coin C>
    [[nodiscard]] draft_view<law_type> propose(D&, const Stop&, C&, const draft_request&) {
        return {proposals, {}, {}, no_draft::none, proposals.size()};
    }
};

} // namespace ends_tests

TEST_CASE("ends: a session cuts a draft behind its first end token, whatever the bridge does",
          "[law]") {
    row_tree p(toy_rows(row_kind::random, 3, 660)), q(toy_rows(row_kind::random, 3, 661));
    const target_id end{1};
    const joint_law found = on_every_path([&](interval_coin& coin) {
        auto target = model_of<target_id>(p);
        auto draft = model_of<draft_id>(q);
        model_drafter drafter(draft);
        session text(heedless{}, by_rejection, {.capacity = 24, .end_ids = {end}},
                     processed_rows(3, strict_matcher{end}));
        text.start(std::vector{target_id{0}});
        const round_result r = text.round(target, drafter, fixed_length{3}, coin, 8);
        if (r.proposed.size() != 2 || r.found_end != 2)
            throw "the draft was not cut";
        sequence tokens = values_of(r.tokens);
        text.commit(tokens.size());
        while (tokens.size() < 3 && tokens.back() != end.value) {
            const round_result next = text.round(target, drafter, fixed_length{0}, coin, 1);
            tokens.push_back(next.tokens[0].value);
            text.commit(1);
        }
        return tokens;
    });
    CHECK(total_variation(found, cut_behind(target_alone(p, 3, {}), end)) < exact);
}
