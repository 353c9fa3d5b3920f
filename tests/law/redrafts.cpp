// SPDX-License-Identifier: MIT
// Chains that failed and go on (redrafts.hpp), also beside a lookup; what of them is refused,
// because the draft's law is asked for again and has changed.

#include <specdec/decode/session.hpp>

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include <specdec/source/lookup_or_draft.hpp>

#include "redrafts.hpp"

using namespace specdec;
using namespace specdec::testing;
using namespace specdec::testing::redrafts;

namespace redrafts_tests {

using act = course_step::act;
using words_type = toy_words::target_words;

/// A chain of the bridge under a rule.
template <class WithBridge, class Rule>
auto chains(const WithBridge& with_bridge, const Rule& rule) {
    return [&with_bridge, rule](auto& world, std::size_t t) {
        with_bridge(std::size_t{2}, [&](auto bridge) {
            session decoder(std::move(bridge), rule,
                            session_settings{.capacity = 24, .max_proposals = 2},
                            course_laws{&world.laws_left[t]});
            decoder.start(world.prompt_of(t));
            using world_type = std::remove_reference_t<decltype(world)>;
            world.texts.push_back(
                std::make_unique<session_on_course<decltype(decoder), weighted_model<target_id>,
                                                   typename world_type::drafter_type,
                                                   coin_of_text<interval_coin>>>(
                    std::move(decoder), world.targets[t], world.drafters[t], world.coin_of(t)));
        });
    };
}

TEST_CASE("a chain that failed and goes on behind a change has the target's law", "[law]") {
    const auto check = [](const char* name, const toy_words& two, const auto& with_bridge,
                          const auto&... rules) {
        (check_sharing(name, two, courses_that_fail(2, 1), chains(with_bridge, rules)), ...);
        (check_sharing(name, two, courses_that_fail(1, 2), chains(with_bridge, rules)), ...);
    };
    const toy_words &same = same_words(), &two = permuted_words();
    check("identity", same, same.identity(), by_rejection, by_block, by_match);
    check("tli", two, two.tli(), by_rejection, by_block);
    check("union", two, two.union_of(), by_rejection);
    check("nested", two, two.nested(), by_rejection, by_block);
    check("slem", two, two.slem(), by_rejection, by_match);
    check("spelling", two, two.spelling(), by_rejection);
}

TEST_CASE("a round beside which is looked up, that failed and goes on, has the target's law",
          "[law]") {
    using lookup_type = suffix_lookup<byte_index&>;
    const auto check = [&](const char* name, const toy_words& two, const auto& with_bridge,
                           const auto& rule, std::size_t drafted) {
        check_lookups(
            name, two, courses_that_teach(drafted, 3 - drafted),
            [&](auto& world, std::size_t t, byte_index& index, acceptance_table& table) {
                const auto beside = [&](std::size_t n, const auto& use) {
                    with_bridge(n, [&](auto bridge) {
                        use(lookup_or_draft<decltype(bridge), lookup_type, words_type,
                                            interval_number>(
                            std::move(bridge),
                            lookup_with<lookup_type, words_type, lookup_turns>{
                                {shared_suffixes(index), two.target, 1},
                                lookup_turns(table, cheap, cheap)},
                            2));
                    });
                };
                beside(drafted, [&](auto bridge) {
                    session decoder(std::move(bridge), rule, session_settings{.capacity = 24},
                                    course_laws{&world.laws_left[t]});
                    decoder.start(encoded(two.target, prompt_text));
                    using world_type = std::remove_reference_t<decltype(world)>;
                    world.texts.push_back(
                        std::make_unique<session_on_course<
                            decltype(decoder), weighted_model<target_id>,
                            typename world_type::drafter_type, coin_of_text<interval_coin>>>(
                            std::move(decoder), world.targets[t], world.drafters[t],
                            world.coin_of(t)));
                });
            });
    };
    static const toy_words two({"a", "b"}, {"b", "a"}), more({"a", "b"}, {"b", "a", "ab"});
    check("tli, lookup", two, two.tli(), by_rejection, 1);
    check("tli, lookup", two, two.tli(), by_block, 1);
    check("slem, lookup", two, two.slem(), by_rejection, 1);
    // The draft ends behind a token of the drafter's own: only others are followed by a pass.
    check("union, lookup", more, more.union_of(), by_rejection, 2);
}

/// A text whose refused rounds the driver lets go, or gives up.
template <class Base>
struct refusing_text final : Base {
    using Base::Base;
    bool gives_up = false;
    std::size_t refused = 0;
    void decide() override {
        try {
            Base::decide();
        } catch (const error&) {
            ++refused;
            if (gives_up)
                Base::abandon();
            throw toy_fault{};
        }
    }
};

enum class driver { lets_go, gives_up };

struct refusals {
    course_law found;
    std::size_t refused = 0;
};
template <class WithBridge>
refusals refused_law(const toy_words& two, const WithBridge& with_bridge, const course& c,
                     driver how) {
    refusals all;
    all.found = law_of(c, [&](interval_coin& coin, const auto& use) {
        sharing_world<> world(two, coin);
        with_bridge(std::size_t{2}, [&](auto bridge) {
            session decoder(std::move(bridge), by_rejection,
                            session_settings{.capacity = 24, .max_proposals = 2},
                            course_laws{&world.laws_left[0]});
            decoder.start(world.prompt_of(0));
            using base =
                session_on_course<decltype(decoder), weighted_model<target_id>,
                                  sharing_world<>::drafter_type, coin_of_text<interval_coin>>;
            auto text = std::make_unique<refusing_text<base>>(std::move(decoder), world.targets[0],
                                                              world.drafters[0], world.coin_of(0));
            text->gives_up = how == driver::gives_up;
            const refusing_text<base>& seen = *text;
            world.texts.push_back(std::move(text));
            use(world);
            all.refused += seen.refused;
            world.texts.clear(); // before the bridge's cache
        });
    });
    return all;
}

TEST_CASE("a refused round is given up where nothing failed before, and else by its driver",
          "[law]") {
    const toy_words joined({"a", "b", "ab"}, {"a", "b"});
    const course_step draft{.what = act::draft, .drafted = 2, .room = 3},
        mine{.drafted = 2, .room = 3}, change{.what = act::change},
        again{.what = act::repeat, .drafted = 2, .room = 3};
    const auto law_of_refused = [&](const auto& with_bridge, std::vector<course_step> steps,
                                    driver how) {
        const course c{1, 1, std::move(steps)};
        const refusals all = refused_law(joined, with_bridge, c, how);
        CHECK_FALSE(all.found.too_many);
        CHECK(all.found.refused.empty());
        CHECK(all.refused > 0);
        return total_variation(all.found.law, wanted(c, joined));
    };
    const auto check = [&](const auto& with_bridge) {
        // Refused once, whatever was drawn: the next draft has another name.
        CHECK(law_of_refused(with_bridge, {draft, change, mine, mine}, driver::lets_go) < exact);
        // A step was repeated, for a reason of its own: the driver may give the round up,
        CHECK(law_of_refused(with_bridge, {draft, again, change, mine, mine}, driver::gives_up) <
              exact);
        // but not where it was the draw that made something fail.
        const course_step failing{.what = act::target_fault, .drafted = 1};
        CHECK(law_of_refused(with_bridge, {failing, mine, change, mine, mine}, driver::gives_up) >
              0.001);
    };
    check(joined.slrs(0));
    check(joined.merge(0, {{{0, 1}, 2}}));
}

TEST_CASE("a round that failed by what was drawn is refused for good where its law has changed",
          "[law]") {
    const toy_words joined({"a", "b", "ab"}, {"a", "b"});
    const auto check = [&](const auto& with_bridge) {
        for (const act what : {act::target_fault, act::fault}) {
            std::size_t rounds = 0, refused = 0;
            enumerate<interval_coin>([&](interval_coin& coin) {
                sharing_world<> world(joined, coin);
                with_bridge(std::size_t{2}, [&](auto bridge) {
                    session decoder(std::move(bridge), by_rejection,
                                    session_settings{.capacity = 24, .max_proposals = 2},
                                    course_laws{&world.laws_left[0]});
                    decoder.start(world.prompt_of(0));
                    session_on_course<decltype(decoder), weighted_model<target_id>,
                                      sharing_world<>::drafter_type, coin_of_text<interval_coin>>
                        text(std::move(decoder), world.targets[0], world.drafters[0],
                             world.coin_of(0));
                    const course_step two{.drafted = 2, .room = 3};
                    world.fault({.what = what, .drafted = 1});
                    try {
                        text.draft(two);
                        text.decide();
                        return; // it did not come to that
                    } catch (const toy_fault&) {
                        ++rounds;
                    }
                    world.change({});
                    for (int i = 0; i < 3; ++i)
                        try {
                            text.draft(two);
                            text.decide();
                        } catch (const error&) {
                            ++refused;
                        }
                });
            });
            CHECK(rounds > 0);
            CHECK(refused == 3 * rounds);
        }
    };
    check(joined.slrs(0));
    check(joined.merge(0, {{{0, 1}, 2}}));
}

TEST_CASE("a round that was decided without a draft is drafted no more", "[law]") {
    // The plain token's number was used where its log-probability failed, say.
    const toy_words& two = same_words();
    const fixed_length two_tokens{2};
    const course c{1, 1, {}};
    course_joint_law law;
    enumerate<interval_coin>([&](interval_coin& coin) {
        sharing_world<> world(two, coin);
        two.identity()(std::size_t{2}, [&](auto bridge) {
            session decoder(std::move(bridge), by_rejection, session_settings{.capacity = 24});
            decoder.start(world.prompt_of(0));
            coin_of_text<interval_coin> own = world.coin_of(0);
            const auto plain = decoder.verify(decoder.score(world.targets[0]), own);
            // A driver that does not like a token drafts, which must not give it another chance.
            if (plain.tokens[0] == target_id{0}) {
                decoder.draft(world.drafters[0], two_tokens, own, 3);
                (void)decoder.verify(decoder.score(world.targets[0]), own);
            }
            decoder.commit(1);
            law[{decoder.tokens().back().value}] += coin.probability();
        });
    });
    CHECK(total_variation(law, wanted(c, two)) < exact);
}

} // namespace redrafts_tests
