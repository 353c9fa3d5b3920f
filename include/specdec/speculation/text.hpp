// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <specdec/core/concepts.hpp>
#include <specdec/core/draft_step.hpp>
#include <specdec/core/model/context_tracker.hpp>
#include <specdec/core/model/one_sequence.hpp>
#include <specdec/decode/batch.hpp>
#include <specdec/decode/round_result.hpp>
#include <specdec/decode/statistics.hpp>
#include <specdec/decode/text_run.hpp>
#include <specdec/draft/lookup/lookup_memory.hpp>
#include <specdec/draft/shared_rows.hpp>
#include <specdec/sampling/law/parameters.hpp>
#include <specdec/speculation/any/any_grammar.hpp>
#include <specdec/speculation/any/any_model.hpp>
#include <specdec/speculation/any/any_row_processor.hpp>
#include <specdec/speculation/any/borrowed_span.hpp>
#include <specdec/speculation/any/cancel_check.hpp>
#include <specdec/speculation/length_settings.hpp>
#include <specdec/speculation/reuse_settings.hpp>
#include <specdec/speculation/rule.hpp>
#include <specdec/speculation/tree/tree_drafts.hpp>

/// Texts whose rule is chosen at run time: how they are asked for and what comes of them.
namespace specdec {

/// How requests are decoded. Every field has a default that suits most pairs of models.
struct decode_settings {
    /// The rule: how drafts are made and verified. None: default_rule, which is `lookup` without a
    /// drafter, for equal vocabularies `identity` at temperature 0 and `identity-block` above it,
    /// else `slem` at temperature 0 and `tli-block` above it.
    std::optional<specdec::rule> rule{};
    /// Temperature and cutoffs, of the target and of the drafter.
    sampling_parameters sampling{};
    /// How long drafts are. Not read if `tree` is set.
    length_settings lengths{};
    /// The shape of draft trees. The rule has to draft trees (can_draft_trees) and the models have
    /// to score them (TreeModelOf). None: drafts are chains.
    std::optional<tree_drafts> tree{};
    /// The probability below which a draft is not continued, from 0 to 1; 0: every draft continues.
    /// Read by the rules `slrs` and `merge`, whose verification takes at most
    /// draft length / min_draft_probability further passes of the drafter.
    double min_draft_probability = 0.02;
    /// The seed of all random numbers. Requests with the same seed need different values of
    /// text_request::sequence to have different outputs.
    std::uint64_t seed = 0;
    /// Whether rules without a drafter draw with shared noise, so that a seed has the same output
    /// as under the coupled rules.
    bool shared_noise = false;
    /// Prompt lookup, as a rule of its own or in addition to a drafter.
    lookup_settings lookup{};
    /// Where an output ends.
    generation_limits limits{};
    /// How many of the likeliest tokens are reported with their log-probabilities, in addition to
    /// each token of the output; at most the target's vocabulary. None: no log-probabilities.
    std::optional<std::size_t> log_probabilities{};
    /// What a request takes over from earlier requests.
    reuse_settings carry{};
    /// Whether requests draft in one pass of the drafter's model, if that holds several sequences.
    /// False: they draft in turns, as requests with draft trees always do.
    bool together = true;
    /// Whether an exception of the drafter ends the sequence. False: the round drafts nothing
    /// (no_draft::drafter_failed), and the drafter is asked again after a pause, which doubles with
    /// each failure up to 64 rounds. Drafts that cannot be ended early, and trees, end the sequence
    /// in any case. An exception in a pass of several drafters is no failure by itself: each
    /// sequence then asks for its own logits.
    bool drafter_must_work = false;
    /// A function that is called every round. If it returns true, all requests end and none begins.
    /// Without a function nothing is cancelled.
    cancel_check cancelled{};
};

/// A token of a text, under the target's row as it was (temperature 1, no cutoffs).
struct token_report {
    token_log_probability chosen;
    std::vector<token_log_probability> likeliest;
};

/// Follows a text while it is made. A function that throws is called again with the same arguments,
/// if the text goes on.
struct listener {
    virtual ~listener() = default;
    /// Receives text that is certain: whole characters, nothing of a stop string. Returns whether
    /// to go on; false cancels the request.
    virtual bool bytes(std::string_view, token_origin) { return true; }
    /// Receives what a round decided, before any of it is committed. Returns whether to go on.
    virtual bool round(const round_result&) { return true; }
    /// Receives the tokens that became part of the output, after the bytes() of their round, and
    /// their log-probabilities, if decode_settings::log_probabilities asks for them. All calls
    /// together give decode_result::tokens and decode_result::log_probabilities. The views live
    /// until it returns.
    virtual void committed(std::span<const target_id>, std::span<const token_report>) {}
};

/// One request: its prompt, its processors and grammar, and its own values of some settings.
struct text_request {
    /// The prompt in target tokens. It is borrowed, is not empty, and is shorter than the target's
    /// context.
    borrowed_span<target_id> prompt{};
    /// A part of the seed: requests with the same seed and different numbers have different
    /// outputs. It does not choose a sequence of the models.
    std::uint64_t sequence = 0;
    /// What the prompt's tokens mean to the models. Requests with another LoRA adapter, or with
    /// another image for the same placeholder tokens, need another key: they share no context.
    context_key key = 0;
    /// Where the prompt came from, such as a file and a line, for error messages.
    std::string where{};
    /// A listener that receives the output while it is made; borrowed. Null: none.
    listener* reader = nullptr;
    /// The processor of the target's logits (docs/use/processors.md). It changes the distribution
    /// of the output.
    any_row_processor<target_id> process{};
    /// The processor of the drafter's logits. Give one that does the same as `process`, so that
    /// drafts are not rejected for it. It changes no distribution of an output.
    any_row_processor<draft_id> process_draft{};
    /// The grammar that the output has to obey, a ByteGrammar. It masks the logits of both models
    /// after their processors (grammar_mask), and text that it forces is proposed without a pass of
    /// a model (docs/use/forced-text.md).
    any_grammar grammar{};
    /// Whether the grammar masks the logits. False: the engine or `process` does so, and the
    /// grammar only proposes the text that it forces.
    bool grammar_masks = true;
    /// This request's rule. None: decode_settings::rule.
    std::optional<specdec::rule> rule{};
    /// This request's temperature and cutoffs. None: decode_settings::sampling.
    std::optional<sampling_parameters> sampling{};
    /// This request's draft length. None: decode_settings::lengths.
    std::optional<length_settings> lengths{};
    /// This request's seed. None: decode_settings::seed.
    std::optional<std::uint64_t> seed{};
    /// This request's limits. None: decode_settings::limits.
    std::optional<generation_limits> limits{};
    /// This request's number of reported tokens. None: decode_settings::log_probabilities.
    std::optional<std::size_t> log_probabilities{};
    /// A function that is called every round of this request. If it returns true, this request
    /// ends, or does not begin. decode_settings::cancelled is asked, too. Without a function
    /// nothing is cancelled.
    cancel_check cancelled{};
};

/// What a text is decoded with: its own settings before those of all.
[[nodiscard]] inline decode_settings settings_of(const text_request& own, decode_settings all) {
    const auto take = [](auto& to, const auto& from) {
        if (from)
            to = *from;
    };
    take(all.rule, own.rule);
    take(all.sampling, own.sampling);
    take(all.lengths, own.lengths);
    take(all.seed, own.seed);
    take(all.limits, own.limits);
    take(all.log_probabilities, own.log_probabilities);
    return all;
}

/// The output of one request, and what it took.
struct decode_result {
    /// The bytes of the output, without the prompt and without a stop string.
    std::string text;
    /// The committed tokens of the output, an end token included.
    std::vector<target_id> tokens;
    /// Why the output ended.
    finish_reason finish = finish_reason::cancelled;
    /// Counts of rounds and tokens.
    statistics counts;
    /// Seconds from the start of the run to the end of this output, with the prompt and without
    /// loading. Requests that are decoded side by side count the time of the others, too.
    double seconds = 0;
    /// Time to first token: seconds from the start of the run to the end of the round that
    /// committed the first tokens of this output. 0: there are none, or the caller makes the
    /// target's passes (decoder::open).
    double time_to_first_token = 0;
    /// The tokens which that round committed.
    std::size_t first_tokens = 0;
    /// [rounds] Passes of the drafter that verification took. Empty unless the rule is `slrs`,
    /// `merge` or `coupled_spelling`.
    std::vector<std::size_t> extra_forwards{};
    /// Rounds in which the drafter threw and the sequence went on.
    std::size_t drafter_failures = 0;
    /// The message of the drafter's last exception; empty if it threw none.
    std::string drafter_error{};
    /// Rounds whose first draft token took no pass of the drafter.
    std::size_t first_rows_known = 0;
    /// [tokens] Log-probabilities, if decode_settings::log_probabilities asks for them.
    std::vector<token_report> log_probabilities{};
    /// The message of the exception that ended the request, if `finish` is `failed`. Text and
    /// tokens are those before the exception.
    std::string error{};
    /// That exception, to be thrown again; else null.
    std::exception_ptr thrown{};

