// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include <specdec/decode/end_ids.hpp>
#include <specdec/decode/measure_costs.hpp>
#include <specdec/speculation/decode_texts.hpp>
#include <specdec/speculation/decoder.hpp>
#include <specdec/speculation/drafting_settings.hpp>
#include <specdec/speculation/explain.hpp>
#include <specdec/speculation/grammar_request.hpp>
#include <specdec/speculation/open_sequence.hpp>
#include <specdec/speculation/sequence_plan.hpp>
#include <specdec/speculation/sequence_pool.hpp>
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
/// used for texts by this object alone: what their contexts hold is used again. Who uses them
/// elsewhere meanwhile says forget() before the next text, or has models that tell what they hold
/// (TellsHeldBatch). What texts take over from each other, reuse_settings says. The templates that
/// this is made of, session, text_run and batch, save a few virtual calls a round. Not for several
/// threads at a time. All rules are compiled with this header: other files include decoder.hpp, or
/// see open_sequence. Errors: as require_side and intersect, for sides and maps that do not fit.
class speculation final : public decoder {
public:
    explicit speculation(speculation_side<target_id> target)
        : target_(std::move(target)), tables_(target_.tokenizer, nullptr, nullptr, {}) {
        require_side(target_, "target");
    }
    /// The vocabularies meet by bytes, and what ends or begins texts (build_id_map).
    speculation(speculation_side<target_id> target, speculation_side<draft_id> drafter,
                cache_settings cache = {})
        : target_(std::move(target)), draft_(std::move(drafter)),
          map_((require_sides(), build_id_map(*draft_, target_))), rows_(draft_->models),
          seats_(draft_->models.sequences()),
          tables_(target_.tokenizer, &draft_->tokenizer, &*map_, std::move(cache)) {}
    /// With a map that was made before.
    speculation(speculation_side<target_id> target, speculation_side<draft_id> drafter, id_map map,
                cache_settings cache = {})
        : target_(std::move(target)), draft_(std::move(drafter)), map_(std::move(map)),
          rows_(draft_->models), seats_(draft_->models.sequences()),
          tables_(target_.tokenizer, &draft_->tokenizer, &*map_, std::move(cache)) {
        require_sides();
        require_map(*map_, target_.tokenizer, draft_->tokenizer, "speculation");
    }

    speculation(const speculation&) = delete; // texts and tables borrow from it
    speculation& operator=(const speculation&) = delete;

    [[nodiscard]] std::unique_ptr<speculative_text>
        open(const text_request& request, const decode_settings& of_all) & override;

    [[nodiscard]] decode_results run(std::span<const text_request> texts,
                                     const decode_settings& settings) override {
        const std::size_t most = texts.size() < sequences() ? texts.size() : sequences();
        std::size_t drafting = 0;
        for (const text_request& text : texts) { // measured before the clock runs
            const auto own = at_place(text.where, [&] { return settings_for(text, settings); });
            if (needs_costs(own, rule_for(own)))
                (void)costs();
            drafting += takes_drafter(rule_for(own)) ? 1U : 0U;
        }
        if (!settings.carry.drafter && drafting > 1 && most > 1)
            require_nothing_learnt(true);
        return decode_texts(target_.models, rows_ ? &*rows_ : nullptr, most, texts, settings,
                            [&](const text_request& text) { return open(text, settings); });
    }

    [[nodiscard]] std::string explain(const decode_settings& settings) override {
        return specdec::explain(*this, settings);
    }

    [[nodiscard]] rule rule_for(const decode_settings& s) const override {
        return s.rule
                   ? *s.rule
                   : default_rule(draft_.has_value(), equal_vocabularies(), s.sampling.temperature);
    }
    /// A drafter that reads the target's features needs the target's own tokens for a context,
    /// which only `identity` and `identity-block` give it.
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

    [[nodiscard]] std::size_t drafter_context() const override {
        if (!draft_)
            return 0;
        const std::size_t trained = draft_->models.trained_context();
        const std::size_t most = draft_->models.capacity();
        return trained > 0 && trained < most ? trained : most;
    }
    [[nodiscard]] std::size_t sequences() const override {
        const std::size_t n = target_.models.sequences();
        return draft_ && seats_.size() < n ? seats_.size() : n;
    }
    [[nodiscard]] any_batch_model<target_id>& target_models() override { return target_.models; }
    [[nodiscard]] const any_ngram_cache* cache() const override { return tables_.cache(); }
    void forget() override {
        if (texts_.use_count() > 1)
            fail("speculation", "forget", "expected no open request, found one");
        target_.models.clear();
        learned_.clear(); // texts keep what they learn into
        tables_.forget_lookups();
        costs_.reset();
        if (!draft_)
            return;
        forget_learnt();
        draft_->models.clear();
        seats_ = sequence_pool(seats_.size());
        tables_.forget_ngrams();
    }

