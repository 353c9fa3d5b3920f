// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include <specdec/core/model/tree_scoring.hpp>

#include "support/toy_model.hpp"

namespace specdec::testing {

/// A toy_model that scores trees, node by node. Models TreeModelOf<Id>.
template <class Id>
class toy_tree_model : public toy_model<Id> {
public:
    using base = toy_model<Id>;
    using typename base::context;

    template <class Rows>
    toy_tree_model(std::size_t vocabulary, Rows rows, std::size_t capacity = 4096)
        : base(vocabulary, std::move(rows), 3, capacity) {}

    void append(std::span<const Id> ids) {
        base::append(ids);
        forget();
    }
    logits_rows<Id> score(std::span<const Id> ids) {
        forget();
        return base::score(ids);
    }
    void truncate(std::size_t n) {
        base::truncate(n);
        forget();
    }
    logits_rows<Id> score_tree(std::span<const Id> ids, std::span<const std::size_t> parents) {
        require_parents(ids.size(), parents, nodes_.size(), "toy tree model");
        if (ids.size() > this->capacity() - this->size() - nodes_.size())
            throw "toy_tree_model: beyond its capacity";
        const std::size_t vocabulary = this->vocabulary_size();
        scores_.resize(ids.size() * vocabulary);
        for (std::size_t i = 0; i < ids.size(); ++i) {
            nodes_.push_back(ids[i]);
            parents_.push_back(parents[i]);
            path_ = this->held();
            const auto behind = static_cast<std::ptrdiff_t>(path_.size());
            for (std::size_t node = nodes_.size() - 1; node != tree_root; node = parents_[node])
                path_.insert(path_.begin() + behind, nodes_[node]);
            this->write_row(path_, std::span(scores_).subspan(i * vocabulary, vocabulary));
        }
        this->fed += ids.size();
        ++trees;
        return {scores_.data(), ids.size(), vocabulary, vocabulary};
    }
    void keep_path(std::span<const std::size_t> path) {
        require_path(path, parents_, "toy tree model");
        context kept;
        for (const std::size_t node : path)
            kept.push_back(nodes_[node]);
        const std::size_t before = this->fed;
        if (!kept.empty())
            base::append(kept);
        this->fed = before;
        forget();
    }

    std::size_t trees = 0; ///< calls of score_tree

private:
    void forget() {
        nodes_.clear();
        parents_.clear();
    }

    context nodes_, path_;
    std::vector<std::size_t> parents_;
    std::vector<float> scores_;
};

} // namespace specdec::testing
