// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <type_traits> // std::remove_reference_t
#include <utility>
#include <vector>

#include <specdec/core/concepts.hpp>
#include <specdec/core/error.hpp>
#include <specdec/core/model/context_tracker.hpp>
#include <specdec/core/model/one_sequence.hpp>
#include <specdec/core/model/tree_scoring.hpp>
#include <specdec/testing/contract/contract_report.hpp>
#include <specdec/testing/contract/expected_rows.hpp>
#include <specdec/testing/contract/model_contract_settings.hpp>

namespace specdec {

template <class Make>
struct made_model {
    decltype(std::declval<Make&>()()) made;
};

/// The last sequence of a new batch model, which it owns, as a model under test.
template <class Id, class Make>
class owned_sequence
    : made_model<Make>, // before the view of it
      public one_sequence<Id, std::remove_reference_t<decltype(made_model<Make>::made)>> {
public:
    explicit owned_sequence(Make& make)
        : made_model<Make>{make()},
          owned_sequence::one_sequence(this->made, last(this->made.sequences())) {}
    owned_sequence(const owned_sequence&) = delete;

private:
    static std::size_t last(std::size_t sequences) {
        if (sequences == 0)
            throw error("batch model", "sequences()", "expected one or more, found none");
        return sequences - 1;
    }
};

/// The checks behind check_batch_model(), a function a clause, for an engine whose last sequence
/// keeps the clauses model.*.
template <class Id, class Make>
class batch_model_contract {
public:
    batch_model_contract(Make& make, const model_contract_settings<Id>& settings)
        : make_(make), settings_(settings), expected_(settings.tolerance) {}

    /// Once.
    contract_report run() {
        contract_report report;
        report.run("batch.starts_empty", "empty sequences", {}, [&] { starts_empty(); });
        if (report.ok())
            ids_ = contract_tokens<Id>(settings_, vocabulary_, capacity_);
        report.run("batch.row_order", "the rows of a pass in the order of its parts",
                   {"batch.starts_empty"}, [&] { row_order(); });
        report.run("batch.sequences_apart", "no call to change another sequence",
                   {"batch.row_order"}, [&] { sequences_apart(); });
        if constexpr (traits_of<model_traits, std::remove_cvref_t<decltype(make_())>>.copies_prefix)
            report.run("batch.copied_prefix",
                       "a copied prefix to be as if it had been fed, and its source unchanged",
                       {"batch.row_order"}, [&] { copied_prefix(); });
        report.run("batch.capacity", "room for capacity() tokens in every sequence at a time",
                   {"batch.starts_empty"}, [&] { capacity(); });
        report.run("batch.refused_pass", "a refused pass to leave all of its sequences as before",
                   {"batch.row_order", "batch.capacity"}, [&] { refused_pass(); });
        if constexpr (BatchTreeModelOf<std::remove_cvref_t<decltype(make_())>, Id>)
            if (trees_)
                report.run("batch.trees", "trees of several sequences, in one pass and kept apart",
                           {"batch.row_order"}, [&] { trees(); });
        report.greatest_difference = expected_.greatest_difference();
        return report;
    }

private:
    using parts = std::vector<sequence_tokens<Id>>;

    void starts_empty() {
        auto&& m = make_();
        sequences_ = m.sequences();
        capacity_ = m.capacity();
        vocabulary_ = m.vocabulary_size();
        trees_ = scores_trees(m);
        for (std::size_t s = 0; s < sequences_; ++s)
            expect_size(m, s, 0, "a new model");
    }

    /// Three passes over parts of different lengths, the last sequence first.
    void row_order() {
        record();
        auto&& m = make_();
        for (std::size_t pass = 0; pass < 3; ++pass) {
            parts all;
            for (std::size_t s = few(); s-- > 0;) {
                const std::size_t held = m.size(s), more = 1 + (s + pass) % 3;
                all.push_back({s, right(held, held + more)}); // 6 in all
            }
            require_rows(m, all, "in pass " + std::to_string(pass));
        }
    }

    /// One sequence stands still while the other lives: appends, scores, forgets.
    void sequences_apart() {
        if (sequences_ < 2)
            throw clause_left_out{"sequences() is 1"};
        for (const std::size_t still : {std::size_t{0}, few() - 1}) {
            auto&& m = make_();
            const std::size_t other = few() - 1 - still;
            m.append(still, right(0, 3));
            m.append(other, wrong(0, 4));
            (void)m.score(parts{{other, wrong(4, 6)}});
            expect_size(m, still, 3, "calls for another sequence");
            require_rows(m, {{still, right(3, 4)}}, "after another sequence's append and score");
            m.truncate(other, 1);
            expect_size(m, still, 4, "another sequence's truncate");
            m.truncate(other, 0);
            m.append(other, right(0, 2));
            require_rows(m, {{still, right(4, 5)}}, "after another sequence's truncate");
            require_rows(m, {{other, right(2, 4)}, {still, right(5, 6)}}, "with another one");
        }
    }

    /// Part of a sequence to one that held something else; both go on.
    void copied_prefix() {
        if (sequences_ < 2)
            throw clause_left_out{"sequences() is 1"};
        auto&& m = make_();
        const std::size_t to = few() - 1;
        m.append(0, right(0, 3));
        m.append(to, wrong(0, 2));
        if (!m.copy_prefix(to, 0, 2))
            throw clause_left_out{"copy_prefix() copies nothing"};
        expect_size(m, to, 2, "a copied prefix");
        expect_size(m, 0, 3, "a copied prefix");
        require_rows(m, {{to, right(2, 4)}, {0, right(3, 5)}}, "after a copied prefix");
    }

