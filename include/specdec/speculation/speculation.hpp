// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <specdec/decode/measure_costs.hpp>
#include <specdec/speculation/decode_texts.hpp>
#include <specdec/speculation/decoder.hpp>
#include <specdec/speculation/explain.hpp>
#include <specdec/speculation/make_text.hpp>
#include <specdec/speculation/shared_tables.hpp>
#include <specdec/speculation/side.hpp>
#include <specdec/vocab/table/checked.hpp>
#include <specdec/vocab/table/id_map.hpp>

namespace specdec {

/// Speculative decoding as one object: any pair of models, any rule by name, drafts as long as
/// pays. It owns what rules share (the map of the vocabularies, tables, the n-gram cache), gives
/// every text its session, verifier, coin, stop rule and drafter's sequence, and drives them.
///
///     speculation pair({target, words}, {draft, pieces});
///     std::cout << pair.explain({}) << pair.generate("Once upon a time", {.seed = 7}).text;
///     pair.run(texts, {.rule = rule_of("slrs").rule, .sampling = {.temperature = 0.7F}});
///
/// Models and tokenizers are those of the concepts, given by name to be borrowed or moved in, and
/// used for texts by this object alone. Whoever wants no indirection at all uses the templates that
/// this is made of: session, text_run, batch; here a round costs a few virtual calls more, a token
/// none. A seed's text is the same in any order of texts, but for what they learn from each other:
/// measured costs, lengths, n-grams (docs/choosing-a-rule). Not for several threads at a time.
///
/// All rules are compiled with this header, once a program: its other files include decoder.hpp.
/// Errors: specdec::error for sides that do not fit (see require_side), maps that do not (see
/// intersect).
class speculation final : public decoder {
public:
    explicit speculation(speculation_side<target_id> target)
        : target_(std::move(target)), tables_(target_.tokenizer, nullptr, nullptr, {}) {
        require_side(target_, "target");
    }
    /// The vocabularies meet by bytes, and what ends or begins texts (see meet).
    speculation(speculation_side<target_id> target, speculation_side<draft_id> drafter,
                cache_settings cache = {})
        : target_(std::move(target)), draft_(std::move(drafter)), map_(meet_checked()),
          taken_(draft_->models.sequences(), false),
          tables_(target_.tokenizer, &draft_->tokenizer, &*map_, std::move(cache)) {}
    /// With a map that was made before.
    speculation(speculation_side<target_id> target, speculation_side<draft_id> drafter, id_map map,
                cache_settings cache = {})
        : target_(std::move(target)), draft_(std::move(drafter)), map_(std::move(map)),
          taken_(draft_->models.sequences(), false),
          tables_(target_.tokenizer, &draft_->tokenizer, &*map_, std::move(cache)) {
        require_side(target_, "target");
        require_side(*draft_, "drafter");
        require_map(*map_, target_.tokenizer, draft_->tokenizer, "speculation");
    }

    speculation(const speculation&) = delete; // texts and tables borrow from it
    speculation& operator=(const speculation&) = delete;

    [[nodiscard]] std::unique_ptr<speculative_text> open(const text_request& request,
                                                         const decode_settings& settings) override {
        return open(request, settings, sequences());
    }

    [[nodiscard]] decode_results run(std::span<const text_request> texts,
                                     const decode_settings& settings) override {
        const std::size_t most = texts.size() < sequences() ? texts.size() : sequences();
        if (rule_for(settings) != rule::autoregressive &&
            settings.lengths.kind == length_kind::automatic)
            (void)costs_of(settings.lengths); // measured before the clock runs
        return decode_texts(target_.models, most, texts, settings,
                            [&](const text_request& text) { return open(text, settings, most); });
    }

    [[nodiscard]] std::string explain(const decode_settings& settings) override;

    [[nodiscard]] rule rule_for(const decode_settings& s) const override {
        return s.rule
                   ? *s.rule
                   : usual_rule(draft_.has_value(), equal_vocabularies(), s.sampling.temperature);
    }
    /// A drafter that reads the target's features has its text for a context, token for token, as
    /// rules `identity` and `identity-block` have alone.
    [[nodiscard]] bool applies(rule r) const override {
        if (!takes_drafter(r) || !draft_)
            return !takes_drafter(r);
        return takes_equal_vocabularies(r) ? equal_vocabularies()
                                           : !draft_->models.reads_features();
    }

    [[nodiscard]] const any_tokenizer<target_id>& target_tokenizer() const override {
        return target_.tokenizer;
    }
    [[nodiscard]] const any_tokenizer<draft_id>* draft_tokenizer() const override {
        return draft_ ? &draft_->tokenizer : nullptr;
    }
    [[nodiscard]] const id_map* map() const override { return map_ ? &*map_ : nullptr; }
    [[nodiscard]] std::optional<target_id> begin_token() const override {
        return target_.begins_with_bos ? target_.bos : std::nullopt;
    }
    [[nodiscard]] std::span<const target_id> end_tokens() const override { return target_.ends; }

    [[nodiscard]] std::size_t sequences() const override {
        const std::size_t n = target_.models.sequences();
        return draft_ && taken_.size() < n ? taken_.size() : n;
    }
    [[nodiscard]] any_batch_model<target_id>& target_models() override { return target_.models; }
    [[nodiscard]] const any_ngram_cache* cache() const override { return tables_.cache(); }

