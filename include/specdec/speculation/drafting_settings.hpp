// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include <specdec/core/error.hpp>
#include <specdec/speculation/rule.hpp>
#include <specdec/speculation/text.hpp>
#include <specdec/speculation/tree/tree_drafts.hpp>

namespace specdec {

/// The settings as the rule takes them: without a drafter's model there are no trees, and where
/// there are they say how long a draft is.
[[nodiscard]] inline decode_settings drafting_settings(decode_settings s, rule how) {
    if (!takes_drafter(how))
        s.tree.reset();
    if (s.tree) {
        const any_tree_shape shape(*s.tree, s.sampling.temperature);
        s.lengths = {.kind = length_kind::fixed, .length = shape.settings().max_depth};
    }
    return s;
}

/// Requires a rule and models with which drafts can be trees. Errors: specdec::error.
template <class Targets, class Drafters>
void require_trees(rule how, const Targets& targets, const Drafters& drafters) {
    if (!can_draft_trees(how))
        fail("tree", std::string(about(how).name),
             "expected identity, identity-block, tli, tli-block, tli-exact or coupled, whose draft "
             "tokens are proposals as they are");
    if (!targets.scores_trees() || !drafters.scores_trees())
        fail("tree", targets.scores_trees() ? "drafter" : "target",
             "expected a model that scores trees (core/model/tree_scoring.hpp)");
}

} // namespace specdec
