// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <specdec/core/concepts.hpp>
#include <specdec/draft/cost_table.hpp>
#include <specdec/speculation/any/any_ngram_cache.hpp>
#include <specdec/speculation/any/any_tokenizer.hpp>
#include <specdec/speculation/text.hpp>
#include <specdec/vocab/table/find_control.hpp>
#include <specdec/vocab/table/id_map.hpp>
#include <specdec/vocab/table/vocabulary.hpp>

namespace specdec {

/// What a program sees of a pair of models, or of a target alone: any text by any rule. Programs
/// that include no more than this compile fast; speculation is what does it.
class decoder {
public:
    virtual ~decoder() = default;

    /// Begins a text whose target's passes the caller does. It has a sequence of the drafter to
    /// itself until it is destroyed, which comes before the decoder's end; `request.prompt` may go,
    /// its reader may not. Errors: specdec::error for a prompt that is empty or does not fit, for a
    /// rule that the pair cannot follow, where all sequences of the drafter are taken, and as
    /// costs() where automatic lengths need them.
    [[nodiscard]] virtual std::unique_ptr<speculative_text>
    open(const text_request& request, const decode_settings& settings) & = 0;

    /// Decodes texts, as many side by side as the target holds (and the drafter, if there is one),
    /// each with its own settings before these; what a sequence holds of a text's beginning is not
    /// fed again. Once the settings say cancelled, they end at the next round and those that were
    /// still to come are empty, all of them cancelled. What a text's own processor, drafter or
    /// reader throws ends this text, and what a pass of the target throws ends all texts in it:
    /// their results say `failed` and why (decode_results::require_none_failed); the others go on.
    /// Errors: as open(), for any text, before one is decoded; if all texts failed, what the first
    /// of them threw, after where its prompt came from.
    [[nodiscard]] virtual decode_results run(std::span<const text_request> texts,
                                             const decode_settings& settings) = 0;

    /// One text from its bytes, encoded as the beginning of a text, behind begin_token().
    [[nodiscard]] decode_result generate(std::string_view prompt, const decode_settings& settings,
                                         listener* reader = nullptr) {
        return generate(prompt, settings, text_request{.reader = reader});
    }
    /// The same with what else a request may say; its prompt is this one.
    [[nodiscard]] decode_result generate(std::string_view prompt, const decode_settings& settings,
                                         text_request request) {
        std::vector<target_id> ids;
        if (const std::optional<target_id> bos = begin_token())
            ids.push_back(*bos);
        encode(prompt, encode_mode::start, ids);
        request.prompt = ids;
        return std::move(run({&request, 1}, settings).texts.front());
    }

    /// Whatever texts have left is gone (reuse_settings, measured costs): it is as it was made.
    /// Errors: specdec::error while a text that was opened is not destroyed.
    virtual void forget() = 0;

    /// In words: which rule, what it will do and why. Measures the costs of drafts where automatic
    /// lengths need them (costs(), with its errors).
    [[nodiscard]] virtual std::string explain(const decode_settings& settings) = 0;
    /// The rule that the settings mean.
    [[nodiscard]] virtual rule rule_for(const decode_settings& settings) const = 0;
    /// Whether the pair can follow it.
    [[nodiscard]] virtual bool applies(rule r) const = 0;

    [[nodiscard]] virtual const any_tokenizer<target_id>& target_tokenizer() const = 0;
    /// Null without a drafter, as the map is.
    [[nodiscard]] virtual const any_tokenizer<draft_id>* draft_tokenizer() const = 0;
    [[nodiscard]] virtual const id_map* map() const = 0;
    /// The token that the target wants at the beginning of every text.
    [[nodiscard]] virtual std::optional<target_id> begin_token() const = 0;
    /// The tokens that end a text.
    [[nodiscard]] virtual std::span<const target_id> end_tokens() const = 0;

    /// The most tokens of a context that the drafter reads: its capacity, or what it was trained on
    /// (trained_context). Longer contexts are windowed. 0 without a drafter.
    [[nodiscard]] virtual std::size_t drafter_context() const = 0;

    [[nodiscard]] const vocabulary& target_table() const { return target_tokenizer().table(); }
    [[nodiscard]] const vocabulary* draft_table() const {
        return draft_tokenizer() != nullptr ? &draft_tokenizer()->table() : nullptr;
    }
    /// The target's control token of that printed name, such as "<|im_start|>", for prompts: what
    /// looks like a control token in text that is encoded stays text. Complexity: linear in the
    /// vocabulary.
    [[nodiscard]] std::optional<target_id> control(std::string_view name) const {
        const std::optional<std::size_t> id = find_control(target_table(), name);
        return id ? std::optional(id_at<target_id>(*id)) : std::nullopt;
    }
    void encode(std::string_view text, encode_mode where, std::vector<target_id>& out) const {
        target_tokenizer().encode(text, where, out);
    }

    /// Texts that are decoded side by side.
    [[nodiscard]] virtual std::size_t sequences() const = 0;
    /// The target's models, which no text is using.
    [[nodiscard]] virtual any_batch_model<target_id>& target_models() = 0;

    /// What automatic draft lengths go by: measured when first asked for, with both models. Without
    /// a drafter the target's passes; null where nothing is known. Errors: specdec::error where it
    /// would have to be measured while a text that was opened is not destroyed, which may be
    /// between its draft and its decision; what the models throw.
    [[nodiscard]] virtual const cost_table* costs() = 0;

    /// What automatic lengths of these settings go by: the given costs, else the measured ones.
    [[nodiscard]] const cost_table* costs_of(const length_settings& s) {
        return s.costs ? &*s.costs : costs();
    }

    /// What the n-gram rules remember from text to text, also of texts side by side; null before
    /// any of them has run.
    [[nodiscard]] virtual const any_ngram_cache* cache() const = 0;
};

} // namespace specdec