    /// Time per output token: seconds for each token after the first round. 0: there are none. If
    /// the first round committed one token, it is (seconds - time to first token) / (tokens - 1).
    [[nodiscard]] double time_per_output_token() const {
        const std::size_t later = tokens.size() - first_tokens;
        return first_tokens == 0 || later == 0
                   ? 0.0
                   : (seconds - time_to_first_token) / static_cast<double>(later);
    }
};

/// The outputs of several requests.
struct decode_results {
    /// [requests] The outputs, in the order of the requests.
    std::vector<decode_result> texts;
    /// Seconds of the whole run, with the prompts and without loading.
    double seconds = 0;
    /// Counts of the passes that requests shared.
    batch_counts passes{};

    /// Throws again what the first text that failed threw. Does nothing if none failed.
    void require_none_failed() const {
        for (const decode_result& text : texts)
            if (text.thrown)
                std::rethrow_exception(text.thrown);
    }
};

/// What a decoder and the texts that it has opened know of each other.
struct open_texts {
    bool passes_unseen = false; ///< an engine asked what to do, and did the target's pass itself
    std::size_t going = 0;      ///< texts that have not ended
};

/// A text on its way, whatever its rule: what session and text_run say of each function holds. For
/// engines that do the target's pass themselves (decoder::open), a few virtual calls a round:
///
///     while (text.draft(capacity)) { // before it share_pass(n), where n texts share the pass
///         const context_edit edit = text.target_edit();
///         rows := truncate to edit.truncate_to, feed edit.append; of its last rows_needed() tokens
///                 at least
///         text.target_fed(edit);
///         text.decide(rows);
///         text.commit();
///         if the edit had nodes: keep_path(text.nodes_to_keep())
///     }
///
/// and for `batch`, whose runs they are: batch<any_batch_model<target_id>, speculative_text>.
class speculative_text {
public:
    using target_sequence = one_sequence<target_id, any_batch_model<target_id>>;

