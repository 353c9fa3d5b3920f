// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include <specdec/core/contract.hpp>
#include <specdec/core/error.hpp>
#include <specdec/sampling/law/sparse_law.hpp>

namespace specdec {

/// A list instead of a row: the ids that an engine's own sampler keeps, ascending, with their
/// probabilities.
template <class Id>
struct listed_row {
    using id_type = Id;
    std::span<const weighted_id<Id>> entries;
    std::size_t vocabulary = 0;
};

/// Such lists for consecutive positions, borrowed from the engine: [rows, stride] entries, of which
/// row i uses the first counts[i]. Models RowsOf<Id>. Errors: specdec::error for a
/// count above the stride.
template <class Id>
class listed_rows {
public:
    listed_rows() = default;
    listed_rows(const weighted_id<Id>* data, std::size_t stride, std::size_t vocabulary,
                std::span<const std::size_t> counts)
        : data_(data), stride_(stride), vocabulary_(vocabulary), counts_(counts) {
        for (const std::size_t n : counts)
            if (n > stride)
                fail("listed rows", "counts",
                     "expected at most the stride of " + std::to_string(stride) +
                         " entries a row, found " + std::to_string(n));
    }

    [[nodiscard]] std::size_t size() const { return counts_.size(); }
    [[nodiscard]] std::size_t vocabulary() const { return vocabulary_; }

    /// Precondition: i < size().
    [[nodiscard]] listed_row<Id> operator[](std::size_t i) const {
        SPECDEC_PRECONDITION(i < size());
        return {{data_ + i * stride_, counts_[i]}, vocabulary_};
    }
    /// n rows from row `first` on. Precondition: first + n <= size().
    [[nodiscard]] listed_rows middle(std::size_t first, std::size_t n) const {
        SPECDEC_PRECONDITION(first + n <= size());
        return {data_ + first * stride_, stride_, vocabulary_, counts_.subspan(first, n)};
    }

private:
    const weighted_id<Id>* data_ = nullptr;
    std::size_t stride_ = 0;
    std::size_t vocabulary_ = 0;
    std::span<const std::size_t> counts_;
};

} // namespace specdec
