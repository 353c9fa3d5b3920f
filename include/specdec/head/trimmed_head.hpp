// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <specdec/core/contract.hpp>
#include <specdec/core/law_version.hpp>
#include <specdec/core/require.hpp>
#include <specdec/head/head_row_subset.hpp>
#include <specdec/head/lm_head.hpp>
#include <specdec/head/token_list.hpp>

namespace specdec {

/// Computes an LM head's rows of some tokens; all others get -infinity. Paper: VocabTrim (Goel et
/// al. 2025), Alg. 1 and 2. Lossless, as headed_model says; where the target wants a token that was
/// cut, acceptance is lost.
///
/// Cost of a row: size() products instead of vocabulary_size(), and a row filled with -infinity; a
/// list needs none. The k-th product belongs to ids()[k]. ids() need not ascend, so a token may be
/// replaced by another (see adaptive_model). Models ListingHeadOf<Id>. Borrows the head. Memory: a
/// few numbers a kept token, `rows` rows of size() products, and a copy of the head's rows if asked
/// for, allocated at construction; a call that needs more rows allocates. Errors: specdec::error if
/// list and head are of different vocabularies, or if the head's rows cannot be copied.
template <class Id, LmHeadOf<Id> Head>
class trimmed_head {
public:
    using id_type = Id;

    trimmed_head(Head& head, const token_list<Id>& kept, head_rows from = head_rows::gathered,
                 std::size_t rows = 16)
        : head_(head), ids_(kept.ids().begin(), kept.ids().end()), ascending_(ids_),
          places_(kept.size()), in_order_(kept.size()), products_(rows * kept.size()),
          kept_(head, ids_, from, "trimmed head") {
        require_size<Id>(kept.vocabulary_size(), head.vocabulary_size(), "trimmed head", "head");
        for (std::size_t k = 0; k < size(); ++k)
            places_[k] = k;
    }

    [[nodiscard]] std::size_t vocabulary_size() const { return head_.vocabulary_size(); }
    [[nodiscard]] std::size_t width() const { return head_.width(); }
    [[nodiscard]] std::size_t size() const { return ids_.size(); }
    [[nodiscard]] std::span<const Id> ids() const { return ids_; }
    [[nodiscard]] law_version version() const { return replacements_ + version_of(head_); }

    void rows(const hidden_states& x, scores_out out) {
        const scores_out products = multiply(x);
        for (std::size_t i = 0; i < x.size(); ++i)
            scatter<Id>(products.row(i, size()), ids_, out.row(i, vocabulary_size()));
    }

    [[nodiscard]] std::size_t most_listed() const { return size(); }
    template <class F>
    void list(const hidden_states& x, F&& f) {
        const scores_out products = multiply(x);
        for (std::size_t i = 0; i < x.size(); ++i) {
            const std::span<const float> row = products.row(i, size());
            for (std::size_t j = 0; replacements_ > 0 && j < size(); ++j)
                in_order_[j] = row[places_[j]];
            f(i, std::span<const Id>(ascending_),
              replacements_ > 0 ? std::span<const float>(in_order_) : row);
        }
    }

    /// Replaces the k-th kept token by `id`. To be called between rounds only. Preconditions: k <
    /// size(); id is of the vocabulary and not kept. O(size()).
    void replace(std::size_t k, Id id) {
        SPECDEC_PRECONDITION(k < size() && id.valid() && id.index() < vocabulary_size());
        kept_.replace(k, id);
        ids_[k] = id;
        ++replacements_;
        std::size_t j = 0;
        while (places_[j] != k)
            ++j;
        for (; j > 0 && id < ascending_[j - 1]; --j)
            put(j, ascending_[j - 1], places_[j - 1]);
        for (; j + 1 < size() && ascending_[j + 1] < id; ++j)
            put(j, ascending_[j + 1], places_[j + 1]);
        put(j, id, k);
    }

private:
    scores_out multiply(const hidden_states& x) {
        if (products_.size() < x.size() * size())
            products_.resize(x.size() * size());
        const scores_out products{products_.data(), size()};
        kept_.multiply(x, 0, ids_, products);
        return products;
    }
    void put(std::size_t j, Id id, std::size_t place) {
        ascending_[j] = id;
        places_[j] = place;
    }

    Head& head_;
    std::vector<Id> ids_;             // [size]
    std::vector<Id> ascending_;       // [size] the same in the order of ids
    std::vector<std::size_t> places_; // [size] where in ids_ each of them stands
    std::vector<float> in_order_;     // [size] products of a row in that order
    law_version replacements_ = 0;    // before the first, ids_ ascend
    std::vector<float> products_;     // [rows, size]
    head_row_subset<Id, Head> kept_;
};

} // namespace specdec
