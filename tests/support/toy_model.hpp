// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include <specdec/core/concepts.hpp>

namespace specdec::testing {

/// A model whose rows are any function of the tokens before them. Counts what is asked of it;
/// models ModelOf<Id> and nothing more. Rows are padded by `padding` floats of +1000, which must
/// never matter.
template <class Id>
class toy_model {
public:
    using context = std::vector<Id>;
    using row_function = std::function<std::vector<float>(const context&)>;

    toy_model(std::size_t vocabulary, row_function rows, std::size_t padding = 3,
              std::size_t capacity = 4096)
        : vocabulary_(vocabulary), rows_(std::move(rows)), padding_(padding), capacity_(capacity) {}

    [[nodiscard]] std::size_t size() const { return held_.size(); }
    [[nodiscard]] std::size_t capacity() const { return capacity_; }
    [[nodiscard]] std::size_t vocabulary_size() const { return vocabulary_; }

    void append(std::span<const Id> ids) {
        require_room(ids);
        held_.insert(held_.end(), ids.begin(), ids.end());
        fed += ids.size();
    }

    logits_rows<Id> score(std::span<const Id> ids) {
        require_room(ids);
        const std::size_t stride = vocabulary_ + padding_;
        scores_.assign(ids.size() * stride, 1000.0F);
        for (std::size_t i = 0; i < ids.size(); ++i) {
            held_.push_back(ids[i]);
            const std::vector<float> row = rows_(held_);
            for (std::size_t v = 0; v < vocabulary_; ++v)
                scores_[i * stride + v] = row[v];
        }
        fed += ids.size();
        ++calls;
        return {scores_.data(), ids.size(), vocabulary_, stride};
    }

    void truncate(std::size_t n) { held_.resize(n); }

    [[nodiscard]] const context& held() const { return held_; }

    std::size_t fed = 0;   ///< tokens fed in all
    std::size_t calls = 0; ///< calls of score

private:
    void require_room(std::span<const Id> ids) const {
        if (ids.size() > capacity_ - held_.size())
            throw "toy_model: beyond its capacity";
    }

    std::size_t vocabulary_;
    row_function rows_;
    std::size_t padding_;
    std::size_t capacity_;
    context held_;
    std::vector<float> scores_;
};

} // namespace specdec::testing
