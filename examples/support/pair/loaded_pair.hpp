// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "support/pair/counted_drafter.hpp"
#include "support/pair/grouping_check.hpp"
#include "support/program/interrupt.hpp"
#include <specdec/head/routed_head.hpp>
#include <specdec/sampling/law/softmax_law.hpp>
#include <specdec/speculation/decoder.hpp>

/// What the programs see of a loaded pair of models: nothing of any engine.
namespace specdec::examples {

/// What people want to read about a model.
struct model_facts {
    std::string name;
    std::size_t parameters = 0;
    std::size_t vocabulary = 0;
    /// Of the weights that a position reads, head included; 0: the engine does not tell.
    std::size_t forward_bytes = 0;
    std::size_t head_tokens = 0; ///< that a part of the head computes; 0: all of it is computed
    bool default_head = false;   ///< that part is the list beside the drafter, which nobody named
    /// The longest context that its file names; 0: it names none. A model may have been trained on
    /// shorter texts.
    std::size_t longest_context = 0;
    /// Rows that each of its exits gave so far, the model's own; empty: it has none.
    std::span<const std::uint64_t> exit_rows{};
    const routed_counts* routed = nullptr; ///< of its routed head; null: it has none
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

    /// What a position of the drafter reads of the weights, in positions of the target (VocabTrim's
    /// c, by bytes); nothing where an engine does not tell.
    [[nodiscard]] std::optional<double> relative_size() const {
        if (!drafter || drafter->forward_bytes == 0 || target.forward_bytes == 0)
            return std::nullopt;
        return static_cast<double>(drafter->forward_bytes) /
               static_cast<double>(target.forward_bytes);
    }
};

/// A decoder, and what is known of its models.
struct loaded_pair {
    std::shared_ptr<counted_drafter> counts{}; ///< null: without counts
    std::unique_ptr<decoder> texts;
    pair_facts facts;
    std::shared_ptr<grouping_watch> grouping;

    [[nodiscard]] decoder* operator->() const { return texts.get(); }
    [[nodiscard]] decoder& operator*() const { return *texts; }

    /// Minus the logarithm of the probability of the text behind the prompt under the target.
    [[nodiscard]] double surprise(std::span<const target_id> prompt,
                                  std::span<const target_id> text,
                                  const sampling_parameters& sampling) const {
        constexpr std::size_t rows_a_pass = 64;
        one_sequence<target_id, any_batch_model<target_id>> model(texts->target_models(), 0);
        std::vector<target_id> fed(prompt.begin(), prompt.end());
        fed.insert(fed.end(), text.begin(), text.end());
        const std::size_t known = prompt.size() - 1; // the prompt's last gives the first row
        model.truncate(0);
        if (known > 0)
            model.append({fed.data(), known});
        double sum = 0;
        for (std::size_t done = 0; done < text.size();) {
            const std::size_t left = text.size() - done;
            const std::size_t n = left < rows_a_pass ? left : rows_a_pass;
            const logits_rows<target_id> rows = model.score({fed.data() + known + done, n});
            for (std::size_t i = 0; i < n; ++i)
                sum -= make_law(rows[i], sampling).log_probability(text[done + i]);
            done += n;
        }
        return sum;
    }
};

/// Whether its drafter reads the target's features: such a one follows no rule of two vocabularies.
[[nodiscard]] inline bool reads_features(const decoder& pair) {
    return pair.map() != nullptr && !pair.applies(rule::tli);
}

/// What a pair lacks to follow a rule that does not apply to it, for errors.
[[nodiscard]] inline std::string what_lacks(const decoder& pair, rule r) {
    if (pair.map() == nullptr)
        return "expected a drafter, found none";
    return takes_equal_vocabularies(r)
               ? "expected a drafter with the target's vocabulary"
               : "expected `identity`: the drafter reads the target's features";
}

/// Settings of a program that measures: a signal ends its texts, and a drafter that throws is an
/// error.
[[nodiscard]] inline decode_settings interruptible() {
    decode_settings s;
    s.cancelled = [] { return interrupted() != 0; };
    s.drafter_must_work = true;
    return s;
}

[[nodiscard]] constexpr std::string_view name(finish_reason reason) {
    constexpr std::string_view names[] = {"none",         "end_token", "stop_string", "max_tokens",
                                          "context_full", "cancelled", "failed"};
    return names[static_cast<std::size_t>(reason)];
}

[[nodiscard]] constexpr std::string_view name(no_draft reason) {
    constexpr std::string_view names[no_draft_reasons] = {
        "none",           "no_drafter",     "stop_rule",     "no_room",        "drafter_full",
        "nothing_shared", "nothing_to_say", "nothing_found", "drafter_failed", "drafter_reads"};
    return names[static_cast<std::size_t>(reason)];
}

} // namespace specdec::examples
