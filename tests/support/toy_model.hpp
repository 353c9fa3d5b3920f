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

    /// rows(context): a row_function, or one that gives a row which it keeps.
    template <class Rows>
    toy_model(std::size_t vocabulary, Rows rows, std::size_t padding = 3,
              std::size_t capacity = 4096)
        : vocabulary_(vocabulary),
          rows_([rows = std::move(rows)](const context& tokens, std::span<float> out) mutable {
              const auto& row = rows(tokens);
              for (std::size_t v = 0; v < out.size(); ++v)
                  out[v] = row[v];
          }),
          padding_(padding), capacity_(capacity) {}

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
            rows_(held_, std::span(scores_).subspan(i * stride, vocabulary_));
        }
        fed += ids.size();
        ++calls;
        return {scores_.data(), ids.size(), vocabulary_, stride};
    }

    void truncate(std::size_t n) { held_.resize(n); }

    [[nodiscard]] const context& held() const { return held_; }

    std::size_t fed = 0;   ///< tokens fed in all
    std::size_t calls = 0; ///< calls of score

protected:
    void write_row(const context& behind, std::span<float> out) const { rows_(behind, out); }

private:
    void require_room(std::span<const Id> ids) const {
        if (ids.size() > capacity_ - held_.size())
            throw "toy_model: beyond its capacity";
    }

    std::size_t vocabulary_;
    std::function<void(const context&, std::span<float>)> rows_;
    std::size_t padding_;
    std::size_t capacity_;
    context held_;
    std::vector<float> scores_;
};

} // namespace specdec::testing
