// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdio>
#include <string>

#include <specdec/draft/cost_table.hpp>
#include <specdec/speculation/decoder.hpp>
#include <specdec/speculation/length_settings.hpp>
#include <specdec/speculation/rule.hpp>

namespace specdec {

/// A number of the decimals that people read.
[[nodiscard]] inline std::string in_words(double value, int decimals) {
    char text[64];
    std::snprintf(text, sizeof text, "%.*f", decimals, value);
    return text;
}

/// What passes of the target over several positions cost.
[[nodiscard]] inline std::string explain_passes(const cost_table& costs,
                                                std::string text = "Passes over") {
    for (const std::size_t n : {2U, 3U, 5U})
        if (n <= costs.pass.size())
            text += (n == 2 ? " " : ", ") + std::to_string(n);
    text += " positions cost";
    for (const std::size_t n : {2U, 3U, 5U})
        if (n <= costs.pass.size())
            text += (n == 2 ? " " : ", ") + in_words(costs.pass[n - 1], 2);
    return text + " of one.";
}

/// What drafts cost, and from which acceptance on a draft of one token pays.
[[nodiscard]] inline std::string explain(const cost_table& costs) {
    std::string text =
        explain_passes(costs, "A draft token costs " + in_words(costs.draft, 2) +
                                  " of a pass of the target over one position; passes over");
    if (costs.replay > 0)
        text += " A rejection costs " + in_words(costs.replay, 2) +
                " more for each accepted token, which the target is fed again.";
    const double least = costs.draft + costs.replay + costs.pass_over(2) - costs.pass_over(1);
    const double gained = costs.pass_over(1) + costs.replay;
    text += least < gained ? " One draft token a round pays where more than " +
                                 in_words(std::ceil(100 * least / gained), 0) + " % are accepted."
                           : " One draft token a round never pays: it costs more than it can gain.";
    return text;
}

/// How long drafts of a rule are.
[[nodiscard]] inline std::string explain(const length_settings& s, rule how) {
    const std::size_t longest = takes_drafter(how) ? s.length : longest_lookup(s);
    const std::string most = std::to_string(longest) +
                             (by_target_tokens(how) ? " target" : " draft") +
                             (longest == 1 ? " token" : " tokens");
    const std::string threshold = in_words(s.threshold, 2);
    switch (s.kind) {
    case length_kind::automatic:
        return "Drafts are as long as pays, at most " + most +
               "; there are none while drafting loses.";
    case length_kind::confidence:
        return "A draft ends after a token that the drafter gives less than " + threshold +
               ", at most " + most + " long.";
    case length_kind::entropy:
        return "A draft ends where AdaEDL's bound falls below " + threshold + ", at most " + most +
               " long.";
    case length_kind::heuristic:
        return "Drafts grow by 2 when all is accepted, else they shrink by 1; at most " + most +
               ".";
    case length_kind::predicted:
        return "A draft ends where something of it is rejected with a predicted chance above " +
               threshold + ", at most " + most + " long.";
    case length_kind::fixed:
        break;
    }
    return s.length == 0 ? "Nothing is drafted." : "Drafts have " + most + ".";
}

/// What trees a text drafts.
[[nodiscard]] inline std::string explain(const tree_drafts& s, float temperature) {
    const any_tree_shape shape(s, temperature);
    const tree_settings& of = shape.settings();
    return "Drafts are trees of at most " + std::to_string(of.max_nodes) + " tokens, " +
           std::to_string(of.max_depth) + " deep; siblings are " +
           (of.siblings == sibling_draw::likeliest     ? "the likeliest tokens."
            : of.siblings == sibling_draw::independent ? "drawn each alone."
                                                       : "drawn without replacement.");
}

/// What a pair will do under these settings, and why. Measures the costs of drafts where automatic
/// lengths need them.
[[nodiscard]] inline std::string explain(decoder& pair, const decode_settings& s) {
    const rule how = pair.rule_for(s);
    validate(s.sampling);
    validate(s.lengths);
    const id_map* const map = pair.map();
    std::string text = std::string(about(how).name) + ": " + std::string(about(how).what) +
                       (about(how).lossless ? ", lossless.\n" : ", NOT lossless.\n");
    if (!pair.applies(how))
        return text + "This pair cannot follow it.\n";
    const bool trees = s.tree && (takes_drafter(how) || can_draft_trees(how));
    if (trees && !can_draft_trees(how))
        return text + "This rule does not draft trees.\n";
    const bool automatic = s.lengths.kind == length_kind::automatic && !trees;
    if (!takes_drafter(how) && how != rule::autoregressive)
        return text +
               (s.rule ? ""
                       : "Chosen for a target without a drafter: looking up costs nothing.\n") +
               (trees ? explain(*s.tree, 0) : explain(s.lengths, how)) + "\n" +
               (automatic ? explain_passes(*pair.costs_of(s.lengths)) + "\n" : "");
    if (!s.rule && map != nullptr)
        text += map->draft_fingerprint() == map->target_fingerprint()
                    ? "Chosen for two equal vocabularies.\n"
                : s.sampling.temperature == 0
                    ? "Chosen at temperature 0: it accepts the drafter's text where it is right, "
                      "however it is cut into tokens.\n"
                    : "Chosen above temperature 0: on shared tokens the two distributions overlap "
                      "most.\n";
    if (how == rule::autoregressive)
        return text;
    text += std::to_string(map->shared()) + " of the drafter's " +
            std::to_string(pair.draft_table()->size()) + " tokens are among the target's " +
            std::to_string(pair.target_table().size()) + ".\n" +
            (trees ? explain(*s.tree, s.sampling.temperature) : explain(s.lengths, how)) + "\n" +
            (s.lookup.beside ? "Prompt lookup proposes, too.\n" : "");
    if (pair.drafter_context() < pair.target_models().capacity())
        text +=
            "Of a context of more than " + std::to_string(pair.drafter_context()) +
            " tokens the drafter reads a window of so many: the oldest are dropped in blocks.\n";
    if (automatic)
        text += explain(*pair.costs_of(s.lengths)) + "\n";
    return text;
}

} // namespace specdec
