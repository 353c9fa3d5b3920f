// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include <specdec/core/error.hpp>

/// The rules (bridge and verifier) by name.
namespace specdec {

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
};

struct named_rule {
    specdec::rule rule;
    std::string_view name;
    std::string_view what;
    bool lossless = true;
};

/// All of them, in the order of the enumeration.
inline constexpr std::array rules{
    named_rule{rule::autoregressive, "autoregressive", "no drafter"},
    named_rule{rule::identity, "identity", "equal vocabularies, token rejection"},
    named_rule{rule::identity_block, "identity-block", "equal vocabularies, block verification"},
    named_rule{rule::union_of_both, "union", "union of the vocabularies, token rejection"},
    named_rule{rule::tli, "tli", "token-level intersection, token rejection"},
    named_rule{rule::tli_exact, "tli-exact", "token-level intersection, exact match"},
    named_rule{rule::tli_block, "tli-block", "token-level intersection, block verification"},
    named_rule{rule::nested, "nested", "nested token-level intersection, token rejection"},
    named_rule{rule::nested_block, "nested-block",
               "nested token-level intersection, block verification"},
    named_rule{rule::slem, "slem", "string-level exact match"},
    named_rule{rule::slrs, "slrs", "string-level rejection sampling"},
    named_rule{rule::merge, "merge", "merged n-grams, their exact law, token rejection"},
    named_rule{rule::merge_paper, "merge-paper",
               "merged n-grams, the law as OmniDraft prints it: approximate", false},
    named_rule{rule::coupled, "coupled", "token-level intersection, shared noise"},
    named_rule{rule::coupled_slem, "coupled-slem", "retokenised text, shared noise"},
    named_rule{rule::coupled_spelling, "coupled-spelling",
               "any target token as the drafter spells it, shared noise"},
    named_rule{rule::lookup, "lookup", "text that was seen before, no drafter, exact match"},
    named_rule{rule::recycling, "recycling",
               "the target's likeliest successors of each token, no drafter, exact match"},
};

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
/// overlap. Without a drafter what was said before is looked up: that costs nothing, and leaves the
/// text of every seed as it is.
[[nodiscard]] constexpr rule default_rule(bool drafter, bool equal_vocabularies,
                                          float temperature) {
    if (!drafter)
        return rule::lookup;
    if (equal_vocabularies)
        return rule::identity;
    return temperature == 0 ? rule::slem : rule::tli;
}

/// Whether the rule keeps of a drafter's tokens those that the target draws, too (exact match): its
/// text for a seed is that of decoding without a drafter.
[[nodiscard]] constexpr bool matches_exactly(rule r) {
    return r == rule::slem || r == rule::tli_exact;
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
    return r == rule::coupled || r == rule::coupled_slem || r == rule::coupled_spelling;
}

/// Whether the rule asks for equal vocabularies. Its drafter has the text token for token as the
/// target has it.
[[nodiscard]] constexpr bool takes_equal_vocabularies(rule r) {
    return r == rule::identity || r == rule::identity_block;
}

/// Whether the rule has use for a drafter's model.
[[nodiscard]] constexpr bool takes_drafter(rule r) {
    return r != rule::autoregressive && r != rule::lookup && r != rule::recycling;
}

/// Whether the rule drafts trees, too: where draft tokens are proposals as they are, or their text.
[[nodiscard]] constexpr bool can_draft_trees(rule r) {
    return takes_equal_vocabularies(r) || r == rule::recycling || r == rule::tli ||
           r == rule::tli_exact || r == rule::tli_block || r == rule::slem || r == rule::coupled ||
           r == rule::coupled_slem;
}

/// Whether the rule's draft length counts target tokens.
[[nodiscard]] constexpr bool by_target_tokens(rule r) {
    return r == rule::slrs || r == rule::merge || r == rule::lookup || r == rule::recycling;
}

/// The most draft tokens of a draft of that length. Where it counts target tokens, each takes
/// several to spell, and some more to be certain. (What is looked up is target tokens already.)
[[nodiscard]] constexpr std::size_t draft_tokens(rule r, std::size_t draft_length) {
    return by_target_tokens(r) && takes_drafter(r) && draft_length > 0 ? 4 * draft_length + 4
                                                                       : draft_length;
}

/// Whether the rule merges by the n-gram cache.
[[nodiscard]] constexpr bool uses_cache(rule r) {
    return r == rule::merge || r == rule::merge_paper;
}

} // namespace specdec
