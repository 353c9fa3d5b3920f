// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "support/any_cache.hpp"
#include "support/lengths.hpp"
#include "support/rules.hpp"
#include <specdec/decode/batch.hpp>
#include <specdec/decode/statistics.hpp>
#include <specdec/decode/text_run.hpp>
#include <specdec/process/log_probabilities.hpp>
#include <specdec/sampling/parameters.hpp>
#include <specdec/vocab/vocabulary.hpp>

/// What the programs see of a loaded pair of models: nothing of any engine.
namespace specdec::examples {

struct decode_settings {
    rule how = rule::autoregressive;
    sampling_parameters sampling; ///< of both sides
    length_settings lengths{};
    double lightest_draft = 0.02; ///< slrs, merge: less likely drafts go on no further; 0: they do
    std::uint64_t seed = 0;
    bool shared_noise = false;   ///< of the autoregressive rule: draw as the coupled rules do
    bool check_grouping = false; ///< count what scoring positions together changes (slow)
    generation_limits limits;
    /// Of every token, and so many of the likeliest beside it; nothing: not asked for.
    std::optional<std::size_t> log_probabilities{};
};

/// A token of a text, under the target's row as it was (temperature 1, no cutoffs).
struct token_report {
    token_log_probability chosen;
    std::vector<token_log_probability> likeliest;
};

/// Rounds in which scoring all positions together made another greedy choice than scoring each
/// alone.
struct grouping_counts {
    std::size_t rounds = 0, changed = 0;
    float widest_margin = 0;      ///< between the two best logits, where the choice changed
    float largest_difference = 0; ///< of a logit
};

struct decode_result {
    std::string text;
    std::vector<target_id> tokens; ///< produced and committed, an end token included
    finish_reason finish = finish_reason::cancelled;
    statistics counts;
    double seconds = 0; ///< prompt and text, without loading; of several side by side: of all
    std::vector<std::size_t> extra_forwards{}; ///< by round, of the rules that look at more drafts
    std::size_t first_rows_known = 0;          ///< rounds that began without a forward
    std::vector<token_report> log_probabilities{}; ///< of the tokens, if they were asked for
};

/// Follows a text while it is made; either function may return false to cancel.
struct listener {
    virtual ~listener() = default;
    virtual bool bytes(std::string_view, token_origin) { return true; }
    virtual bool round(const round_result&) { return true; }
};

/// What people want to read about a model.
struct model_facts {
    std::string name;
    std::size_t parameters = 0;
    std::size_t vocabulary = 0;
};
/// How an engine computes.
struct compute_facts {
    std::string precision; ///< of products or of weights: "bf16", "Q4_1"
    std::string kernel;    ///< what does it: instructions, an engine's version
    std::size_t threads = 1;
    bool rows_depend_on_grouping = false; ///< on how many positions are scored together
};
struct pair_facts {
    model_facts target;
    std::optional<model_facts> drafter;
    compute_facts computing; ///< the target's
    std::size_t shared = 0;  ///< draft tokens that have a target token
    bool equal_vocabularies = false;
};

/// A text that is asked for.
struct text_request {
    std::span<const target_id> prompt;
    std::uint64_t sequence = 0; ///< texts of one seed that shall differ have different ones
    std::string where{};        ///< the prompt came from, for errors
    listener* reader = nullptr; ///< or nobody
};

/// What came of several texts.
struct decode_results {
    std::vector<decode_result> texts; ///< as they were asked for
    double seconds = 0;               ///< prompts and texts, without loading
    batch_counts passes{};
    grouping_counts grouping{};
};

class decoder {
public:
    virtual ~decoder() = default;

    [[nodiscard]] virtual const pair_facts& facts() const = 0;
    [[nodiscard]] virtual const vocabulary& target_table() const = 0;
    [[nodiscard]] virtual const vocabulary* draft_table() const = 0; ///< null without a drafter
    /// The token that the target wants at the beginning of every text.
    [[nodiscard]] virtual std::optional<target_id> begin_token() const = 0;
    virtual void encode(std::string_view text, text_position where,
                        std::vector<target_id>& out) const = 0;

    /// Texts that the pair was loaded to hold side by side.
    [[nodiscard]] virtual std::size_t sequences() const = 0;

    /// Decodes texts from empty contexts, as many side by side as the pair holds. After a signal
    /// (interrupt.hpp) they end at the next round, and those that were still to come are empty, all
    /// of them cancelled. Errors:
    /// specdec::error for a prompt that is empty or does not fit and for a rule that the pair
    /// cannot follow; what the engine throws.
    [[nodiscard]] virtual decode_results run(std::span<const text_request> texts,
                                             const decode_settings& settings) = 0;

    /// What automatic draft lengths go by: measured when first asked for. Null without a drafter.
    [[nodiscard]] virtual const cost_table* costs() = 0;

    /// What the n-gram rules remember from text to text, also of texts side by side; null before
    /// any of them has run.
    [[nodiscard]] virtual const any_cache* cache() const = 0;

    /// Minus the logarithm of the probability of the text behind the prompt under the target.
    [[nodiscard]] virtual double surprise(std::span<const target_id> prompt,
                                          std::span<const target_id> text,
                                          const sampling_parameters& sampling) = 0;
};

/// Whether the pair can follow the rule.
[[nodiscard]] inline bool applies(rule r, const pair_facts& facts) {
    if (r == rule::autoregressive)
        return true;
    return facts.drafter && (r != rule::identity || facts.equal_vocabularies);
}

[[nodiscard]] constexpr std::string_view name(finish_reason reason) {
    constexpr std::string_view names[] = {"end_token", "stop_string", "max_tokens", "context_full",
                                          "cancelled"};
    return names[static_cast<std::size_t>(reason)];
}

[[nodiscard]] constexpr std::string_view name(no_draft reason) {
    constexpr std::string_view names[no_draft_reasons] = {
        "none",         "no_drafter",     "stop_rule",     "no_room",
        "drafter_full", "nothing_shared", "nothing_to_say"};
    return names[static_cast<std::size_t>(reason)];
}

} // namespace specdec::examples
