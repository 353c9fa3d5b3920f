// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm> // std::ranges::all_of
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <specdec/core/error.hpp>

/// The rules (bridge and verifier) by name.
namespace specdec {

/// A rule: where proposals come from (rule_source) and how they are verified (rule_verifier). Its
/// name and meaning are in `rules`; docs/use/choosing-a-rule.md says which one to use.
enum class rule {
    autoregressive,
    identity,
    identity_block,
    union_of_both,
    tli,
    tli_exact,
    tli_block,
    nested,
    nested_block,
    slem,
    slrs,
    merge,
    merge_paper,
    coupled,
    coupled_slem,
    coupled_spelling,
    lookup,
    recycling,
    number_of_rules ///< no rule: each of those before it has its row in `rules`
};

/// Where a rule's proposals come from: a bridge, and whether it asks a drafter.
enum class rule_source : std::uint8_t {
    none,          ///< no_bridge
    identity,      ///< the drafter's tokens are the target's
    union_of_both, ///< token by token, in the union of the vocabularies
    tli,           ///< token by token, in their intersection
    nested,        ///< the same, with drafts that go on inside a token
    slem,          ///< the draft's text, encoded again
    spelling,      ///< any target token, as the drafter spells it
    slrs,          ///< the distribution of the draft's text in target tokens
    merge,         ///< the same, of merged n-grams
    merge_paper,   ///< as OmniDraft prints it
    lookup,        ///< text that was seen before
    recycling,     ///< the likeliest successors of each token
};

/// What verifies them. Of trees: the rule that is this one on a chain.
enum class rule_verifier : std::uint8_t { exact_match, token_rejection, block, coupled };

/// What is known of a source.
struct source_facts {
    rule_source source;
    bool takes_drafter = true;
    bool equal_vocabularies = false; ///< it asks for them
    bool trees = false;              ///< it makes trees, too
    bool by_target_tokens = false;   ///< its draft length counts target tokens
    bool uses_cache = false;         ///< it merges by the n-gram cache
};

/// All of them, in the order of the enumeration.
inline constexpr std::array rule_sources{
    source_facts{.source = rule_source::none, .takes_drafter = false},
    source_facts{.source = rule_source::identity, .equal_vocabularies = true, .trees = true},
    source_facts{.source = rule_source::union_of_both},
    source_facts{.source = rule_source::tli, .trees = true},
    source_facts{.source = rule_source::nested},
    source_facts{.source = rule_source::slem, .trees = true},
    source_facts{.source = rule_source::spelling},
    source_facts{.source = rule_source::slrs, .by_target_tokens = true},
    source_facts{.source = rule_source::merge, .by_target_tokens = true, .uses_cache = true},
    source_facts{.source = rule_source::merge_paper, .uses_cache = true},
    source_facts{.source = rule_source::lookup, .takes_drafter = false, .by_target_tokens = true},
    source_facts{.source = rule_source::recycling,
                 .takes_drafter = false,
                 .trees = true,
                 .by_target_tokens = true},
};

/// A rule: a source and a verifier, by name.
struct named_rule {
    specdec::rule rule;
    std::string_view name;
    std::string_view what;
    rule_source source;
    rule_verifier verifier;
    bool lossless = true;
};

/// All of them, in the order of the enumeration.
inline constexpr std::array rules{
    named_rule{rule::autoregressive, "autoregressive", "no drafter", rule_source::none,
               rule_verifier::exact_match},
    named_rule{rule::identity, "identity", "equal vocabularies, token rejection",
               rule_source::identity, rule_verifier::token_rejection},
    named_rule{rule::identity_block, "identity-block", "equal vocabularies, block verification",
               rule_source::identity, rule_verifier::block},
    named_rule{rule::union_of_both, "union", "union of the vocabularies, token rejection",
               rule_source::union_of_both, rule_verifier::token_rejection},
    named_rule{rule::tli, "tli", "token-level intersection, token rejection", rule_source::tli,
               rule_verifier::token_rejection},
    named_rule{rule::tli_exact, "tli-exact", "token-level intersection, exact match",
               rule_source::tli, rule_verifier::exact_match},
    named_rule{rule::tli_block, "tli-block", "token-level intersection, block verification",
               rule_source::tli, rule_verifier::block},
    named_rule{rule::nested, "nested", "nested token-level intersection, token rejection",
               rule_source::nested, rule_verifier::token_rejection},
    named_rule{rule::nested_block, "nested-block",
               "nested token-level intersection, block verification", rule_source::nested,
               rule_verifier::block},
    named_rule{rule::slem, "slem", "string-level exact match", rule_source::slem,
               rule_verifier::exact_match},
    named_rule{rule::slrs, "slrs", "string-level rejection sampling", rule_source::slrs,
               rule_verifier::token_rejection},
    named_rule{rule::merge, "merge", "merged n-grams, their exact distribution, token rejection",
               rule_source::merge, rule_verifier::token_rejection},
    named_rule{rule::merge_paper, "merge-paper",
               "merged n-grams, the distribution as OmniDraft prints it: approximate",
               rule_source::merge_paper, rule_verifier::token_rejection, false},
    named_rule{rule::coupled, "coupled", "token-level intersection, shared noise", rule_source::tli,
               rule_verifier::coupled},
    named_rule{rule::coupled_slem, "coupled-slem", "retokenised text, shared noise",
               rule_source::slem, rule_verifier::coupled},
    named_rule{rule::coupled_spelling, "coupled-spelling",
               "any target token as the drafter spells it, shared noise", rule_source::spelling,
               rule_verifier::coupled},
    named_rule{rule::lookup, "lookup", "prompt lookup, no drafter, exact match",
               rule_source::lookup, rule_verifier::exact_match},
    named_rule{rule::recycling, "recycling",
               "the target's likeliest successors of each token, no drafter, exact match",
               rule_source::recycling, rule_verifier::exact_match},
};

/// Whether each row stands where its enumerator says.
[[nodiscard]] consteval bool rules_are_in_order() {
    for (std::size_t i = 0; i < rules.size(); ++i)
        if (static_cast<std::size_t>(rules[i].rule) != i)
            return false;
    for (std::size_t i = 0; i < rule_sources.size(); ++i)
        if (static_cast<std::size_t>(rule_sources[i].source) != i)
            return false;
    return true;
}
static_assert(rules.size() == static_cast<std::size_t>(rule::number_of_rules),
              "every rule has a row in `rules`: its name, source and verifier");
static_assert(std::ranges::all_of(rules,
                                  [](const named_rule& r) {
                                      return static_cast<std::size_t>(r.source) <
                                             rule_sources.size();
                                  }),
              "every source of a rule has a row in `rule_sources`: what is known of it");
static_assert(rules_are_in_order(), "rows stand in the order of their enumeration");

/// The names of all rules, or of those that are wanted: rule_names(can_draft_trees).
[[nodiscard]] inline std::string rule_names(bool (*wanted)(rule) = nullptr) {
    std::string names;
    for (const named_rule& r : rules)
        if (wanted == nullptr || wanted(r.rule))
            names += (names.empty() ? "" : ", ") + std::string(r.name);
    return names;
}

/// Errors: specdec::error for a number that is no rule.
constexpr void validate(rule r) {
    if (static_cast<std::size_t>(r) >= rules.size())
        fail("rule", std::to_string(static_cast<std::size_t>(r)),
             "expected one of " + rule_names());
}

/// What is known of a rule. Errors: as validate.
[[nodiscard]] constexpr const named_rule& about(rule r) {
    validate(r);
    return rules[static_cast<std::size_t>(r)];
}

/// What is known of a rule's source. Errors: as validate.
[[nodiscard]] constexpr const source_facts& source_of(rule r) {
    return rule_sources[static_cast<std::size_t>(about(r).source)];
}

/// The rule of that name. `source` is for errors: the flag or field that named it. Errors:
/// specdec::error that lists the rules there are.
[[nodiscard]] inline named_rule rule_of(std::string_view name, const std::string& source = "rule") {
    for (const named_rule& r : rules)
        if (r.name == name)
            return r;
    fail(source, std::string(name), "expected one of " + rule_names());
}

/// The rule that keeps most of what is drafted at a price that is worth it
/// (docs/use/choosing-a-rule.md): greedy text is the drafter's own words, whatever tokens they are;
/// of sampled text the words seldom come out the same twice, but shared tokens have laws that
/// overlap. Block verification accepts at least as many tokens of a draft as token rejection, and
/// as many of one token. Without a drafter what was said before is looked up: that costs nothing,
/// and leaves the text of every seed as it is.
[[nodiscard]] constexpr rule default_rule(bool drafter, bool equal_vocabularies,
                                          float temperature) {
    if (!drafter)
        return rule::lookup;
    if (equal_vocabularies)
        return temperature == 0 ? rule::identity : rule::identity_block;
    return temperature == 0 ? rule::slem : rule::tli_block;
}

/// Whether the rule has use for a drafter's model.
[[nodiscard]] constexpr bool takes_drafter(rule r) {
    return source_of(r).takes_drafter;
}

/// Whether the rule keeps of a drafter's tokens those that the target draws, too (exact match): its
/// text for a seed is that of decoding without a drafter.
[[nodiscard]] constexpr bool matches_exactly(rule r) {
    return takes_drafter(r) && about(r).verifier == rule_verifier::exact_match;
}

/// The share of first draft tokens that rules usually keep: where draft lengths begin to learn.
/// Exact match above temperature 0 keeps what comes out the same twice.
[[nodiscard]] constexpr double default_acceptance(rule r, float temperature) {
    if (temperature == 0)
        return 0.6;
    return matches_exactly(r) ? 0.2 : 0.3;
}

/// Whether the rule draws with shared noise: its text for a seed is that of coupled decoding
/// without a drafter.
[[nodiscard]] constexpr bool is_coupled(rule r) {
    return about(r).verifier == rule_verifier::coupled;
}

/// Whether the rule asks for equal vocabularies. Its drafter has the text token for token as the
/// target has it.
[[nodiscard]] constexpr bool takes_equal_vocabularies(rule r) {
    return source_of(r).equal_vocabularies;
}

/// Whether the rule drafts trees, too: where draft tokens are proposals as they are, or their text.
[[nodiscard]] constexpr bool can_draft_trees(rule r) {
    return source_of(r).trees;
}

/// Whether the rule's draft length counts target tokens.
[[nodiscard]] constexpr bool by_target_tokens(rule r) {
    return source_of(r).by_target_tokens;
}

/// The most draft tokens of a draft of that length. Where it counts target tokens, each takes
/// several to spell, and some more to be certain. (What is looked up is target tokens already.)
[[nodiscard]] constexpr std::size_t draft_tokens(rule r, std::size_t draft_length) {
    return by_target_tokens(r) && takes_drafter(r) && draft_length > 0 ? 4 * draft_length + 4
                                                                       : draft_length;
}

/// Whether the rule merges by the n-gram cache.
[[nodiscard]] constexpr bool uses_cache(rule r) {
    return source_of(r).uses_cache;
}

} // namespace specdec