    void capacity() {
        if (capacity_ > settings_.fill_at_most / sequences_)
            throw clause_left_out{"capacity() of all sequences is above fill_at_most"};
        auto&& m = make_();
        for (std::size_t s = 0; s < sequences_; ++s) {
            try {
                m.append(s, ids_.filling(capacity_));
            } catch (...) {
                throw clause_broken{"the append of " + std::to_string(capacity_) +
                                    " tokens to sequence " + std::to_string(s) + " threw " +
                                    handled_exception()};
            }
            expect_size(m, s, capacity_, "an append of so many");
        }
    }

    void refused_pass() {
        if (sequences_ < 2)
            throw clause_left_out{"sequences() is 1"};
        auto&& m = make_();
        const std::size_t full = few() - 1;
        m.append(0, right(0, 2));
        m.append(full, ids_.filling(capacity_));
        if (!throws([&] { (void)m.score(parts{{0, right(2, 4)}, {full, right(0, 1)}}); }))
            throw clause_broken{"no exception from a part beyond the capacity of its sequence"};
        expect_size(m, 0, 2, "a refused pass");
        expect_size(m, full, capacity_, "a refused pass");
        require_rows(m, {{0, right(2, 5)}}, "after a refused pass");
    }

    /// A tree of each sequence, of the second of three tokens alone. Each keeps the right path.
    void trees() {
        auto&& m = make_();
        const std::size_t fork[] = {tree_root, tree_root, 1}, path[] = {1, 2};
        const std::size_t plain = few() > 2 ? 1 : few();
        std::vector<std::vector<Id>> ids(few());
        std::vector<sequence_nodes<Id>> pass;
        for (std::size_t s = few(); s-- > 0;) {
            m.append(s, right(0, s + 1));
            ids[s] = {ids_.wrong[s + 1], ids_.right[s + 1], ids_.right[s + 2]};
            pass.push_back({s, s == plain ? right(s + 1, s + 3) : ids[s], fork});
            pass.back().parents = std::span(fork).first(s == plain ? 0 : 3);
        }
        const logits_rows<Id> rows = m.score_tree(pass);
        require_count(rows, 3 * few() - (plain < few() ? 1 : 0));
        std::size_t first = 0;
        parts next;
        for (const auto& [s, nodes, parents] : pass) {
            first += nodes.size();
            expected_.require(s + 1, rows.middle(first - 2, 2), 2,
                              "of sequence " + std::to_string(s) + " in a pass over trees");
            next.push_back({s, right(s + 3, s + 4)});
        }
        for (std::size_t s = 0; s < few(); ++s)
            if (s != plain)
                m.keep_path(s, path);
        require_rows(m, next, "after kept paths");
    }

    void record() {
        auto&& m = make_();
        const logits_rows<Id> rows = m.score(parts{{0, ids_.right}});
        require_count(rows, ids_.right.size());
        expected_.record(rows);
    }

    template <class Model>
    void require_rows(Model& m, const parts& all, const std::string& where) {
        std::size_t count = 0;
        std::vector<std::size_t> held;
        for (const auto& [s, ids] : all) {
            held.push_back(m.size(s));
            count += ids.size();
        }
        const logits_rows<Id> rows = m.score(all);
        require_count(rows, count);
        std::size_t first = 0;
        for (std::size_t i = 0; i < all.size(); ++i) {
            const auto& [s, ids] = all[i];
            expect_size(m, s, held[i] + ids.size(), "a pass");
            if constexpr (TellsHeldBatch<Model, Id>)
                if (m.held(s).size() != m.size(s) ||
                    common_prefix<Id>(m.held(s), ids_.right) != m.size(s))
                    throw clause_broken{"held(" + std::to_string(s) + ") told others " + where};
            expected_.require(held[i], rows.middle(first, ids.size()), ids.size(),
                              "of sequence " + std::to_string(s) + " " + where);
            first += ids.size();
        }
    }
    void require_count(const logits_rows<Id>& rows, std::size_t count) const {
        if (rows.size() != count || rows.vocabulary() != vocabulary_)
            throw clause_broken{std::to_string(rows.size()) + " rows of " +
                                std::to_string(rows.vocabulary()) + " values from a pass over " +
                                std::to_string(count) + " tokens"};
    }
    template <class Model>
    void expect_size(const Model& m, std::size_t s, std::size_t size, const std::string& call) {
        if (m.size(s) != size)
            throw clause_broken{"size(" + std::to_string(s) + ") " + std::to_string(m.size(s)) +
                                " instead of " + std::to_string(size) + " after " + call};
    }

    /// As many sequences as are looked at closely.
    [[nodiscard]] std::size_t few() const { return sequences_ < 4 ? sequences_ : 4; }
    [[nodiscard]] std::span<const Id> right(std::size_t from, std::size_t to) const {
        return std::span<const Id>(ids_.right).subspan(from, to - from);
    }
    [[nodiscard]] std::span<const Id> wrong(std::size_t from, std::size_t to) const {
        return std::span<const Id>(ids_.wrong).subspan(from, to - from);
    }

    Make& make_;
    const model_contract_settings<Id>& settings_;
    expected_rows expected_;
    std::size_t sequences_ = 0, capacity_ = 0, vocabulary_ = 0;
    bool trees_ = false;
    contract_tokens<Id> ids_; // [n] of both kinds
};

} // namespace specdec
