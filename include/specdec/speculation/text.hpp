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

/// How texts are decoded. All of it may be left as it is.
struct decode_settings {
    std::optional<specdec::rule>
        rule{};                     ///< nothing: the usual rule for the pair and the temperature
    sampling_parameters sampling{}; ///< of both sides
    length_settings lengths{};
    /// Drafts are trees, in place of `lengths`, under rules that can (can_draft_trees) with models
    /// that score them (TreeModelOf). Nothing: chains.
    std::optional<tree_drafts> tree{};
    double min_draft_probability =
        0.02; ///< slrs, merge: less likely drafts go on no further; 0: they do
    std::uint64_t seed = 0;
    bool shared_noise = false; ///< without a drafter: draw as the coupled rules do
    lookup_settings lookup{};  ///< rules lookup and recycling, and looking up beside a drafter
    generation_limits limits{};
    /// Of every token, and so many of the likeliest beside it; nothing: not asked for.
    std::optional<std::size_t> log_probabilities{};
    reuse_settings carry{}; ///< from the texts before
    /// Texts draft in one pass of the drafter's model, if that holds several sequences. Without it
    /// one behind the other, as do texts whose drafts are trees.
    bool together = true;
    /// Where a drafter throws, the sequence goes on: the round drafts nothing
    /// (no_draft::drafter_failed), and the drafter is asked again after a pause, which doubles with
    /// each failure up to 64 rounds. Drafts that cannot be ended where they stand, and trees, end
    /// the sequence; so does any failure if this is true. A pass of several drafters that throws is
    /// no failure by itself: each sequence then asks for its own row.
    bool drafter_must_work = false;
    /// Asked every round: whether all texts shall end, and no more begin. Nothing: never.
    cancel_check cancelled{};
};

/// Follows a text while it is made; either function may return false to cancel.
struct listener {
    virtual ~listener() = default;
    virtual bool bytes(std::string_view, token_origin) { return true; }
    virtual bool round(const round_result&) { return true; }
};

/// A text that is asked for: what its decode_settings leave open, and what it has of its own.
struct text_request {
    borrowed_span<target_id> prompt{};
    std::uint64_t sequence = 0; ///< texts of one seed that shall differ have different ones
    /// Texts whose tokens mean another context to the models, as under another LoRA adapter or with
    /// another image behind the same placeholders, have another key: they share no context.
    context_key key = 0;
    std::string where{};        ///< the prompt came from, for errors
    listener* reader = nullptr; ///< or nobody
    /// What the rows go through before they are laws (docs/use/processors.md). The target's makes
    /// the text; the drafter's, made of the same, keeps drafts from being in vain.
    any_row_processor<target_id> process{};
    any_row_processor<draft_id> process_draft{};
    /// What the text after the prompt has to obey: a ByteGrammar. Behind the processors both sides'
    /// rows are masked by it (grammar_mask), and text that it forces is proposed without asking a
    /// model (docs/use/forced-text.md).
    any_grammar grammar{};
    /// Whether the grammar masks the rows. False: the engine or `process` does, and the grammar
    /// only proposes what it forces.
    bool grammar_masks = true;
    // In place of the settings' for this text, whatever texts beside it have:
    std::optional<specdec::rule> rule{};
    std::optional<sampling_parameters> sampling{};
    std::optional<length_settings> lengths{};
    std::optional<std::uint64_t> seed{};
    std::optional<generation_limits> limits{};
    std::optional<std::size_t> log_probabilities{};
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

/// A token of a text, under the target's row as it was (temperature 1, no cutoffs).
struct token_report {
    token_log_probability chosen;
    std::vector<token_log_probability> likeliest;
};

struct decode_result {
    std::string text;
    std::vector<target_id> tokens; ///< produced and committed, an end token included
    finish_reason finish = finish_reason::cancelled;
    statistics counts;
    double seconds = 0; ///< prompt and text, without loading; of several side by side: of all
    /// [rounds] of slrs, merge, coupled-spelling: the drafter's forwards that deciding took.
    std::vector<std::size_t> extra_forwards{};
    std::size_t drafter_failures =
        0;                       ///< rounds in which the drafter threw, and the sequence went on
    std::string drafter_error{}; ///< what it threw last, in words
    std::size_t first_rows_known = 0; ///< rounds whose first draft token took no forward
    std::vector<token_report> log_probabilities{}; ///< of the tokens, if they were asked for
    /// If `finish` is failed: what was thrown, in words and to be thrown again. The text and the
    /// tokens are what there was before.
    std::string error{};
    std::exception_ptr thrown{};
};

/// What came of several texts.
struct decode_results {
    std::vector<decode_result> texts; ///< as they were asked for
    double seconds = 0;               ///< prompts and texts, without loading
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
    /// How many texts share the target's pass of the next round, which drafts as long as pays then.
    /// It holds until it is told again, and not for a round that is drafted again. If it was never
    /// told: all texts of the decoder that have not ended.
    virtual void share_pass(std::size_t texts) = 0;
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
