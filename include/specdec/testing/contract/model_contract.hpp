// SPDX-License-Identifier: MIT
#pragma once

#include <cmath> // std::isnan
#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <specdec/core/model/context_tracker.hpp>
#include <specdec/core/rows.hpp>
#include <specdec/testing/contract/contract_report.hpp>
#include <specdec/testing/contract/expected_rows.hpp>
#include <specdec/testing/contract/model_contract_settings.hpp>
#include <specdec/testing/contract/watched_model.hpp>

namespace specdec {

/// The checks behind check_model(), a function a clause. All models are made by `make`.
template <class Id, class Make>
class model_contract {
public:
    model_contract(Make& make, const model_contract_settings<Id>& settings)
        : make_(make), settings_(settings), expected_(settings.tolerance) {}

    /// Once.
    contract_report run() {
        report_.run("model.starts_empty", "an empty context with room, over a vocabulary", {},
                    [&] { starts_empty(); });
        if (report_.ok())
            ids_ = contract_tokens<Id>(settings_, vocabulary_, capacity_);
        n_ = ids_.right.size();
        report_.run("model.size_grows", "append and score to hold the tokens they are given",
                    {"model.starts_empty"}, [&] { size_grows(); });
        report_.run("model.row_count", "a row of vocabulary_size() values for every scored token",
                    {"model.size_grows"}, [&] { row_count(); });
        report_.run("model.row_values", "finite logits or -infinity, not only -infinity",
                    {"model.row_count"}, [&] { row_values(); });
        report_.run("model.row_position", "row i of a call to be that of token i scored alone",
                    {"model.row_values"}, [&] { row_position(); });
        report_.run("model.row_behind_token",
                    "row i to be the distribution after token i, not before it",
                    {"model.row_position"}, [&] { row_behind_token(); });
        report_.run("model.append_then_score",
                    "the rows after appended and after scored tokens equal", {"model.row_position"},
                    [&] { append_then_score(); });
        report_.run("model.truncate_size", "truncate(n) to leave n tokens, for all n <= size()",
                    {"model.size_grows"}, [&] { truncate_size(); });
        report_.run(
            "model.truncate_then_append", "a truncated and refilled context to be like a fresh one",
            {"model.append_then_score", "model.truncate_size"}, [&] { truncate_then_append(); });
        report_.run("model.rejected_tokens", "rows not to depend on tokens that were truncated",
                    {"model.row_position", "model.truncate_size"}, [&] { rejected_tokens(); });
        if constexpr (TellsHeld<model, Id>)
            report_.run("model.held", "held() to tell its tokens", {"model.truncate_size"},
                        [&] { held(); });
        report_.run("model.capacity", "room for capacity() tokens, and an exception beyond it",
                    {"model.size_grows"}, [&] { capacity(); });
        report_.run("model.refusal_state", "a refused call to leave the context as it was",
                    {"model.capacity", "model.row_position"}, [&] { refusal_state(); });
        report_.run("model.independence", "two models not to touch each other's contexts and rows",
                    {"model.row_position"}, [&] { independence(); });
        report_.greatest_difference = expected_.greatest_difference();
        return std::move(report_);
    }

private:
    using tokens = std::span<const Id>;
    using model = watched_model<Id, Make>;

    void starts_empty() {
        const model m(make_);
        capacity_ = m.capacity();
        vocabulary_ = m.vocabulary_size();
        if (m.size() != 0 || capacity_ == 0 || vocabulary_ == 0)
            throw clause_broken{"size() " + std::to_string(m.size()) + ", capacity() " +
                                std::to_string(capacity_) + ", vocabulary_size() " +
                                std::to_string(vocabulary_)};
    }

    void size_grows() {
        model m(make_);
        (void)m.score_any_rows(right(0, 3));
        m.append(right(3, 5));
        (void)m.score_any_rows(right(5, 6));
    }

    void row_count() {
        model m(make_);
        expected_.record(m.score(ids_.right));
    }

    void row_values() {
        for (std::size_t i = 0; i < n_; ++i) {
            for (const float x : expected_[i])
                if (std::isnan(x) || x == std::numeric_limits<float>::infinity())
                    throw clause_broken{std::to_string(x) + " in the row of position " +
                                        std::to_string(i)};
            if (!settings_.may_forbid_all && !any_allowed(expected_[i]))
                throw clause_broken{"only -infinity in the row of position " + std::to_string(i)};
        }
    }

    void row_position() {
        model m(make_);
        for (std::size_t i = 0; i < n_; ++i)
            score_right(m, i + 1, "scored alone");
    }

