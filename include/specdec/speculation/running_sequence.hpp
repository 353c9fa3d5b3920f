// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm> // std::min
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

#include <specdec/decode/outcome_of.hpp>
#include <specdec/decode/session.hpp>
#include <specdec/decode/session_settings.hpp>
#include <specdec/decode/text_run.hpp>
#include <specdec/draft/no_drafter.hpp>
#include <specdec/process/processed_rows.hpp>
#include <specdec/speculation/any/any_tokenizer.hpp>
#include <specdec/speculation/any/steady_seconds.hpp>
#include <specdec/speculation/sequence_plan.hpp>
#include <specdec/speculation/sequence_pool.hpp>
#include <specdec/speculation/text.hpp>
#include <specdec/speculation/text_lengths.hpp>
#include <specdec/speculation/tree/tree_drafts.hpp>

namespace specdec {

/// One text under one rule: session, coin, stop rule and the text that comes of it. Bridge: a
/// lookup_or_draft of an any_source, or a lookup_branch of an any_tree_source, which ask the
/// drafter of the lease; it is null without a drafter.
template <class Bridge, class Verifier, Coin C>
class running_sequence final : public speculative_text {
public:
    running_sequence(const text_request& request, sequence_plan plan,
                     std::unique_ptr<sequence_lease> lease, Bridge bridge, Verifier verifier,
                     C coin)
        : lease_(std::move(lease)), plan_(std::move(plan)),
          lengths_(lengths_of(plan_, request.prompt.size())), shape_(plan_.tree),
          session_(std::move(bridge), std::move(verifier), plan_.settings,
                   laws_type(plan_.target.vocabulary_size(), request.process)),
          coin_(std::move(coin)), reader_(request.reader), cancelled_(request.cancelled),
          key_(request.key), prompt_(request.prompt.size()), told_tokens_(prompt_),
          run_(session_, bound_, rule(), coin_, plan_.target, plan_.limits, *this,
               steady_seconds{}) {
        session_.start(request.prompt, plan_.draft_prefix);
        follow_in_lease();
        if (plan_.under_way != nullptr)
            ++plan_.under_way->going;
    }
    running_sequence(const running_sequence&) = delete;
    running_sequence& operator=(const running_sequence&) = delete;
    ~running_sequence() override {
        if (!remembered_)
            goes_no_longer();
    }

    [[nodiscard]] draft_offer offer() override {
        if (trees || pause_ > 0)
            return {};
        return lengths_.offer();
    }
    void share_pass(const pass_share& share) override { sharing_ = share; }
    void drafter_reads_at_most(std::size_t tokens) override { most_read_ = tokens; }
    void passed(const shared_pass& pass) override { lengths_.passed(pass); }
    [[nodiscard]] bool more(std::size_t capacity) override {
        const bool more = run_.more(capacity);
        tell_committed();
        return more || (remember(), false);
    }
    [[nodiscard]] bool begin_draft(std::size_t capacity) override {
        if (!more(capacity))
            return false;
        const pass_share sharing = sharing_ ? *sharing_ : pass_share(going());
        lengths_.share_pass(sharing);
        const bool anew = lengths_.begin_draft_round();
        if (anew) {
            session_.share_pass(sharing.texts);
            if constexpr (trees) {
                shape_->share_pass(sharing.texts);
                shape_->rest(pause_ > 0);
                follow_rounds(*shape_, *plan_.learned);
            } else {
                lengths_.rest(pause_ > 0);
            }
        }
        or_without_draft([&] {
            (void)run_.begin_draft(capacity);
            if (lease_ != nullptr && lease_->reads_on(most_read_))
                reads_ = run_.end_draft(no_draft::drafter_reads);
        });
        return true;
    }
    [[nodiscard]] draft_step request_row() override {
        draft_step step;
        or_without_draft([&] { step = run_.request_row(); });
        if (!step.goes_on && pause_ > 0)
            session_.explain_no_draft(no_draft::drafter_failed);
        return step;
    }
    void draw(double seconds = 0) override {
        or_without_draft([&] { run_.draw(seconds); });
    }
    [[nodiscard]] context_edit<target_id> target_edit() const override {
        if (plan_.under_way != nullptr)
            plan_.under_way->passes_unseen = true;
        return session_.target_edit();
    }
    [[nodiscard]] std::size_t rows_needed() const override { return session_.rows_needed(); }
    void target_fed(const context_edit<target_id>& edit, double seconds) override {
        session_.target_fed(edit, seconds);
    }
    void target_lost() override { session_.target_lost(); }
    void decide(logits_rows<target_id> rows) override {
        const std::size_t n = session_.rows_needed();
        run_.decide(rows.size() > n ? rows.last(n) : rows);
    }
    void commit() override {
        run_.commit();
        tell_committed();
        follow_in_lease();
        if (run_.finish() != finish_reason::none)
            remember();
    }
    void abandon() override { run_.abandon(); }
    [[nodiscard]] std::span<const std::size_t> nodes_to_keep() const override {
        return session_.nodes_to_keep();
    }
    /// None while its reader has not been given all of it.
    [[nodiscard]] finish_reason finish() const override {
        return reader_ != nullptr && told_tokens_ < session_.tokens().size() ? finish_reason::none
                                                                             : run_.finish();
    }

