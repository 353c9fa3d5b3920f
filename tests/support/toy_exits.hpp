// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include <specdec/core/rows.hpp>
#include <specdec/core/token_id.hpp>

#include "toy_rows.hpp"

namespace specdec::testing {

/// A model with exits whose rows are any function of the exit and of the tokens behind the first.
/// Counts what it is asked. Models ExitModelOf<draft_id>.
class toy_exits {
public:
    using row_function =
        std::function<std::vector<float>(std::size_t exit, const sequence& prefix)>;

    toy_exits(std::size_t vocabulary, std::size_t exits, row_function rows,
              std::size_t sequences = 1)
        : vocabulary_(vocabulary), rows_(std::move(rows)), held_(sequences), asked(exits) {}

    [[nodiscard]] std::size_t exits() const { return asked.size(); }
    [[nodiscard]] std::size_t sequences() const { return held_.size(); }
    [[nodiscard]] std::size_t size(std::size_t s) const { return held_[s].size(); }
    [[nodiscard]] std::size_t capacity() const { return 64; }
    [[nodiscard]] std::size_t vocabulary_size() const { return vocabulary_; }
    void append(std::size_t s, std::span<const draft_id> ids) {
        if (ids.size() > capacity() - size(s))
            throw "toy_exits: beyond its capacity";
        for (const draft_id id : ids)
            held_[s].push_back(id.value);
    }
    void truncate(std::size_t s, std::size_t n) { held_[s].resize(n); }
    [[nodiscard]] logits_rows<draft_id> exit_rows(std::size_t s, std::size_t exit,
                                                  std::size_t first, std::size_t n) {
        if (fails_at == exit)
            throw "toy_exits: this exit fails";
        if (first + n > size(s) || n == 0)
            throw "toy_exits: asked for tokens that it does not hold";
        scores_.assign(n * (vocabulary_ + 1), 1000.0F); // one of padding
        for (std::size_t i = 0; i < n; ++i) {
            const auto end = held_[s].begin() + static_cast<std::ptrdiff_t>(first + i + 1);
            const std::vector<float> row = rows_(exit, {held_[s].begin() + 1, end});
            for (std::size_t v = 0; v < vocabulary_; ++v)
                scores_[i * (vocabulary_ + 1) + v] = row[v];
        }
        asked[exit] += n;
        return {scores_.data(), n, vocabulary_, vocabulary_ + 1};
    }

private:
    std::size_t vocabulary_;
    row_function rows_;
    std::vector<sequence> held_;
    std::vector<float> scores_;

public:
    std::vector<std::size_t> asked; ///< rows, of each exit
    std::size_t fails_at = 99;
};

} // namespace specdec::testing
