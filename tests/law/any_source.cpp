// SPDX-License-Identifier: MIT
// What ships: sessions of a source and a verifier that are chosen at run time have the target's
// distribution, with every bridge under every lossless rule.
#include <specdec/source/any_source.hpp>

#include <cstdint>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include <specdec/speculation/any/any_verifier.hpp>

#include "session_law.hpp"
#include "toy_bridges.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace any_source_tests {

constexpr std::size_t length = 3;
using source_type = any_source<interval_coin>;

/// The distribution of the first tokens of a sequence, over as many rounds as they take.
template <class WithBridge>
joint_law law_of(row_tree& p, row_tree& q, const WithBridge& with_bridge,
                 const any_verifier& rule) {
    return on_every_path([&](interval_coin& coin) {
        sequence text;
        toy_models{p, q}(coin, [&](auto& target, auto& drafter) {
            with_bridge(2, [&](auto bridge) {
                session decoder(source_type(std::move(bridge), drafter), rule,
                                session_settings{.capacity = 16});
                decoder.start(std::vector{target_id{0}}, std::vector{draft_id{0}});
                no_drafter bound;
                const length_rule stop(fixed_length{2});
                while (decoder.tokens().size() < length + 1) {
                    const std::size_t room = length + 1 - decoder.tokens().size();
                    decoder.commit(decoder.round(target, bound, stop, coin, room).tokens.size());
                }
                text = values_of(decoder.tokens().subspan(1, length));
            });
        });
        return text;
    });
}

template <class WithBridge>
void check(const char* name, const toy_words& two, const WithBridge& with_bridge) {
    const std::vector<any_verifier> rules{by_rejection, by_block, by_match, by_coupling(two.keys)};
    std::uint64_t seed = 70;
    for (const any_verifier& rule : rules)
        for (const row_kind kind : {row_kind::random, row_kind::zeros}) {
            CAPTURE(name, seed);
            row_tree p(toy_rows(kind, two.target_size(), ++seed));
            row_tree q(toy_rows(row_kind::random, two.draft_size(), ++seed));
            CHECK(total_variation(law_of(p, q, with_bridge, rule), target_alone(p, length)) <
                  exact);
        }
}

TEST_CASE("sources chosen at run time have the target's law, token by token", "[law]") {
    check("tli", permuted_words(), permuted_words().tli());
    check("union", permuted_words(), permuted_words().union_of());
    check("nested", twofold_words(), twofold_words().nested());
}

TEST_CASE("sources chosen at run time have the target's law, by strings", "[law]") {
    check("slem", twofold_words(), twofold_words().slem());
    check("slrs", twofold_words(), twofold_words().slrs(0));
    check("spelling", twofold_words(), twofold_words().spelling());
}

} // namespace any_source_tests
