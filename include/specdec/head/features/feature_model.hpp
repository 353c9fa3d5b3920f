// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <specdec/core/basic/on_throw.hpp>
#include <specdec/core/concepts.hpp>
#include <specdec/core/error.hpp>
#include <specdec/core/law_mark.hpp>
#include <specdec/core/require.hpp>
#include <specdec/head/features/feature_records.hpp>
#include <specdec/head/features/features.hpp>

namespace specdec {

/// A drafter's model that reads the target's features. Paper: EAGLE (Li et al. 2024), section 3.1;
/// CORAL (Weng et al. 2025), section 2. A round begins behind a text t_0 .. t_(n-1). The body reads
///
///     place i := (t_(i+1), f_i)        f_i: the target's feature behind t_i if i < n - 1,
///                                      else the body's own feature of place i - 1
///
/// and a draft head makes the row behind t_(i+1) from the body's state of place i. So a row is a
/// function of the context and of n, which begin_round sets; every bridge, drafter and seat of the
/// library passes that call on. The next round forgets places that were made of own features, and
/// makes them of the target's. A round that begins with nothing (measure_costs) reads zeros. The
/// first token of a text has no place; the hidden state behind it is zero.
///
///     feature_model body_and_records(body, records);
///     headed_model draft(body_and_records, head);     // then model_drafter, or a side of a pair
///
/// Target and drafter share their ids. Models HiddenBatchModelOf<draft_id>. Borrows both. Memory:
/// the tokens of each sequence and some hidden states, allocated at construction; a longer call or
/// draft than ever before allocates. Complexity beside the body's: O(1) a row; once a round it
/// compares the text with a record. Errors: specdec::error if body and records disagree, if no
/// round has begun, and if the records lack a feature: the target has to be fed all but the text's
/// last token before the drafter is asked (session::prepare does that).
template <FeatureBody Body>
class feature_model {
public:
    /// The most places that are read in one pass.
    static constexpr std::size_t at_once = 128;

    feature_model(Body& body, const feature_records& records, std::size_t rows = 16)
        : body_(body), records_(records), texts_(body.sequences()) {
        if (body.feature_width() != records.width())
            fail("feature model", "width",
                 "expected features of " + std::to_string(body.feature_width()) +
                     " numbers, the records have " + std::to_string(records.width()));
        for (std::size_t s = 0; s < texts_.size(); ++s) {
            texts_[s].ids.reserve(capacity());
            texts_[s].own.reserve(rows * body.own_width());
            body.truncate(s, 0);
        }
        states_.reserve(rows * body.width());
        zeros_.resize(at_once * body.feature_width() + body.own_width());
    }

    [[nodiscard]] std::size_t sequences() const { return texts_.size(); }
    [[nodiscard]] std::size_t size(std::size_t s) const { return texts_[s].ids.size(); }
    [[nodiscard]] std::size_t capacity() const { return body_.capacity() + 1; }
    [[nodiscard]] std::size_t vocabulary_size() const { return body_.vocabulary_size(); }

    [[nodiscard]] static constexpr bool reads_features() { return true; }
    /// A round of sequence s begins behind n tokens.
    void begin_round(std::size_t s, std::size_t n) {
        text& t = texts_[s];
        // Places that both rounds make of the target's features stay.
        const std::size_t before = t.round.value_or(0), real = before < n ? before : n;
        if (t.round != n)
            ++t.changes;
        t.round = n;
        if (real < size(s))
            truncate(s, real);
    }

    [[nodiscard]] law_mark mark(std::size_t s) const { return texts_[s].changes; }

    /// The body reads with other weights (a set that body.use takes) from the next round on. What
    /// sequences hold, their own features too, was made with the old ones and is forgotten; the
    /// target's features stay. To be called between the rounds of all sequences: the mark of each
    /// is another one then, so that a round that was drafted before is refused.
    template <class Weights>
        requires requires(Body& body, const Weights& w) { body.use(w); }
    void use(const Weights& weights) {
        body_.use(weights);
        for (std::size_t s = 0; s < texts_.size(); ++s) {
            truncate(s, 0);
            ++texts_[s].changes;
        }
    }