    virtual ~speculative_text() = default;

    [[nodiscard]] virtual bool more(std::size_t capacity) = 0;
    /// What the next round could draft, for a plan of the pass that texts share (shared_rows).
    [[nodiscard]] virtual draft_offer offer() = 0;
    /// How texts share the target's pass of the next round, which drafts as long as pays then: a
    /// plan's share, or how many they are. It holds until it is told again, and not for a round
    /// that is drafted again. If it was never told: all texts of the decoder that have not ended.
    virtual void share_pass(const pass_share& share) = 0;
    /// From the next draft on the drafter is fed at most so many tokens a round before the first
    /// row of a draft (8, if it is fewer); while more are left, rounds draft nothing
    /// (no_draft::drafter_reads). By default all at once, and so for trees and for bridges whose
    /// drafts are strings of several tokenizations (SLRS, merge, spelling).
    virtual void drafter_reads_at_most(std::size_t tokens) = 0;
    /// Optional, between target_fed() and decide(): the pass, from which measured costs learn.
    virtual void passed(const shared_pass& pass) = 0;
    /// All steps of a draft, one behind the other.
    [[nodiscard]] bool draft(std::size_t capacity) { return draft_in_steps(*this, capacity); }
    /// The steps, which several texts take at once (draft_in_lockstep.hpp).
    [[nodiscard]] virtual bool begin_draft(std::size_t capacity) = 0;
    [[nodiscard]] virtual draft_step request_row() = 0;
    virtual void draw(double seconds = 0) = 0;
    [[nodiscard]] virtual context_edit<target_id> target_edit() const = 0;
    [[nodiscard]] virtual std::size_t rows_needed() const = 0;
    virtual void target_fed(const context_edit<target_id>& edit, double seconds = 0) = 0;
    virtual void target_lost() = 0;
    /// rows: those of the edit's last rows_needed() tokens; any others stand before them.
    virtual void decide(logits_rows<target_id> rows) = 0;
    virtual void commit() = 0;
    /// Gives up a round that is not decided: as session::abandon.
    virtual void abandon() = 0;
    /// Of the tree that was scored; of a chain none.
    [[nodiscard]] virtual std::span<const std::size_t> nodes_to_keep() const = 0;
    [[nodiscard]] virtual finish_reason finish() const = 0;

    /// The committed tokens, prompt included.
    [[nodiscard]] virtual std::span<const target_id> tokens() const = 0;
    /// text_request::key. An engine that gives the text a context of its own compares it, too.
    [[nodiscard]] virtual context_key key() const = 0;
    [[nodiscard]] virtual const statistics& counts() const = 0;
    /// What has come of it so far; all of it once it has finished.
    [[nodiscard]] virtual decode_result result() const = 0;

    /// With a model: feeds what needs no row, and tells what is left to score. The call after
    /// commit() keeps a tree's path, unless somebody else has used the sequence since the tree was
    /// scored: then the text is fed again what it lacks.
    [[nodiscard]] virtual context_edit<target_id> prepare(target_sequence& target) = 0;
};

/// A round of a text with a sequence of its own of the target. False: it has ended.
inline bool advance(speculative_text& text, any_batch_model<target_id>& target,
                    std::size_t sequence = 0) {
    speculative_text::target_sequence own(target, sequence);
    if (!text.more(target.capacity()))
        return false;
    text.share_pass(1);
    target.set_key(sequence, text.key());
    (void)text.prepare(own);
    if (!text.draft(target.capacity()))
        return false;
    const context_edit<target_id> edit = text.prepare(own);
    const bool tree = !edit.nodes.empty();
    const logits_rows<target_id> rows =
        tree ? own.score_tree(edit.nodes, edit.parents) : own.score(edit.append);
    text.target_fed(edit);
    text.decide(rows);
    text.commit();
    if (tree) // its path is kept before another text uses the sequence
        (void)text.prepare(own);
    return true;
}

} // namespace specdec