    [[nodiscard]] const cost_table* costs() override {
        if (costs_)
            return &*costs_;
        if (texts_.use_count() > 1) // its rows, contexts and marks would be others
            fail("speculation", "costs",
                 "expected a call before requests are open, or length_settings::costs");
        one_sequence<target_id, any_batch_model<target_id>> target(target_.models, 0);
        const std::size_t most = sequences() * (length_settings{}.length + 1); // of a pass
        if (!draft_)
            return &costs_.emplace(measure_costs(target, steady_seconds{}, most));
        one_sequence<draft_id, drafter_rows> drafter(*rows_, 0);
        return &costs_.emplace(measure_costs(target, drafter, steady_seconds{}, most));
    }

private:
    [[nodiscard]] bool equal_vocabularies() const {
        return map_ && map_->draft_fingerprint() == map_->target_fingerprint();
    }
    void forget_learnt() { // what the drafter's model has from texts
        require_nothing_learnt(seats_.any_taken());
        rows_->forget_learnt();
    }
    void require_nothing_learnt(bool used) const {
        if (used && draft_->models.learns_from_texts())
            fail("speculation", "carry.drafter",
                 "expected no other open request: one uses what the drafter has learnt");
    }
    void require_sides() const {
        require_side(target_, "target");
        require_side(*draft_, "drafter");
    }
    /// Before anything is measured, or forgotten for other costs. Errors: of all that it asks for.
    [[nodiscard]] decode_settings settings_for(const text_request& text,
                                               const decode_settings& of_all) const {
        decode_settings s = settings_of(text, of_all);
        require_prompt(text.prompt, target_.models.capacity(), target_.tokenizer.vocabulary_size());
        (void)likeliest_of(s, target_.tokenizer.vocabulary_size());
        (void)end_ids_of(target_.tokenizer.table(), target_.ends, s.limits);
        const rule how = rule_for(s);
        s = drafting_settings(s, how);
        if (!applies(how))
            refuse_rule(how, draft_.has_value());
        if (s.tree)
            require_trees(how, target_.models, takes_drafter(how) ? &draft_->models : nullptr);
        return s;
    }
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
    std::optional<drafter_rows> rows_; // of the drafter's models
    sequence_pool seats_{0};
    shared_tables tables_;
    std::optional<cost_table> costs_;                                    // measured
    std::shared_ptr<open_texts> texts_ = std::make_shared<open_texts>(); // of those under way, too
    learned_by_settings learned_;
};

inline std::unique_ptr<speculative_text> speculation::open(const text_request& asked,
                                                           const decode_settings& of_all) & {
    decode_settings s = settings_for(asked, of_all);
    const rule how = rule_for(s);
    const bool drafted = draft_ && takes_drafter(how);
    const text_request request = with_masks(
        asked, target_.tokenizer, end_ids_of(target_.tokenizer.table(), target_.ends, s.limits),
        drafted ? &draft_->tokenizer : nullptr, map(), tables_);
    if (std::exchange(texts_->passes_unseen, false))
        target_.models.lost();
    std::shared_ptr<learned_lengths> own; // where nothing is carried over
    auto& learned =
        s.carry.lengths
            ? learned_.of({how, s.sampling.temperature, s.lengths.kind, s.lengths.length,
                           s.tree.has_value(), s.lookup.beside, request.grammar.active()})
            : own;
    if (learned == nullptr)
        learned = learnt_nothing(default_acceptance(how, s.sampling.temperature));
    if (how != rule::autoregressive)
        follow_settings(s.lengths, learned,
                        s.lengths.kind == length_kind::automatic ? costs_of(s.lengths) : nullptr);
    if (s.tree) {
        const bool measured = s.tree->needs_costs();
        if (measured)
            s.tree->costs = *costs();
        follow_costs(s.tree->costs.value_or(cost_table{}), measured, learned);
    }
    sequence_plan plan = plan_sequence(request, s, how, target_.tokenizer,
                                       target_.models.capacity(), target_.ends, learned, tables_);
    plan.under_way = texts_;
    plan.draft_prefix = draft_prefix(request.prompt);
    if (!takes_drafter(how))
        return open_sequence(std::move(plan), nullptr, tables_, request);
    plan.draft = &draft_->tokenizer;
    plan.settings.draft_end_ids = draft_->ends;
    const auto has_key = [&](std::size_t sequence) {
        return draft_->models.key(sequence) == request.key;
    };
    const drafting_side side{*draft_, *rows_, *map_, seats_,
                             seats_.free_for(request.prompt, has_key)};
    if (!s.carry.contexts || !has_key(side.sequence))
        rows_->truncate(side.sequence, 0);
    draft_->models.set_key(side.sequence, request.key);
    if (!s.carry.drafter)
        forget_learnt();
    return open_sequence(std::move(plan), &side, tables_, request);
}

} // namespace specdec