    [[nodiscard]] std::span<const target_id> tokens() const override { return session_.tokens(); }
    [[nodiscard]] context_key key() const override { return key_; }
    [[nodiscard]] const statistics& counts() const override { return session_.counts(); }
    [[nodiscard]] decode_result result() const override {
        decode_result out = so_far_;
        const auto produced = session_.tokens().subspan(prompt_);
        out.tokens.assign(produced.begin(), produced.end());
        if (out.log_probabilities.size() > produced.size()) // of tokens behind the end
            out.log_probabilities.resize(produced.size());
        out.counts = session_.counts();
        if (run_.finish() != finish_reason::none)
            out.finish = run_.finish();
        return out;
    }
    [[nodiscard]] context_edit<target_id> prepare(target_sequence& target) override {
        return session_.prepare(target);
    }

    // As the run's reader:
    bool bytes(std::string_view text, token_origin origin) {
        const bool more = reader_ == nullptr || reader_->bytes(text, origin);
        so_far_.text += text; // what the reader threw at is given again
        return more;
    }
    /// Each is told once, also if one behind it throws and this is called again.
    bool round(const round_result& r) {
        if (told_ == told::nobody) {
            more_ = reader_ == nullptr || reader_->round(r);
            told_ = told::reader;
        }
        if (told_ == told::reader) {
            keep(r);
            if constexpr (trees)
                shape_->learn(r.kept.tree, r.kept.path, r.nodes);
            if (const round_seconds took = seconds_since(); std::exchange(reads_, false) || failed_)
                lengths_.learn_nothing(r.tokens.size());
            else
                lengths_.learn(outcome(r), took, costly(r));
            if constexpr (!trees)
                so_far_.first_rows_known += session_.bridge().first_row_known() ? 1U : 0U;
            take_pause();
            told_ = told::lengths;
        }
        const bool more = more_ && !plan_.cancelled() && !cancelled_();
        told_ = told::nobody;
        return more;
    }

private:
    using laws_type = processed_rows<any_row_processor<target_id>>;
    using session_type = session<Bridge, Verifier, laws_type>;
    static constexpr bool trees = bridge_traits_of<Bridge>.drafts_trees;
    using rule_type = std::conditional_t<trees, any_tree_shape, length_rule>;

    enum class told : std::uint8_t { nobody, reader, lengths };

    /// Does a step of a draft. If it throws, the draft ends, and the drafter has a pause.
    template <class F>
    void or_without_draft(const F& step) {
#if defined(__cpp_exceptions)
        if (lease_ != nullptr && !plan_.drafter_must_work) {
            try {
                return step();
            } catch (const std::exception& problem) {
                if (!run_.end_draft(no_draft::drafter_failed))
                    throw;
                so_far_.drafter_error = problem.what();
            } catch (...) {
                if (!run_.end_draft(no_draft::drafter_failed))
                    throw;
                so_far_.drafter_error = "an exception of no known type";
            }
            ++so_far_.drafter_failures;
            failed_ = true;
            return;
        }
#endif
        step();
    }
    /// After a round: how many of the next ones the drafter is not asked in.
    void take_pause() {
        constexpr std::size_t longest = 64;
        if (std::exchange(failed_, false))
            pause_ = last_pause_ = last_pause_ == 0 ? 1 : std::min(2 * last_pause_, longest);
        else if (pause_ > 0)
            --pause_;
        else
            last_pause_ = 0;
    }

