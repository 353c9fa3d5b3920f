// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <span>
#include <vector>

#include <specdec/core/tree/token_tree.hpp>
#include <specdec/verify/verdict.hpp>

namespace specdec {

/// What rules about trees write: the path that is kept, and rows of numbers. One for each session.
/// Allocates in reserve() only.
class tree_workspace {
public:
    /// For paths of `depth` nodes, and `rows` rows over a vocabulary.
    void reserve(std::size_t depth, std::size_t rows, std::size_t vocabulary) {
        path_.reserve(depth);
        vocabulary_ = vocabulary;
        rows_.resize(rows * vocabulary);
    }

    /// The kept nodes, from the root on.
    [[nodiscard]] std::vector<std::size_t>& path() { return path_; }
    [[nodiscard]] std::span<const std::size_t> path() const { return path_; }
    /// Its first n nodes.
    [[nodiscard]] std::span<const std::size_t> path_of(std::size_t n) const {
        return std::span(path_).first(n);
    }
    [[nodiscard]] std::span<double> row(std::size_t i) {
        return std::span(rows_).subspan(i * vocabulary_, vocabulary_);
    }

private:
    std::vector<std::size_t> path_;
    std::size_t vocabulary_ = 0;
    std::vector<double> rows_; // [rows, vocabulary]
};

/// The first child of a node that a rule may go on with: none after an end token.
template <class LawAt>
[[nodiscard]] std::size_t first_child(const LawAt& law_at, const token_tree<target_id>& tree,
                                      std::size_t node) {
    return ends_before(law_at, node) ? tree_root : tree.first_child(node);
}

/// A verification rule of draft trees: decides which path is kept, and draws the token behind it.
///
///     verify(law_at, tree, proposals, coin, round, work)
///
/// proposals[i] is node i's. law_at(node) is the target law p of the token behind a node, or behind
/// the context for tree_root. A rule calls it at most once for a node, parents before children, and
/// only where it needs the law; the laws of a node's ancestors may be alive at the same time.
/// After an end token there is no law: a rule goes on with first_child() and ends a path with
/// accept_all(). It leaves the kept nodes in work.path(); the verdict counts them as `accepted`,
/// and a rejected level after them as one more that was evaluated. work is reserved for
/// verify.rows(depth) rows.
template <class V, class Law, class LawAt, class C>
concept TreeVerifier = LawOf<Law, target_id> && Coin<C> &&
                       requires(const V& verify, LawAt& law_at, const token_tree<target_id>& tree,
                                std::span<const proposal<Law>> proposals, C& coin, round_name round,
                                tree_workspace& work, std::size_t depth) {
                           {
                               verify(law_at, tree, proposals, coin, round, work)
                           } -> std::same_as<verdict>;
                           { verify.rows(depth) } -> std::convertible_to<std::size_t>;
                       };

/// Whether a rule is one of trees, whatever it decides of: it says how many rows it needs.
template <class V>
concept DecidesTrees = requires(const V& verify, std::size_t depth) { verify.rows(depth); };

} // namespace specdec
