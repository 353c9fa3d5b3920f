// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <specdec/core/model/tree_scoring.hpp>

namespace specdec::testing {

/// A model over 16 tokens whose rows depend on the last token, and which scores trees. Allocates at
/// construction only. Models TreeModelOf<Id>.
template <class Id>
class quiet_tree_model {
public:
    static constexpr std::size_t vocabulary = 16, most = 64;

    explicit quiet_tree_model(std::uint64_t seed, std::size_t capacity = 4096) : seed_(seed) {
        held_.reserve(capacity);
    }

    [[nodiscard]] std::size_t size() const { return held_.size(); }
    [[nodiscard]] std::size_t capacity() const { return held_.capacity(); }
    [[nodiscard]] std::size_t vocabulary_size() const { return vocabulary; }
    void append(std::span<const Id> ids) {
        held_.insert(held_.end(), ids.begin(), ids.end());
        nodes_ = 0;
    }
    logits_rows<Id> score(std::span<const Id> ids) {
        append(ids);
        return rows(ids);
    }
    void truncate(std::size_t n) {
        held_.resize(n);
        nodes_ = 0;
    }
    logits_rows<Id> score_tree(std::span<const Id> ids, std::span<const std::size_t> parents) {
        require_parents(ids.size(), parents, nodes_, "quiet tree model");
        for (const Id id : ids)
            tree_[nodes_++] = id;
        return rows(ids);
    }
    void keep_path(std::span<const std::size_t> path) {
        for (const std::size_t node : path)
            held_.push_back(tree_[node]);
        nodes_ = 0;
    }

private:
    logits_rows<Id> rows(std::span<const Id> ids) {
        for (std::size_t i = 0; i < ids.size(); ++i)
            for (std::size_t v = 0; v < vocabulary; ++v) {
                const auto last = static_cast<std::uint64_t>(ids[i].value);
                const std::uint64_t all = last * 31 + v * 7, own = all * seed_ + seed_;
                scores_[i * vocabulary + v] =
                    static_cast<float>(all * 0x9E37U % 97) / 20 + static_cast<float>(own % 13) / 10;
            }
        return {scores_.data(), ids.size(), vocabulary, vocabulary};
    }

    std::uint64_t seed_;
    std::vector<Id> held_;
    std::array<Id, most> tree_;
    std::size_t nodes_ = 0;
    std::array<float, most * vocabulary> scores_;
};

} // namespace specdec::testing
