// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <specdec/core/concepts.hpp>
#include <specdec/core/error.hpp>
#include <specdec/core/model/tree_scoring.hpp>
#include <specdec/head/lm_head.hpp>
#include <specdec/sampling/law/softmax_law.hpp>

#include "support/toys/weighted_rows.hpp"

namespace specdec {

/// What a toy throws that was told to fail: an engine's fault, no error of the library.
struct toy_fault {};

/// A model whose rows are weighted_rows. Borrows them; they may be changed like an engine's
/// weights. A pass can be told to fail, once. Models TreeModelOf<Id> and HiddenTreeModelOf<Id>.
template <class Id>
class weighted_model {
public:
    weighted_model(const weighted_rows& rows, std::size_t vocabulary, std::size_t capacity = 64)
        : rows_(&rows), vocabulary_(vocabulary), capacity_(capacity) {}

    [[nodiscard]] std::size_t size() const { return held_.size(); }
    [[nodiscard]] std::size_t capacity() const { return capacity_; }
    [[nodiscard]] std::size_t vocabulary_size() const { return vocabulary_; }

    void append(std::span<const Id> ids) {
        pass(ids, 0);
        held_.insert(held_.end(), ids.begin(), ids.end());
        forget_nodes();
    }
    [[nodiscard]] logits_rows<Id> score(std::span<const Id> ids) {
        feed(ids);
        return {scores_.data(), ids.size(), vocabulary_, vocabulary_};
    }
    /// The same as the states of a head that hands them on, finite as a head's products must be.
    [[nodiscard]] hidden_states hidden(std::span<const Id> ids) {
        feed(ids);
        return finite_states(ids.size());
    }
    void truncate(std::size_t n) {
        held_.resize(n);
        forget_nodes();
    }

    [[nodiscard]] logits_rows<Id> score_tree(std::span<const Id> ids,
                                             std::span<const std::size_t> parents) {
        grow(ids, parents);
        return {scores_.data(), ids.size(), vocabulary_, vocabulary_};
    }
    [[nodiscard]] hidden_states hidden_tree(std::span<const Id> ids,
                                            std::span<const std::size_t> parents) {
        grow(ids, parents);
        return finite_states(ids.size());
    }
    void keep_path(std::span<const std::size_t> path) {
        require_path(path, parents_, "weighted model");
        for (const std::size_t node : path)
            held_.push_back(nodes_[node]);
        forget_nodes();
    }

    /// The pass behind the next n throws toy_fault.
    void fail_behind(std::size_t n) { passes_left_ = n + 1; }
    /// Other laws from the next row on.
    void use(const weighted_rows& rows) { rows_ = &rows; }

private:
    void feed(std::span<const Id> ids) {
        pass(ids, 0);
        scores_.resize(ids.size() * vocabulary_);
        for (std::size_t i = 0; i < ids.size(); ++i) {
            held_.push_back(ids[i]);
            rows_->logits(std::span<const Id>(held_),
                          std::span(scores_).subspan(i * vocabulary_, vocabulary_));
        }
        forget_nodes();
    }
    void grow(std::span<const Id> ids, std::span<const std::size_t> parents) {
        require_parents(ids.size(), parents, nodes_.size(), "weighted model");
        pass(ids, nodes_.size());
        scores_.resize(ids.size() * vocabulary_);
        for (std::size_t i = 0; i < ids.size(); ++i) {
            nodes_.push_back(ids[i]);
            parents_.push_back(parents[i]);
            std::vector<Id> path; // from the node up
            for (std::size_t at = nodes_.size() - 1; at != tree_root; at = parents_[at])
                path.push_back(nodes_[at]);
            std::vector<Id> context = held_;
            context.insert(context.end(), path.rbegin(), path.rend());
            rows_->logits(std::span<const Id>(context),
                          std::span(scores_).subspan(i * vocabulary_, vocabulary_));
        }
    }
    [[nodiscard]] hidden_states finite_states(std::size_t n) {
        for (float& x : scores_)
            x = x < -80 ? -80.0F : x;
        return {scores_.data(), n, vocabulary_, vocabulary_};
    }
    void forget_nodes() {
        nodes_.clear();
        parents_.clear();
    }
    /// Of tokens that leave so many nodes where they are.
    void pass(std::span<const Id> ids, std::size_t nodes) {
        if (ids.size() > capacity_ - held_.size() - nodes)
            fail("weighted model", "context", "expected room for the tokens");
        if (passes_left_ > 0 && --passes_left_ == 0)
            throw toy_fault{};
    }

    const weighted_rows* rows_;
    std::size_t vocabulary_, capacity_;
    std::size_t passes_left_ = 0;      // to the one that fails; 0: none does
    std::vector<Id> held_, nodes_;     // the context; the tree behind it
    std::vector<std::size_t> parents_; // of the nodes
    std::vector<float> scores_;
};

/// What the target draws from behind a context, as the library makes it of the row.
[[nodiscard]] inline std::vector<double>
weighted_probabilities(const weighted_rows& rows, std::span<const target_id> context,
                       std::size_t vocabulary, const sampling_parameters& sampling = {}) {
    std::vector<float> logits(vocabulary);
    rows.logits(context, std::span(logits));
    const softmax_law<target_id> law = make_law(logits_row<target_id>{logits}, sampling);
    std::vector<double> p(vocabulary);
    for (std::size_t v = 0; v < vocabulary; ++v)
        p[v] = law.probability(id_at<target_id>(v));
    return p;
}

} // namespace specdec