    /// Rows that lag by one never react to their own token, but to the one before. (So do those of
    /// a model that ignores its latest token; none is known.)
    void row_behind_token() {
        std::size_t late = n_;
        for (std::size_t i = 0; i + 1 < n_; ++i) {
            std::vector<Id> changed(ids_.right.begin(),
                                    ids_.right.begin() + static_cast<std::ptrdiff_t>(i) + 2);
            changed[i] = ids_.wrong[i];
            model m(make_);
            const logits_rows<Id> rows = m.score(changed);
            if (i > 0 && !expected_.equal(i, rows[i].values))
                return; // (the first row has none to lag behind)
            if (late == n_ && !expected_.equal(i + 1, rows[i + 1].values))
                late = i;
        }
        if (late < n_)
            throw clause_broken{"no row changes with its own token, but row " +
                                std::to_string(late + 1) + " with token " + std::to_string(late)};
    }

    void append_then_score() {
        for (const std::size_t k : {std::size_t{1}, n_ / 2, n_ - 1}) {
            model m(make_);
            m.append(right(0, 1));
            if (k > 1)
                m.append(right(1, k));
            score_right(m, n_, "after appended tokens");
        }
    }

    void truncate_size() {
        model m(make_);
        m.append(ids_.right);
        for (const std::size_t k : {n_, n_ - 1, n_ / 2, std::size_t{0}, std::size_t{0}})
            m.truncate(k);
    }

    void truncate_then_append() {
        model m(make_);
        m.append(ids_.right);
        for (const std::size_t k : {n_ - 3, n_ / 2, std::size_t{1}, std::size_t{0}}) {
            m.truncate(k);
            const std::string where = "after truncate(" + std::to_string(k) + ")";
            score_right(m, k + 1, where);
            m.append(right(k + 1, n_ - 1));
            score_right(m, n_, where + " and append");
        }
    }

    /// Rounds as a session drives them: of every call the first tokens stay, the last are rejected.
    void rejected_tokens() {
        model m(make_);
        for (std::size_t round = 0; m.size() < n_; ++round) {
            const std::size_t held = m.size(), left = n_ - held;
            const std::size_t asked = 1 + round % 5 < left ? 1 + round % 5 : left;
            const std::size_t good = 1 + round / 2 % asked;
            std::vector<Id> call;
            for (std::size_t i = held; i < held + asked; ++i)
                call.push_back(i < held + good ? ids_.right[i] : ids_.wrong[i]);
            expected_.require(held, m.score(call), good, "in round " + std::to_string(round));
            m.truncate(held + good);
        }
    }

    void held() {
        model m(make_);
        m.append(right(0, 2));
        m.append(tokens(ids_.wrong).subspan(2));
        m.truncate(2);
        (void)m.score(right(2, n_));
        if (const tokens told = m.held();
            told.size() != n_ || common_prefix<Id>(told, ids_.right) != n_)
            throw clause_broken{"others after append, truncate(2) and score"};
    }

    void capacity() {
        if (capacity_ > settings_.fill_at_most)
            throw clause_left_out{"capacity() is above fill_at_most: " + std::to_string(capacity_)};
        {
            model m(make_);
            m.append(ids_.filling(capacity_ - 1));
            (void)m.score_any_rows(right(0, 1));
            m.refuses_append(right(0, 1));
            m.refuses_score(right(0, 1));
        }
        model m(make_);
        m.append(right(0, 4));
        m.refuses_append(ids_.filling(capacity_ - 3));
    }

    void refusal_state() {
        for (const bool scoring : {false, true}) {
            model m(make_);
            (void)m.score(right(0, 4));
            const std::vector<Id> too_many = ids_.filling(capacity_ - 3);
            scoring ? m.refuses_score(too_many) : m.refuses_append(too_many);
            const std::string where = scoring ? "refused score" : "refused append";
            m.expect_size(4, where);
            score_right(m, 8, "after a " + where);
            if (capacity_ > 8) // the cells of the refused tokens are free
                m.append(ids_.filling(capacity_ - 8));
        }
    }

    void independence() {
        if (!settings_.several_at_once)
            throw clause_left_out{"several_at_once is false"};
        model a(make_), b(make_);
        const logits_rows<Id> of_a = a.score(right(0, n_ / 2));
        (void)b.score(tokens(ids_.wrong).first(n_ / 2));
        expected_.require(0, of_a, n_ / 2, "read after another model's score");
        score_right(a, n_, "after another model's score");
    }

    [[nodiscard]] tokens right(std::size_t from, std::size_t to) const {
        return tokens(ids_.right).subspan(from, to - from);
    }
    /// Scores the right tokens from size() to `to`, and compares.
    void score_right(model& m, std::size_t to, const std::string& where) {
        const std::size_t held = m.size();
        expected_.require(held, m.score(right(held, to)), to - held, where);
    }

    Make& make_;
    const model_contract_settings<Id>& settings_;
    expected_rows expected_;
    contract_report report_;
    std::size_t capacity_ = 0;
    std::size_t vocabulary_ = 0;
    std::size_t n_ = 0;
    contract_tokens<Id> ids_; // [n] of both kinds
};

} // namespace specdec
