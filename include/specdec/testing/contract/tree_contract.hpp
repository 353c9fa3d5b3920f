// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <type_traits> // std::remove_reference_t
#include <utility>
#include <vector>

#include <specdec/core/model/tree_scoring.hpp>
#include <specdec/testing/contract/engine_contract.hpp>

/// Does an engine that scores trees keep what core/model/tree_scoring.hpp asks for?
///
///     report = check_tree_model<target_id>(make_model);
///
///     tree.row_count       a row for each node; nodes do not count as size()
///     tree.rows            the row of a node is that of its path scored behind the context (bit
///                          for bit, or settings.tolerance), in chains and wherever trees branch
///     tree.levels          the same where nodes come over several calls
///     tree.keep_path       behind a kept path all is as if it had been scored: size(), rows, trees
///     tree.forgets         append, score, truncate and keep_path forget all nodes
///     tree.refused_parents parents that are no earlier nodes, or not as many as tokens, throw
///     tree.refused_path    nodes that are no path throw
///     tree.room            capacity() counts nodes, and score_tree throws beyond it
///
/// What throws leaves context and nodes as they were.
namespace specdec {

/// The checks behind check_tree_model(), a function a clause, for an engine that keeps model.*.
template <class Id, class Make>
class tree_contract {
public:
    tree_contract(Make& make, const model_contract_settings<Id>& settings)
        : make_(make), settings_(settings), capacity_(make().capacity()),
          vocabulary_(make().vocabulary_size()), ids_(settings, vocabulary_, capacity_) {}

    contract_report run() {
        contract_report r;
        r.run("tree.rows", "a row for each node, that of its path after the context", {},
              [&] { rows(); });
        r.run("tree.levels", "the same of nodes that come over several calls", {"tree.rows"},
              [&] { levels(); });
        r.run("tree.keep_path", "a kept path to be like one that was scored", {"tree.rows"},
              [&] { keep_path(); });
        r.run("tree.forgets", "nodes to be forgotten", {"tree.rows"}, [&] { forgets(); });
        r.run("tree.refused_parents", "an exception that changes nothing", {"tree.levels"},
              [&] { refused_parents(); });
        r.run("tree.refused_path", "an exception that changes nothing", {"tree.keep_path"},
              [&] { refused_path(); });
        r.run("tree.room", "room for capacity() tokens and nodes, and an exception beyond it",
              {"tree.keep_path"}, [&] { room(); });
        r.greatest_difference = greatest_;
        return r;
    }

private:
    using nodes = std::vector<std::size_t>;

    struct tree : contract_tree<Id> {
        expected_rows rows;
    };

    /// With the rows that it should get.
    [[nodiscard]] tree grow(std::vector<Id> context, std::size_t seed, std::size_t reach,
                            std::size_t most) {
        most = most < capacity_ - context.size() ? most : capacity_ - context.size();
        tree t{{ids_, std::move(context), settings_.seed + seed, reach, most},
               expected_rows(settings_.tolerance, "node")};
        std::vector<float> wanted;
        auto&& m = make_();
        for (std::size_t i = 0; i < most; ++i) {
            m.truncate(0);
            feed(m, t);
            const std::vector<Id> path = t.ids_of(t.path(i));
            const auto row = logits_rows<Id>(m.score(path))[path.size() - 1].values;
            wanted.insert(wanted.end(), row.begin(), row.end());
        }
        t.rows.record(logits_rows<Id>{wanted.data(), most, vocabulary_, vocabulary_});
        return t;
    }

