// SPDX-License-Identifier: MIT
// Lookup beside a drafter: sessions of several rounds, some of which the lookup speaks in and some
// the drafter, have the target's law under every bridge and every lossless rule, and so have,
// together, two texts that take turns with one index or draft in lockstep.
#include <specdec/draft/lookup/lookup_beside.hpp>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include <specdec/core/model/gathered_model.hpp>
#include <specdec/core/model/one_sequence.hpp>
#include <specdec/decode/draft_together.hpp>
#include <specdec/draft/lookup/prompt_lookup.hpp>
#include <specdec/draft/lookup/suffix_lookup.hpp>
#include <specdec/testing/course/course_text.hpp>

#include "play.hpp"
#include "support/batch_of.hpp"
#include "toy_bridges.hpp"

namespace lookup_beside_tests {

using namespace specdec;
using namespace specdec::testing;
using words_type = toy_words::target_words;

constexpr token_rejection rejection{.thinning = {1, 1}};

/// A pair, a prompt whose end was seen before, and rows of what follows it.
struct texts {
    const toy_words& two;
    std::vector<target_id> prompt;
    cost_table costs{{1, 1.1, 1.2, 1.3}, 0.1, 0};

    texts(const toy_words& words, const std::string& text) : two(words) {
        words.target.encode(text, encode_mode::start, prompt);
    }
    template <class Id>
    [[nodiscard]] static toy_model<Id> model(row_tree& rows, std::size_t size, std::size_t before) {
        return toy_model<Id>(size, [&rows, before](const auto& context) {
            return rows(std::span(context).subspan(std::min(before, context.size())));
        });
    }
    [[nodiscard]] toy_model<target_id> target(row_tree& p) const {
        return model<target_id>(p, two.target_size(), prompt.size());
    }
    /// Behind the first tokens, whatever the prompt became.
    [[nodiscard]] toy_model<draft_id> draft(row_tree& q) const {
        return model<draft_id>(q, two.draft_size(), prompt.size());
    }
    template <class B, class Lookup>
    [[nodiscard]] auto beside(B bridge, Lookup lookup, acceptance_table& table) const {
        return lookup_beside<B, Lookup, words_type>(
            std::move(bridge),
            speaking_lookup<Lookup, words_type>{{std::move(lookup), two.target, 2},
                                                lookup_turns(table, costs)},
            16);
    }
};

struct spoken {
    std::size_t drafted = 0, found = 0, both = 0; // rounds; texts in which both spoke
};

/// Scenarios of a bridge beside which is looked up, under the rules given.
template <class WithBridge, class... Rules>
spoken check_beside(const char* name, const texts& t, const std::vector<scenario>& all,
                    const WithBridge& with_bridge, const Rules&... rules) {
    spoken seen;
    std::uint64_t seed = 6000;
    const auto check = [&](const auto& rule) {
        law_ledger ledger;
        for (const scenario& s : all)
            for (const auto& [p_kind, q_kind] : {std::pair{row_kind::random, row_kind::random},
                                                 {row_kind::zeros, row_kind::ties}}) {
                row_tree p(toy_rows(p_kind, t.two.target_size(), ++seed));
                row_tree q(toy_rows(q_kind, t.two.draft_size(), ++seed));
                joint_law law;
                enumerate<interval_coin>([&](interval_coin& coin) {
                    auto target = t.target(p);
                    auto draft = t.draft(q);
                    model_drafter drafter(draft);
                    acceptance_table table;
                    with_bridge(std::size_t{2}, [&](auto bridge) {
                        session decoder(t.beside(std::move(bridge), prompt_lookup(1024), table),
                                        rule, start_of(s).settings);
                        decoder.start(t.prompt);
                        session_player<decltype(decoder), decltype(target), decltype(drafter),
                                       interval_coin>
                            player{decoder, target, drafter, coin};
                        const sequence text = run(player, s);
                        law[text] += coin.probability();
                        const statistics& c = decoder.counts();
                        seen.found += c.looked_up;
                        seen.drafted += c.draft_tokens;
                        seen.both += c.looked_up > 0 && c.draft_tokens > 0 ? 1U : 0U;
                    });
                    ++ledger.paths;
                });
                ++ledger.sessions;
                CAPTURE(name, s.name, static_cast<int>(p_kind), rule_name(rule));
                const double tv = total_variation(law, target_alone(p, s.length, s.target));
                ledger.worst = tv > ledger.worst ? tv : ledger.worst;
                REQUIRE(tv < exact);
            }
        ledger.print(name, rule_name(rule));
    };
    (check(rules), ...);
    return seen;
}

const toy_words& equal_words() {
    static const toy_words two({"a", "b", "ab"}, {"a", "b", "ab"});
    return two;
}

TEST_CASE("lookup beside a drafter has the target's law under every rule", "[law]") {
    const auto check = [](const char* name, const texts& t, const auto& with_bridge,
                          const std::vector<scenario>& all) {
        const spoken seen = check_beside(name, t, all, with_bridge, rejection,
                                         block_verification{.thinning = {1, 1}}, exact_match{},
                                         coupled_match(t.two.keys));
        CHECK(seen.found > 100);
        CHECK(seen.drafted > 100);
        CHECK(seen.both > 100);
    };
    const texts one(equal_words(), "bbabbabb"), two(permuted_words(), "bbabbabb");
    check("identity, lookup", one, one.two.identity(), every_scenario(target_id{2}));
    check("tli, lookup", two, two.two.tli(), every_scenario(target_id{2}));
    check("union, lookup", two, two.two.union_of(), short_scenarios(target_id{2}));
    check("nested, lookup", two, two.two.nested(), short_scenarios(target_id{2}));
    check("slem, lookup", two, two.two.slem(), short_scenarios(target_id{2}));
}

TEST_CASE("lookup beside a drafter whose law is asked again has the target's law", "[law]") {
    const texts two(permuted_words(), "bbabbabb");
    const spoken slrs =
        check_beside("slrs, lookup", two, short_scenarios(target_id{2}), two.two.slrs(0.02),
                     rejection, block_verification{.thinning = {1, 1}}, exact_match{});
    CHECK(slrs.found > 100);
    CHECK(slrs.both > 100);
    const spoken merge = check_beside("merge, lookup", two, short_scenarios(target_id{2}),
                                      two.two.merge(0.02, {{{1, 0}, 2}}), rejection,
                                      block_verification{.thinning = {1, 1}});
    CHECK(merge.found > 100);
    CHECK(merge.both > 100);
}

using drafters = batch_of<draft_id, toy_model<draft_id>>;
using gathered = gathered_model<draft_id, drafters>;

/// A text of two that find each other's words in one index.
template <class B, class Rule>
struct sharing_text {
    using lookup_type = suffix_lookup<byte_index&>;