    /// What the result has of the round, in place of what a call that threw has left.
    void keep(const round_result& r) {
        if constexpr (!trees)
            if (session_.bridge().bridge().own_traits().counts_forwards) {
                so_far_.extra_forwards.resize(session_.counts().rounds);
                so_far_.extra_forwards.push_back(extra_forwards_of(session_.bridge()));
            }
        if (!r.log_probabilities.of_tokens.empty())
            so_far_.log_probabilities.resize(session_.tokens().size() - prompt_);
        for (std::size_t i = 0; i < r.log_probabilities.of_tokens.size(); ++i) {
            const auto likeliest = r.log_probabilities.likeliest(i);
            so_far_.log_probabilities.push_back({{r.tokens[i], r.log_probabilities.of_tokens[i]},
                                                 {likeliest.begin(), likeliest.end()}});
        }
    }
    [[nodiscard]] draft_outcome outcome(const round_result& r) const {
        if constexpr (trees)
            return {.forwards = r.kept.tree != nullptr ? r.kept.tree->levels(r.nodes.size()) : 0,
                    .proposed = r.proposed.size(),
                    .emitted = r.tokens.size()};
        return plan_.draft != nullptr
                   ? outcome_of(r, plan_.target, *plan_.draft, extra_forwards_of(session_.bridge()))
                   : outcome_of_found(r);
    }
    /// Proposals that cost beside the drafter's passes: looked up, or nodes of trees.
    [[nodiscard]] std::size_t costly(const round_result& r) const {
        return trees || plan_.draft == nullptr ? r.proposed.size() : r.found_end - r.found;
    }
    /// Of a draft without a drafter: what was found, as far as it was proposed.
    [[nodiscard]] draft_outcome outcome_of_found(const round_result& r) const {
        draft_outcome o{.proposed = r.proposed.size(), .emitted = r.tokens.size()};
        if constexpr (!trees) {
            const std::span<const draft_progress> found = session_.bridge().steps();
            if (found.empty())
                return o;
            o.steps = found.first(o.proposed < found.size() ? o.proposed : found.size());
            o.kept = r.accepted;
            o.rejected = r.accepted < o.proposed;
        }
        return o;
    }
    /// Gives the reader the tokens that were committed since it was told last. If it throws, it is
    /// told again.
    void tell_committed() {
        const std::span<const target_id> tokens = session_.tokens();
        if (reader_ == nullptr || told_tokens_ == tokens.size())
            return;
        std::span<const token_report> reports = so_far_.log_probabilities;
        if (!reports.empty())
            reports = reports.subspan(told_tokens_ - prompt_, tokens.size() - told_tokens_);
        reader_->committed(tokens.subspan(told_tokens_), reports);
        told_tokens_ = tokens.size();
    }
    /// What was spent since this was asked last.
    [[nodiscard]] round_seconds seconds_since() {
        const statistics& c = session_.counts();
        const round_seconds now{c.target_seconds, c.draft_seconds + c.verify_seconds};
        const round_seconds last = std::exchange(spent_, now);
        return {now.pass - last.pass, now.rest - last.rest};
    }
    /// Texts of the decoder that have not ended.
    [[nodiscard]] std::size_t going() const {
        return plan_.under_way != nullptr ? plan_.under_way->going : 1;
    }
    void follow_in_lease() {
        if (lease_ != nullptr)
            lease_->follow(session_.tokens());
    }
    void goes_no_longer() {
        if (plan_.under_way != nullptr)
            --plan_.under_way->going;
    }
    /// Once, as soon as the text has ended.
    void remember() {
        if (std::exchange(remembered_, true))
            return;
        goes_no_longer();
        lengths_.end();
        if constexpr (trees) {
            shape_->rest(false);
            plan_.learned->tree = shape_;
        }
    }
    /// How long drafts are: by the lengths or, of trees, by the shape.
    [[nodiscard]] const rule_type& rule() const {
        if constexpr (trees)
            return *shape_;
        else
            return lengths_.rule();
    }
    [[nodiscard]] static text_lengths lengths_of(const sequence_plan& p, std::size_t prompt) {
        if (!p.lengths)
            return text_lengths(0);
        return text_lengths(*p.lengths, p.longest, *p.learned, prompt, 1);
    }

    std::unique_ptr<sequence_lease> lease_; // of the drafter's model
    no_drafter bound_;                      // in the source, which asks the lease's
    sequence_plan plan_;
    text_lengths lengths_;
    std::optional<pass_share> sharing_{}; // none: nobody said
    bool remembered_ = false;
    told told_ = told::nobody; // of the decided round
    bool failed_ = false;      // the drafter, in this round
    bool reads_ = false;       // the drafter its prompt, in this round
    std::size_t most_read_ = ~std::size_t{0};
    std::size_t pause_ = 0, last_pause_ = 0; // rounds in which it is not asked
    bool more_ = true;                       // said the reader
    round_seconds spent_{};
    std::optional<any_tree_shape> shape_; // of trees; it learns from the text's rounds
    session_type session_;
    C coin_;
    listener* reader_;
    cancel_check cancelled_; // of this request alone
    context_key key_;
    std::size_t prompt_;
    std::size_t told_tokens_; // of session_.tokens(), that the reader has
    decode_result so_far_;
    text_run<session_type, no_drafter, rule_type, C, any_tokenizer<target_id>, running_sequence,
             steady_seconds>
        run_;
};

} // namespace specdec