    void rows() { score_all(capacity_, "in one call"); }
    void levels() { score_all(1, "of a later call"); }
    void score_all(std::size_t step, const std::string& how) {
        const std::size_t n = ids_.right.size();
        for (const std::size_t held : {std::size_t{0}, std::size_t{1}, n / 2, n - 2})
            for (const std::size_t reach : {1U, 2U, 5U, 1000U}) { // from a chain to a bush
                tree t = grow(right(held), held + reach, reach, n);
                auto&& m = make_();
                feed(m, t);
                for (std::size_t from = 0, now = step; from < t.ids.size(); from += now++)
                    score(m, t, from, from + now, how);
                expect_size(m, held, "score_tree");
            }
    }
    /// Rounds as a session drives them: each tree stands behind what the last one left.
    void keep_path() {
        std::vector<tree> rounds;
        std::vector<nodes> kept;
        std::vector<Id> context = right(1);
        for (std::size_t round = 0; round < 6 && context.size() < capacity_; ++round) {
            rounds.push_back(grow(context, round, 2 + round, 7));
            const tree& t = rounds.back();
            kept.push_back(round == 2 ? nodes{} : t.path(t.ids.size() - 1 - round % t.ids.size()));
            for (const Id id : t.ids_of(kept.back()))
                context.push_back(id);
        }
        auto&& m = make_();
        m.append(right(1));
        for (std::size_t round = 0; round < rounds.size(); ++round) {
            tree& t = rounds[round];
            score(m, t, 0, t.ids.size(), "after kept paths");
            m.keep_path(kept[round]);
            expect_size(m, t.context.size() + kept[round].size(), "keep_path");
        }
        tree& t = rounds.back();
        m.truncate(t.context.size());
        const nodes path = t.path(t.ids.size() - 1);
        require(t, path.back(), logits_rows<Id>(m.score(t.ids_of(path))).middle(path.size() - 1, 1),
                1, "scored after kept paths");
    }
    void forgets() {
        tree t = grow(right(3), 1, 2, 4);
        const std::span<const Id> one(ids_.right.data() + 2, 1);
        using model = std::remove_reference_t<decltype(make_())>;
        const auto forgotten = [&](std::size_t held, const std::string& call, auto&& make_it) {
            auto&& m = make_();
            m.append(right(held));
            (void)m.score_tree(t.ids, t.parents);
            make_it(m);
            refuses("a parent of before " + call, [&] { (void)m.score_tree(one, nodes{0}); });
            score(m, t, 0, t.ids.size(), "after a tree and " + call);
        };
        forgotten(2, "append", [&](model& m) { m.append(one); });
        forgotten(2, "score", [&](model& m) { (void)m.score(one); });
        forgotten(3, "truncate", [](model& m) { m.truncate(3); });
        forgotten(3, "keep_path", [](model& m) { m.keep_path(nodes{}); });
    }
    void refused_parents() {
        tree t = grow(right(3), 2, 2, 5);
        auto&& m = make_();
        feed(m, t);
        score(m, t, 0, 3, "in one call");
        const std::vector<Id> two = right(2);
        for (const nodes& parents : {nodes{0, 4}, {3, 0}, {tree_root - 1, 0}, {0}, {0, 1, 2}})
            refuses("parents that are none", [&] { (void)m.score_tree(two, parents); });
        expect_size(m, 3, "refused score_tree");
        score(m, t, 3, t.ids.size(), "after refused ones");
    }
    void refused_path() {
        tree t = grow(right(3), 3, 1, 3);
        std::vector<Id> context = t.context;
        context.insert(context.end(), t.ids.begin(), t.ids.begin() + 2);
        tree next = grow(std::move(context), 4, 2, 3);
        auto&& m = make_();
        feed(m, t);
        (void)m.score_tree(t.ids, t.parents);
        for (const nodes& path : {nodes{1}, {0, 2}, {0, 0}, {0, 1, 2, 3}, {3}, {tree_root}})
            refuses("nodes that are no path", [&] { m.keep_path(path); });
        expect_size(m, 3, "refused keep_path");
        m.keep_path(nodes{0, 1});
        score(m, next, 0, next.ids.size(), "after a path kept after refused ones");
    }
    void room() {
        if (capacity_ > settings_.fill_at_most)
            throw clause_left_out{"capacity() is above fill_at_most: " + std::to_string(capacity_)};
        tree t = grow(ids_.filling(capacity_ - 4), 5, 2, 4);
        auto&& m = make_();
        feed(m, t);
        const std::vector<Id> five = right(5), two = right(2);
        refuses("nodes without room", [&] { (void)m.score_tree(five, nodes(5, tree_root)); });
        score(m, t, 0, 3, "in a full context");
        refuses("nodes without room", [&] { (void)m.score_tree(two, nodes(2, tree_root)); });
        score(m, t, 3, 4, "in a full context");
        m.keep_path(nodes{0});
        m.append(ids_.filling(3));
        expect_size(m, capacity_, "keep_path and append");
    }

    template <class Model>
    void feed(Model& m, const tree& t) {
        if (!t.context.empty())
            m.append(t.context);
    }
    /// Nodes from `from` to `to`, as far as there are any.
    template <class Model>
    void score(Model& m, tree& t, std::size_t from, std::size_t to, const std::string& how) {
        const std::size_t n = (to < t.ids.size() ? to : t.ids.size()) - from;
        const logits_rows<Id> rows =
            m.score_tree(std::span<const Id>(t.ids).subspan(from, n),
                         std::span<const std::size_t>(t.parents).subspan(from, n));
        if (rows.size() != n || rows.vocabulary() != vocabulary_)
            throw clause_broken{std::to_string(rows.size()) + " rows instead of " +
                                std::to_string(n) + ", or of another length"};
        require(t, from, rows, n, how);
    }
    void require(tree& t, std::size_t from, const logits_rows<Id>& rows, std::size_t n,
                 const std::string& how) {
        t.rows.require(from, rows, n,
                       how + " after " + std::to_string(t.context.size()) + " tokens");
        const double seen = t.rows.greatest_difference();
        greatest_ = seen > greatest_ ? seen : greatest_;
    }
    template <class Model>
    static void expect_size(const Model& m, std::size_t size, const std::string& call) {
        if (m.size() != size)
            throw clause_broken{"size() " + std::to_string(m.size()) + " instead of " +
                                std::to_string(size) + " after " + call};
    }
    template <class Call>
    static void refuses(const std::string& what, const Call& call) {
        if (!throws(call))
            throw clause_broken{"no exception from " + what};
    }
    [[nodiscard]] std::vector<Id> right(std::size_t n) const { return ids_.filling(n); }
    Make& make_;
    const model_contract_settings<Id>& settings_;
    double greatest_ = 0;
    std::size_t capacity_ = 0;
    std::size_t vocabulary_ = 0;
    contract_tokens<Id> ids_;
};

/// Checks an engine that scores trees (TreeModelOf<Id>): the clauses model.*, and tree.*. `make` as
/// in check_model; it is called some hundred times.
template <class Id, class Make>
[[nodiscard]] contract_report check_tree_model(Make&& make,
                                               const model_contract_settings<Id>& settings = {}) {
    contract_report report = check_model<Id>(make, settings);
    if (report.ok())
        report.add(tree_contract<Id, Make>(make, settings).run());
    else
        report.unchecked.push_back({"tree.*", "builds on model.*"});
    return report;
}

} // namespace specdec