    using seat = one_sequence<draft_id, gathered>;

    toy_model<target_id> target;
    seat model;
    model_drafter<seat> drafter{model};
    session<lookup_beside<B, lookup_type, words_type>, Rule> decoder;
    coin_of_text<interval_coin> coin;
    fixed_length stop{1};
    std::size_t begin;

    sharing_text(const texts& t, B bridge, row_tree& p, gathered& rows, byte_index& index,
                 acceptance_table& table, const Rule& rule, interval_coin& random,
                 std::uint64_t number)
        : target(t.target(p)), model(rows, number),
          decoder(t.beside(std::move(bridge), shared_suffixes(index), table), rule,
                  session_settings{.capacity = 24}),
          coin{&random, number}, begin(t.prompt.size()) {
        decoder.start(t.prompt);
    }
    /// Whether the lookup speaks.
    bool draft() {
        decoder.draft(drafter, stop, coin, 3);
        return decoder.bridge().looked_up();
    }
    void begin_draft() { decoder.begin_draft(drafter, stop, coin, 3); }
    [[nodiscard]] draft_step announce() { return decoder.announce(drafter, stop); }
    void draw(double = 0) { decoder.draw(drafter, stop, coin); }
    std::size_t decide() { return decoder.verify(decoder.score(target), coin).tokens.size(); }
    void commit(std::size_t n) { decoder.commit(n); }
    void round() {
        draft();
        commit(decide());
    }
    sequence text(std::size_t length) {
        stop.length = 0;
        while (decoder.tokens().size() < begin + length)
            round();
        sequence out;
        for (const target_id x : decoder.tokens().subspan(begin, length))
            out.push_back(x.value);
        return out;
    }
};

template <class B, class Rule>
void draft_both(sharing_text<B, Rule>& a, sharing_text<B, Rule>& b) {
    struct drafting {
        sharing_text<B, Rule>* run;
        draft_step step{};
    };
    drafting both[] = {{&a}, {&b}};
    for (const drafting& x : both)
        x.run->begin_draft();
    no_clock clock;
    draft_together(
        std::span<drafting>(both), [](const drafting&, const auto& act) { act(); }, clock);
}

enum class turns { between, redone, abandoned, partial, together };

/// The joint law of two texts; turned: paths on which the other text's commit gave a round that had
/// been drafted to the other speaker.
template <class WithBridge, class Rule>
pair_law law_of_two(const texts& t, const WithBridge& with_bridge, row_tree& p, row_tree& q,
                    const Rule& rule, turns how, std::size_t length, std::size_t& turned) {
    pair_law law;
    enumerate<interval_coin>([&](interval_coin& coin) {
        byte_index index({.bytes = 1024, .short_ends = true});
        acceptance_table table;
        drafters models(2, t.draft(q));
        gathered rows(models);
        with_bridge(std::size_t{1}, [&](auto bridge) {
            using text_type = sharing_text<decltype(bridge), Rule>;
            auto twin = bridge;
            text_type a(t, std::move(bridge), p, rows, index, table, rule, coin, 0);
            text_type b(t, std::move(twin), p, rows, index, table, rule, coin, 1);
            const bool first = a.draft();
            switch (how) {
            case turns::between:
                b.round();
                a.commit(a.decide());
                break;
            case turns::redone:
                b.round();
                turned += a.draft() != first ? 1U : 0U;
                a.commit(a.decide());
                break;
            case turns::abandoned:
                (void)a.decide();
                b.round();
                turned += a.draft() != first ? 1U : 0U;
                a.commit(a.decide());
                break;
            case turns::together: {
                draft_both(a, b);
                const std::size_t n = a.decide(), m = b.decide();
                a.commit(n);
                b.commit(m);
                break;
            }
            default: {
                b.draft();
                (void)a.decide();
                (void)b.decide();
                b.commit(1);
                a.commit(1);
                a.round();
                break;
            }
            }
            const sequence one = a.text(length), two = b.text(length);
            law[{one, two}] += coin.probability();
        });
    });
    return law;
}

void check_two(const char* prompt, turns how, std::size_t& turned) {
    constexpr std::size_t length = 2;
    const texts t(equal_words(), prompt);
    row_tree p(toy_rows(row_kind::random, 3, 6700 + static_cast<std::uint64_t>(how)));
    row_tree q(toy_rows(row_kind::random, 3, 6800 + static_cast<std::uint64_t>(how)));
    const pair_law expected = both_alone(p, length);
    const auto check = [&](const auto& with_bridge, const auto& rule) {
        CAPTURE(prompt, static_cast<int>(how), rule_name(rule));
        CHECK(total_variation(law_of_two(t, with_bridge, p, q, rule, how, length, turned),
                              expected) < exact);
    };
    check(t.two.identity(), rejection);
    check(t.two.identity(), block_verification{.thinning = {1, 1}});
    check(t.two.slrs(0), rejection);
    check(t.two.slem(), exact_match{});
}

TEST_CASE("two texts beside whose drafters is looked up in one index have the target's law",
          "[law][computes]") {
    std::size_t turned = 0;
    for (const char* prompt : {"abbabaab", "bbabb"})
        for (const turns how : {turns::between, turns::redone, turns::abandoned, turns::partial})
            check_two(prompt, how, turned);
    CHECK(turned > 0);
}

TEST_CASE("two texts that draft together, or look up in one index, have the target's law",
          "[law]") {
    std::size_t turned = 0;
    check_two("bbabb", turns::together, turned);
}

} // namespace lookup_beside_tests
