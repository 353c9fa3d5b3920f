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
#include <specdec/core/law_version.hpp>
#include <specdec/core/model/context_window.hpp>
#include <specdec/core/model/tree_scoring.hpp>
#include <specdec/head/features/feature_records.hpp>
#include <specdec/head/features/feature_text.hpp>
#include <specdec/head/features/features.hpp>

namespace specdec {

/// A drafter's model that reads the target's features. Paper: EAGLE (Li et al. 2024), section 3.1;
/// CORAL (Weng et al. 2025), section 2. A round begins behind a text t_0 .. t_(n-1). The body reads
///
///     place i := (t_(i+1), f_i)        f_i: the target's feature behind t_i if i < n - 1,
///                                      else the body's own feature of place i - 1
///
/// and a draft head makes the row behind t_(i+1) from the body's state of place i. So a row is a
/// function of the context and of n, which begin_draft_round sets; every bridge, drafter and seat
/// of the library passes that call on. The next round forgets places that were made of own
/// features, and makes them of the target's. A round that begins with nothing (measure_costs) reads
/// zeros. The first token of a text has no place; the hidden state behind it is zero.
///
/// Long texts: if the window has a length, the body holds the places of a context_window of so many
/// tokens. It reads no place of a token that is dropped, in a prompt neither. Where a block is
/// dropped, it reads the places that stay again, with the features that they had. So a place counts
/// from the beginning of the window.
///
/// Target and drafter share their ids. Models HiddenBatchModelOf<draft_id>, and
/// HiddenTreeBatchModelOf<draft_id> where the body reads trees; several sequences take one pass of
/// a FeatureBatchBody. Borrows both. Memory: the tokens of each sequence and some hidden states,
/// allocated at construction; a longer call or draft than before allocates. Complexity beside the
/// body's: O(1) a row; once a round it compares the text with a record; a block that is dropped
/// costs as many places as stay. Errors: specdec::error if body and records disagree, for a window
/// that the body does not hold or that keeps no token, if no round has begun, and if the records
/// lack a feature: the target has to be fed all but the text's last token first (session::prepare).
/// Tokens and nodes that are refused change nothing, in no part of a call. A body that throws
/// forgets the trees of the call.
template <FeatureBody Body>
class feature_model {
public:
    /// The most places that are read in one pass.
    static constexpr std::size_t at_once = 128;

    /// With the window that the body declares.
    feature_model(Body& body, const feature_records& records)
        : feature_model(body, records, window_of(body)) {}
    /// `window`: without a length, texts are as long as the body holds.
    feature_model(Body& body, const feature_records& records, const window_settings& window,
                  std::size_t rows = 16)
        : body_(body), records_(records), texts_(body.sequences()) {
        if (window.length > 0) {
            window_.emplace(window, body.capacity() + 1, "feature model");
            if (window.keep == 0)
                fail("feature model", "settings",
                     "expected to keep at least 1 token, since the first one has no place");
        }
        if (body.feature_width() != records.width())
            fail("feature model", "width",
                 "expected features of " + std::to_string(body.feature_width()) +
                     " numbers, the records have " + std::to_string(records.width()));
        for (std::size_t s = 0; s < texts_.size(); ++s) {
            texts_[s].width = body.own_width();
            texts_[s].kept_tokens = window.keep > 0 ? window.keep : 1;
            texts_[s].ids.reserve(capacity());
            texts_[s].own.reserve(rows * body.own_width());
            body.truncate(s, 0);
        }
        states_.reserve(rows * body.width());
        zeros_.resize(at_once * body.feature_width() + body.own_width());
    }

    [[nodiscard]] std::size_t sequences() const { return texts_.size(); }
    [[nodiscard]] std::size_t size(std::size_t s) const { return texts_[s].ids.size(); }
    /// With a window: what the target holds, and a draft that the body has room for.
    [[nodiscard]] std::size_t capacity() const {
        const std::size_t places = body_.capacity() + 1;
        return window_ ? records_.capacity() + places - window_->length() : places;
    }
    /// The most tokens of a context that rows depend on; 0: all.
    [[nodiscard]] std::size_t trained_context() const { return window_ ? window_->length() : 0; }
    [[nodiscard]] std::size_t vocabulary_size() const { return body_.vocabulary_size(); }
    static constexpr model_traits traits{
        .begin_draft_round = true, .reads_features = true, .trained_context = true};
    [[nodiscard]] static constexpr bool reads_features() { return true; }
    /// A round of sequence s begins behind n tokens.
    void begin_draft_round(std::size_t s, std::size_t n) {
        if (const std::size_t real = texts_[s].begin(n); real < size(s))
            truncate(s, real);
    }
    [[nodiscard]] law_version version(std::size_t s) const { return texts_[s].changes; }

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