    void append(std::size_t s, std::span<const draft_id> ids) {
        states_.clear();
        read(s, ids, false);
    }
    [[nodiscard]] hidden_states hidden(std::span<const sequence_tokens<draft_id>> parts) {
        states_.clear();
        for (const sequence_tokens<draft_id>& part : parts)
            read(part.sequence, part.ids, true);
        return {states_.data(), states_.size() / body_.width(), body_.width(), body_.width()};
    }
    void truncate(std::size_t s, std::size_t n) {
        text& t = texts_[s];
        t.ids.resize(n);
        if (const std::size_t places = places_of(n); places < body_.size(s))
            body_.truncate(s, places);
        const std::size_t kept = places_of(n) > t.first_own ? places_of(n) - t.first_own : 0;
        if (kept * body_.own_width() < t.own.size())
            t.own.resize(kept * body_.own_width());
    }

private:
    struct text {
        std::vector<draft_id> ids;
        std::optional<std::size_t> round; // tokens that it began behind
        law_mark changes = 0;             // of that number
        std::vector<float> own;           // of its latest places
        std::size_t first_own = 0;        // the first of them
    };
    static std::size_t places_of(std::size_t tokens) { return tokens > 0 ? tokens - 1 : 0; }

    /// Adds ids to the sequence, and keeps the hidden states behind them if they are wanted.
    void read(std::size_t s, std::span<const draft_id> ids, bool wanted) {
        text& t = texts_[s];
        require_ids(ids, vocabulary_size(), "feature model", "tokens");
        if (ids.size() > capacity() - size(s))
            fail("feature model", "tokens",
                 "expected at most " + std::to_string(capacity() - size(s)) + " more, got " +
                     std::to_string(ids.size()));
        if (!t.round)
            fail(
                "feature model", "round",
                "expected begin_round before tokens: is there a drafter that does not hand it on?");
        on_throw guard([this, s, held = size(s)] { truncate(s, held); });
        while (!ids.empty())
            ids = ids.subspan(
                read_some(s, t, ids.first(ids.size() < at_once ? ids.size() : at_once), wanted));
        guard.done();
    }

    /// Reads as many ids as one pass takes and returns how many: those with features of the target,
    /// or one with an own feature, since each of these makes the next.
    std::size_t read_some(std::size_t s, text& t, std::span<const draft_id> ids, bool wanted) {
        const std::size_t held = t.ids.size();
        if (held == 0) { // no place
            t.ids.push_back(ids.front());
            if (wanted)
                states_.resize(states_.size() + body_.width());
            return 1;
        }
        const std::size_t width = body_.feature_width();
        std::size_t n = 1;
        if (held < *t.round) {
            n = *t.round - held < ids.size() ? *t.round - held : ids.size();
            t.ids.insert(t.ids.end(), ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(n));
            const std::size_t known = held - 1 + n; // features f_0 .. f_(known - 1)
            const feature_record* record = records_.find(std::span(t.ids).first(known));
            if (record == nullptr)
                fail("feature records", "features",
                     "expected those of the text's first " + std::to_string(known) +
                         " tokens: the target is fed them before a draft (session::prepare), and "
                         "drafts are of its tokens (rule `identity`)");
            pass(s, t, ids.first(n), {record->features(held - 1, n), false}, wanted);
        } else if (*t.round == 0) {
            t.ids.insert(t.ids.end(), ids.begin(), ids.end());
            n = ids.size();
            pass(s, t, ids, {{zeros_.data(), n, width, width}, false}, wanted);
        } else {
            t.ids.push_back(ids.front());
            const std::size_t before = held - 2; // the place whose feature goes in; none for t_1
            const bool first = held == 1;
            if (!first && (before < t.first_own ||
                           (before - t.first_own) * body_.own_width() >= t.own.size()))
                fail("feature model", "round",
                     "expected contexts that begin with the round's text");
            const float* const own =
                first ? zeros_.data() : &t.own[(before - t.first_own) * body_.own_width()];
            pass(s, t, ids.first(1), {{own, 1, body_.own_width(), body_.own_width()}, true},
                 wanted);
        }
        return n;
    }

    void pass(std::size_t s, text& t, std::span<const draft_id> ids, body_input given,
              bool wanted) {
        const body_output rows = body_.read(s, ids, given);
        if (rows.states.size() != ids.size() || rows.own.size() != ids.size() ||
            rows.states.width() != body_.width() || rows.own.width() != body_.own_width())
            fail("feature model", "body's rows",
                 "expected " + std::to_string(ids.size()) + " of the body's widths");
        for (std::size_t i = 0; wanted && i < ids.size(); ++i) {
            const std::span<const float> state = rows.states[i].values;
            states_.insert(states_.end(), state.begin(), state.end());
        }
        // Later places read the own feature of the last place, or of the draft's places.
        const std::size_t place = t.ids.size() - 2;
        if (!given.own || t.own.empty()) {
            t.own.clear();
            t.first_own = place;
        }
        const std::span<const float> own = rows.own[ids.size() - 1].values;
        t.own.insert(t.own.end(), own.begin(), own.end());
    }

    Body& body_;
    const feature_records& records_;
    std::vector<text> texts_;   // [sequences]
    std::vector<float> states_; // of the latest call
    std::vector<float> zeros_;  // for at_once features of the target, or one of its own
};

} // namespace specdec
