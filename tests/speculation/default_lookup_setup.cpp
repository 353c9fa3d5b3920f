// SPDX-License-Identifier: MIT
// Lookup beside a drafter, through speculation: every rule, chains and trees.
#include <specdec/speculation/default_lookup_setup.hpp>

#include <cstddef>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "support/weighted_pair.hpp"

using namespace specdec;
using namespace specdec::testing;
using Catch::Contains;

namespace default_lookup_setup_tests {

decode_settings with(rule how, float temperature, std::uint64_t seed = 0) {
    decode_settings s{.rule = how, .lengths = {.kind = length_kind::fixed, .length = 3}};
    s.seed = seed;
    s.sampling.temperature = temperature;
    s.limits.max_tokens = 40;
    s.lookup = {.beside = true, .shared = false};
    return s;
}
const std::string prompt = "abcabcaabcabca";

TEST_CASE("lookup beside: greedy text is the target's own under every rule") {
    for (const bool equal : {true, false}) {
        weighted_pair toys(equal);
        const decode_result alone = toys.pair.generate(prompt, with(rule::autoregressive, 0));
        CHECK(alone.counts.looked_up == 0);
        for (const named_rule& r : rules)
            for (const bool tree : {false, true}) {
                if (!takes_drafter(r.rule) || !toys.pair.applies(r.rule) || !r.lossless ||
                    (tree && !can_draft_trees(r.rule)))
                    continue;
                decode_settings s = with(r.rule, 0);
                if (tree)
                    s.tree = tree_drafts{.nodes = 4, .costs = cost_table{}};
                CAPTURE(std::string(r.name), tree);
                const decode_result text = toys.pair.generate(prompt, s);
                CHECK(text.text == alone.text);
                CHECK(text.counts.looked_up > 0);
                CHECK(text.counts.looked_up_accepted <= text.counts.accepted);
                CHECK(text.counts.rounds < alone.counts.rounds);
                s.lookup.beside = false;
                CHECK(toys.pair.generate(prompt, s).counts.looked_up == 0);
            }
    }
}

TEST_CASE("lookup beside: rules that draw the target's own tokens give the text of a seed") {
    weighted_pair toys(false);
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
        decode_settings plain = with(rule::autoregressive, 1, seed);
        const decode_result own = toys.pair.generate(prompt, plain);
        plain.shared_noise = true;
        const decode_result coupled = toys.pair.generate(prompt, plain);
        for (const rule how : {rule::tli_exact, rule::slem, rule::coupled, rule::coupled_slem,
                               rule::coupled_spelling}) {
            CAPTURE(std::string(about(how).name), seed);
            CHECK(toys.pair.generate(prompt, with(how, 1, seed)).text ==
                  (is_coupled(how) ? coupled : own).text);
        }
    }
}

TEST_CASE("lookup beside: automatic lengths, given costs, both speak") {
    weighted_pair toys(false);
    decode_settings s = with(rule::tli, 0);
    s.lengths = {.costs = cost_table{{1, 1.05, 1.1, 1.15, 1.2, 1.25, 1.3, 1.35, 1.4}, 0.1, 0.01}};
    s.limits.max_tokens = 60;
    const decode_result alone = toys.pair.generate(prompt, with(rule::autoregressive, 0));
    const decode_result text = toys.pair.generate(prompt, s);
    CHECK(text.text.starts_with(alone.text));
    CHECK(text.counts.looked_up > 0);
    CHECK_THAT(toys.pair.explain(s), Contains("Prompt lookup proposes, too."));
    struct : listener {
        std::size_t found = 0;
        bool bytes(std::string_view text, token_origin origin) override {
            found += origin == token_origin::looked_up ? text.size() : 0;
            return true;
        }
    } reader;
    (void)toys.pair.generate(prompt, s, &reader);
    CHECK(reader.found > 0);
}

} // namespace default_lookup_setup_tests