    [[nodiscard]] const cost_table* costs() override {
        if (!costs_) {
            one_sequence<target_id, any_batch_model<target_id>> target(target_.models, 0);
            if (!draft_)
                return &costs_.emplace(measure_costs(target, steady_seconds{}));
            one_sequence<draft_id, any_batch_model<draft_id>> drafter(draft_->models, 0);
            costs_ = measure_costs(target, drafter, steady_seconds{});
        }
        return &*costs_;
    }

private:
    [[nodiscard]] bool equal_vocabularies() const {
        return map_ && map_->draft_fingerprint() == map_->target_fingerprint();
    }
    [[nodiscard]] id_map meet_checked() const {
        require_side(target_, "target");
        require_side(*draft_, "drafter");
        return build_id_map(*draft_, target_);
    }
    std::unique_ptr<speculative_text> open(const text_request& request, const decode_settings& s,
                                           std::size_t texts);
    length_rule lengths_of(rule how, const decode_settings& s, learned_lengths& learned);
    [[nodiscard]] std::size_t free_sequence() const;
    /// The drafter's own beginning of a text, unless the prompt brings it along.
    [[nodiscard]] std::span<const draft_id> draft_prefix(std::span<const target_id> prompt) const {
        if (!draft_ || !draft_->begins_with_bos || prompt.empty() ||
            map_->to_draft(prompt.front()) == *draft_->bos)
            return {};
        return {&*draft_->bos, 1};
    }
    speculation_side<target_id> target_;
    std::optional<speculation_side<draft_id>> draft_;
    std::optional<id_map> map_;
    std::vector<bool> taken_; // [sequences of the drafter]
    shared_tables tables_;
    std::optional<cost_table> costs_; // measured
    std::map<std::tuple<rule, float, length_kind, std::size_t>, learned_lengths> learned_;
};

inline std::size_t speculation::free_sequence() const {
    for (std::size_t i = 0; i < taken_.size(); ++i)
        if (!taken_[i])
            return i;
    fail("speculation", "text",
         "expected a free sequence of the drafter, all " + std::to_string(taken_.size()) +
             " are taken by texts");
}

inline length_rule speculation::lengths_of(rule how, const decode_settings& s,
                                           learned_lengths& learned) {
    if (how == rule::autoregressive)
        return fixed_length{0};
    if (learned.predictor != s.lengths.predictor) {
        learned.predictor = s.lengths.predictor;
        learned.last.reset();
    }
    if (s.lengths.kind == length_kind::automatic) {
        if (s.lengths.costs)
            validate(*s.lengths.costs);
        const cost_table& now = *costs_of(s.lengths);
        if (!(learned.costs == now)) {
            learned.costs = now;
            learned.last.reset();
        }
    }
    return stop_rule_of(s.lengths, draft_tokens(how, s.lengths.length), learned);
}

inline std::unique_ptr<speculative_text>
speculation::open(const text_request& request, const decode_settings& s, std::size_t texts) {
    const rule how = rule_for(s);
    if (!applies(how))
        fail("rule", std::string(about(how).name),
             !draft_                         ? "expected a drafter, there is none"
             : takes_equal_vocabularies(how) ? "expected equal vocabularies"
                                             : "expected `identity`: the drafter reads features");
    learned_lengths& learned =
        learned_
            .try_emplace({how, s.sampling.temperature, s.lengths.kind, s.lengths.length},
                         learned_lengths{
                             .table = acceptance_table(usually_kept(how, s.sampling.temperature))})
            .first->second;
    text_parts parts{.target = target_.tokenizer,
                     .draft = draft_ && takes_drafter(how) ? &draft_->tokenizer : nullptr,
                     .settings = {},
                     .draft_prefix = draft_prefix(request.prompt),
                     .limits = s.limits,
                     .lengths = lengths_of(how, s, learned),
                     .learned = takes_drafter(how) ? &learned : nullptr,
                     .cancelled = s.cancelled};
    parts.lengths.start(request.prompt.size(), texts);
    parts.settings.target = parts.settings.draft = s.sampling;
    parts.settings.capacity = target_.models.capacity();
    // By target tokens: a draft that ends by itself would cost a residual.
    if (by_target_tokens(how) || s.lengths.length > parts.settings.max_proposals)
        parts.settings.max_proposals = s.lengths.length;
    parts.settings.end_ids = target_.ends;
    parts.settings.log_probabilities = s.log_probabilities;
    text_maker alone(target_.tokenizer, nullptr, tables_, lookup_of(s.lengths, learned, texts));
    if (!takes_drafter(how))
        return alone(how, request, s, std::move(parts));
    const drafting_side side{*draft_, *map_, taken_, free_sequence()};
    return text_maker(target_.tokenizer, &side, tables_)(how, request, s, std::move(parts));
}

inline std::string speculation::explain(const decode_settings& s) {
    const rule how = rule_for(s);
    std::string text = std::string(about(how).name) + ": " + std::string(about(how).what) +
                       (about(how).lossless ? ", lossless.\n" : ", NOT lossless.\n");
    if (!applies(how))
        return text + "This pair cannot follow it.\n";
    if (!s.rule && draft_)
        text += equal_vocabularies() ? "Chosen for two equal vocabularies.\n"
                : s.sampling.temperature == 0
                    ? "Chosen at temperature 0: it keeps what the drafter writes right, however "
                      "it is cut into tokens.\n"
                    : "Chosen above temperature 0: of shared tokens the laws overlap most.\n";
    if (how == rule::autoregressive)
        return text;
    if (how == rule::lookup)
        return text + explain_lookup(s.lengths, !s.rule, [&] { return *costs_of(s.lengths); });
    text += std::to_string(map_->shared()) + " of the drafter's " +
            std::to_string(draft_table()->size()) + " tokens are the target's, too, which has " +
            std::to_string(target_table().size()) + ".\n" + specdec::explain(s.lengths, how) + "\n";
    if (s.lengths.kind == length_kind::automatic)
        text += specdec::explain(*costs_of(s.lengths)) + "\n";
    return text;
}

} // namespace specdec
