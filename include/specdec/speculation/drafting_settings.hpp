// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include <specdec/core/error.hpp>
#include <specdec/process/log_probabilities.hpp>
#include <specdec/speculation/rule.hpp>
#include <specdec/speculation/sequence_pool.hpp>
#include <specdec/speculation/side.hpp>
#include <specdec/speculation/text.hpp>
#include <specdec/speculation/tree/tree_drafts.hpp>
#include <specdec/vocab/table/id_map.hpp>

namespace specdec {

/// The settings as the rule takes them: without a drafter's model there are no trees, and where
/// there are they say how long a draft is. Errors: as validate.
[[nodiscard]] inline decode_settings drafting_settings(decode_settings s, rule how) {
    validate(how);
    validate(s.sampling);
    if (!takes_drafter(how) && !can_draft_trees(how))
        s.tree.reset();
    if (s.tree) {
        if (!takes_drafter(how)) // nothing is drawn
            s.tree->siblings = sibling_draw::likeliest;
        if (s.tree->needs_costs() && s.lengths.costs)
            s.tree->costs = s.lengths.costs;
        const any_tree_shape shape(*s.tree, s.sampling.temperature);
        s.lengths = {.kind = length_kind::fixed, .length = shape.settings().max_depth};
    }
    validate(s.lengths);
    return s;
}

/// The likeliest tokens of each place whose log-probabilities are told. Errors: specdec::error for
/// more than there are.
[[nodiscard]] inline std::size_t likeliest_of(const decode_settings& s, std::size_t vocabulary) {
    if (s.log_probabilities && *s.log_probabilities > vocabulary)
        fail("log probabilities", "likeliest",
             "expected at most the " + std::to_string(vocabulary) + " tokens of the vocabulary");
    return s.log_probabilities.value_or(no_log_probabilities);
}

/// A drafter, and the way from its vocabulary to the target's.
struct drafting_side {
    speculation_side<draft_id>& side;
    drafter_rows& rows;
    const id_map& map;
    sequence_pool& seats;
    std::size_t sequence; ///< the free one that the text gets
};

/// Whether the costs of drafts have to be measured for texts of these settings.
[[nodiscard]] inline bool needs_costs(const decode_settings& s, rule how) {
    if (s.tree)
        return s.tree->needs_costs();
    return how != rule::autoregressive && s.lengths.kind == length_kind::automatic &&
           !s.lengths.costs;
}

/// Says why a pair, or a target alone, cannot follow a rule. Errors: specdec::error, always.
[[noreturn]] inline void refuse_rule(rule how, bool drafter) {
    fail("rule", std::string(about(how).name),
         !drafter                        ? "expected a drafter, found none"
         : takes_equal_vocabularies(how) ? "expected equal vocabularies"
                                         : "expected `identity`: the drafter reads features");
}

/// Requires a rule and models with which drafts can be trees; no drafter: null. Errors:
/// specdec::error.
template <class Targets, class Drafters>
void require_trees(rule how, const Targets& targets, const Drafters* drafters) {
    if (!can_draft_trees(how))
        fail("tree", std::string(about(how).name), "expected " + rule_names(can_draft_trees));
    if (!targets.scores_trees() || (drafters != nullptr && !drafters->scores_trees()))
        fail("tree", targets.scores_trees() ? "drafter" : "target",
             "expected a model that scores trees (core/model/tree_scoring.hpp)");
}

} // namespace specdec