    void append(std::size_t s, std::span<const draft_id> ids) { read(s, ids, false); }
    [[nodiscard]] hidden_states hidden(std::span<const sequence_tokens<draft_id>> parts) {
        states_.clear();
        std::size_t done = 0;
        on_throw guard([&] {
            for (const auto& [s, ids] : parts.first(done))
                truncate(s, size(s) - ids.size());
        });
        if (!read_at_once(parts, done))
            for (; done < parts.size(); ++done)
                read(parts[done].sequence, parts[done].ids, true);
        guard.done();
        return {states_.data(), states_.size() / body_.width(), body_.width(), body_.width()};
    }
    /// Of a tree behind the round's text: a node reads its parent's own feature.
    [[nodiscard]] hidden_states hidden_tree(std::span<const sequence_nodes<draft_id>> parts)
        requires FeatureTreeBody<Body>
    {
        for (const auto& [s, ids, parents] : parts) // before any of them changes
            parents.empty() ? require_takes(s, ids, 0) : require_nodes(s, ids, parents);
        states_.clear();
        std::size_t done = 0;
        on_throw guard([&] {
            for (const auto& [s, ids, parents] : parts.first(done))
                truncate(s, parents.empty() ? size(s) - ids.size() : size(s));
        });
        for (; done < parts.size(); ++done) {
            const auto& [s, ids, parents] = parts[done];
            parents.empty() ? read(s, ids, true) : read_nodes(s, ids, parents);
        }
        guard.done();
        return {states_.data(), states_.size() / body_.width(), body_.width(), body_.width()};
    }
    void keep_path(std::size_t s, std::span<const std::size_t> path)
        requires FeatureTreeBody<Body>
    {
        text& t = texts_[s];
        require_path(path, t.parents, "feature model");
        body_.keep_path(s, path);
        t.keep(path);
    }
    void truncate(std::size_t s, std::size_t n) {
        forget_nodes(s);
        texts_[s].truncate(n);
        if (const std::size_t places = texts_[s].places_of(n); places < body_.size(s))
            body_.truncate(s, places);
    }

private:
    using text = feature_text;

    void forget_nodes(std::size_t s) {
        if constexpr (FeatureTreeBody<Body>)
            if (!texts_[s].nodes.empty())
                body_.keep_path(s, {});
        texts_[s].forget_nodes();
    }
    void require_takes(std::size_t s, std::span<const draft_id> ids, std::size_t nodes) const {
        texts_[s].require_takes(ids, capacity() - size(s) - nodes, vocabulary_size());
    }
    void require_nodes(std::size_t s, std::span<const draft_id> ids,
                       std::span<const std::size_t> parents) const {
        require_takes(s, ids, texts_[s].nodes.size());
        texts_[s].require_under(ids.size(), parents);
    }

    /// Level by level, since a node reads what its parent made. Pre: require_nodes.
    void read_nodes(std::size_t s, std::span<const draft_id> ids,
                    std::span<const std::size_t> parents) {
        text& t = texts_[s];
        if (t.nodes.empty())
            move_window(s, dropped(t, t.size()));
        on_throw guard([this, s] { forget_nodes(s); });
        while (!ids.empty()) {
            const std::size_t n = t.ready(parents, at_once);
            const body_input given =
                t.given_under(parents.first(n), records_.width(), zeros_.data(), given_);
            const body_output rows = body_.read_tree(s, ids.first(n), parents.first(n), given);
            take(rows, n, true);
            t.add_nodes(ids.first(n), parents.first(n), rows.own);
            ids = ids.subspan(n);
            parents = parents.subspan(n);
        }
        guard.done();
    }

    /// Adds ids to the sequence, and keeps the hidden states behind them if they are wanted.
    void read(std::size_t s, std::span<const draft_id> ids, bool wanted) {
        text& t = texts_[s];
        require_takes(s, ids, 0);
        forget_nodes(s);
        on_throw guard([this, s, held = size(s)] { truncate(s, held); });
        while (!ids.empty())
            ids = ids.subspan(
                read_some(s, t, ids.first(ids.size() < at_once ? ids.size() : at_once), wanted));
        guard.done();
    }

