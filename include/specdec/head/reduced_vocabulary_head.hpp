// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <specdec/core/error.hpp>
#include <specdec/core/law_version.hpp>
#include <specdec/head/lm_head.hpp>
#include <specdec/head/token_list.hpp>

namespace specdec {

/// A head that was trained for some tokens only, as EAGLE-3's is: its k-th row belongs to the k-th
/// token of a list. All other tokens get -infinity. Lossless, as headed_model says.
///
/// Models ListingHeadOf<Id>. Borrows the head. Memory: `rows` rows of products, allocated at
/// construction; a call that needs more allocates. Errors: specdec::error if head and list are of
/// different lengths.
template <class Id, LmHeadOf<Id> Head>
class reduced_vocabulary_head {
public:
    using id_type = Id;

    reduced_vocabulary_head(Head& head, token_list<Id> kept, std::size_t rows = 16)
        : head_(head), kept_(std::move(kept)), products_(rows * kept_.size()) {
        if (head.vocabulary_size() != kept_.size())
            fail("reduced vocabulary head", "list",
                 "expected " + std::to_string(head.vocabulary_size()) +
                     " tokens, one for each row of the head, found " +
                     std::to_string(kept_.size()));
    }

    [[nodiscard]] std::size_t vocabulary_size() const { return kept_.vocabulary_size(); }
    [[nodiscard]] std::size_t width() const { return head_.width(); }
    [[nodiscard]] law_version version() const { return version_of(head_); }
    [[nodiscard]] std::span<const Id> ids() const { return kept_.ids(); }

    void rows(const hidden_states& x, scores_out out) {
        list(x, [&](std::size_t i, std::span<const Id> ids, std::span<const float> logits) {
            scatter(logits, ids, out.row(i, vocabulary_size()));
        });
    }

    [[nodiscard]] std::size_t most_listed() const { return kept_.size(); }
    template <class F>
    void list(const hidden_states& x, F&& f) {
        const std::size_t n = kept_.size();
        if (products_.size() < x.size() * n)
            products_.resize(x.size() * n);
        head_.multiply(x, {products_.data(), n});
        for (std::size_t i = 0; i < x.size(); ++i)
            f(i, ids(), std::span<const float>(products_).subspan(i * n, n));
    }

private:
    Head& head_;
    token_list<Id> kept_;
    std::vector<float> products_; // [rows, kept]
};

} // namespace specdec