    /// Reads as many ids as one pass takes and returns how many.
    std::size_t read_some(std::size_t s, text& t, std::span<const draft_id> ids, bool wanted) {
        const std::size_t drop = dropped(t, t.size() + 1);
        move_window(s, drop);
        if (const std::size_t n = t.without_place(ids.size()); n > 0) {
            t.add(ids.first(n));
            states_.resize(states_.size() + (wanted ? n * body_.width() : 0));
            return n;
        }
        std::size_t n = t.at_once(ids.size());
        if (dropped(t, t.size() + n) != drop)
            n = 1;
        const std::size_t held = t.size();
        t.add(ids.first(n));
        const body_input given = t.given(held, n, records_, zeros_.data());
        const body_output rows = body_.read(s, ids.first(n), given);
        take(rows, n, wanted);
        t.made(rows.own[n - 1].values, given.own);
        return n;
    }

    /// What a text of n tokens drops.
    [[nodiscard]] std::size_t dropped(const text& t, std::size_t n) const {
        return window_ ? window_->dropped(*t.round, n) : 0;
    }
    /// The body holds the places of the text's tokens in a window that drops so many.
    void move_window(std::size_t s, std::size_t drop) {
        text& t = texts_[s];
        if (drop != t.dropped) {
            body_.truncate(s, body_.size(s) < t.kept_tokens ? body_.size(s) : t.kept_tokens - 1);
            t.dropped = drop;
        }
        for (std::size_t i = 0; (i = t.token_of(body_.size(s))) < t.size();) {
            std::size_t n = t.again_at_once(i);
            n = n < at_once ? n : at_once;
            const body_input given = t.given(i, n, records_, zeros_.data());
            take(body_.read(s, std::span(t.ids).subspan(i, n), given), n, false);
        }
    }

    /// Reads the parts in one pass, if the body and what they read allow it. done: parts added.
    bool read_at_once(std::span<const sequence_tokens<draft_id>> parts, std::size_t& done) {
        if constexpr (!FeatureBatchBody<Body>) {
            return false;
        } else {
            for (const auto& [s, ids] : parts)
                require_takes(s, ids, 0);
            if (parts.size() < 2 || !stay_in_windows(parts) ||
                source_of(texts_, parts, at_once) == feature_source::mixed)
                return false;
            given_.clear();
            body_input given;
            for (const auto& [s, ids] : parts) {
                const std::size_t held = size(s);
                texts_[s].add(ids);
                ++done;
                given = texts_[s].given(held, ids.size(), records_, zeros_.data());
                add_rows(given_, given.rows);
            }
            const std::size_t width = given.rows.width(), all = given_.size() / width;
            given.rows = {given_.data(), all, width, width};
            const body_output rows = body_.read(parts, given);
            take(rows, all, true);
            std::size_t n = 0;
            for (const auto& [s, ids] : parts)
                texts_[s].made(rows.own[(n += ids.size()) - 1].values, given.own);
            return true;
        }
    }

    /// Whether no window moves within a part. Moves the windows to the parts.
    bool stay_in_windows(std::span<const sequence_tokens<draft_id>> parts) {
        for (const auto& [s, ids] : parts) {
            const text& t = texts_[s];
            if (ids.empty() || dropped(t, t.size() + 1) != dropped(t, t.size() + ids.size()))
                return false;
        }
        for (const auto& [s, ids] : parts) {
            forget_nodes(s);
            move_window(s, dropped(texts_[s], size(s) + 1));
        }
        return true;
    }

    /// Keeps the hidden states of n rows if they are wanted.
    void take(const body_output& rows, std::size_t n, bool wanted) {
        if (rows.states.size() != n || rows.own.size() != n ||
            rows.states.width() != body_.width() || rows.own.width() != body_.own_width())
            fail("feature model", "body's rows",
                 "expected " + std::to_string(n) + " rows of the body's widths");
        if (wanted)
            add_rows(states_, rows.states);
    }

    Body& body_;
    const feature_records& records_;
    std::optional<context_window> window_;
    std::vector<text> texts_;   // [sequences]
    std::vector<float> states_; // of the latest call
    std::vector<float> given_;  // to the latest nodes
    std::vector<float> zeros_;  // for at_once features of the target, or one of its own
};

} // namespace specdec
