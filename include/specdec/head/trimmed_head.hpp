// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <specdec/core/contract.hpp>
#include <specdec/core/require.hpp>
#include <specdec/head/lm_head.hpp>
#include <specdec/head/some_rows.hpp>
#include <specdec/head/token_list.hpp>

namespace specdec {

/// The LM head's rows of some tokens; all others have -infinity. Paper: VocabTrim (Goel et al.
/// 2025), Alg. 1 and 2. Lossless with every bridge and verifier: q is the law over the kept tokens,
/// renormalised, and it is what is drawn from. What is lost is acceptance, where the target wants a
/// token that was cut.
///
/// Cost of a row: size() products instead of vocabulary_size(), and a row filled with -infinity.
/// The k-th product is that of ids()[k] and goes there, whatever order they stand in, so a token
/// may be replaced by another one (see adaptive_model). Models DraftHeadOf<Id>. Borrows the head.
/// Memory: `rows` rows of size() products, more where a call has more than ever before, and a copy
/// of the head's rows where that is asked for, allocated at construction. Errors: specdec::error
/// where list and head are of different vocabularies, or the head's rows cannot be copied.
template <class Id, LmHeadOf<Id> Head>
class trimmed_head {
public:
    using id_type = Id;

    trimmed_head(Head& head, const token_list<Id>& kept, head_rows from = head_rows::gathered,
                 std::size_t rows = 16)
        : head_(head), ids_(kept.ids().begin(), kept.ids().end()), products_(rows * kept.size()),
          kept_(head, ids_, from, "trimmed head") {
        require_size<Id>(kept.vocabulary_size(), head.vocabulary_size(), "trimmed head", "head");
    }

    [[nodiscard]] std::size_t vocabulary_size() const { return head_.vocabulary_size(); }
    [[nodiscard]] std::size_t width() const { return head_.width(); }
    /// Tokens that are kept.
    [[nodiscard]] std::size_t size() const { return ids_.size(); }
    [[nodiscard]] std::span<const Id> ids() const { return ids_; }
    [[nodiscard]] head_rows from() const { return kept_.from(); }

    void rows(const hidden_states& x, scores_out out) {
        if (products_.size() < x.size() * size())
            products_.resize(x.size() * size());
        const scores_out products{products_.data(), size()};
        kept_.multiply(x, 0, ids_, products);
        for (std::size_t i = 0; i < x.size(); ++i)
            scatter<Id>(products.row(i, size()), ids_, out.row(i, vocabulary_size()));
    }

    /// From now on the k-th kept token is `id`: between rounds, never inside one. Preconditions:
    /// k < size(); id is of the vocabulary and not kept.
    void replace(std::size_t k, Id id) {
        SPECDEC_PRECONDITION(k < size() && id.valid() && id.index() < vocabulary_size());
        kept_.replace(k, id);
        ids_[k] = id;
    }

private:
    Head& head_;
    std::vector<Id> ids_;         // [size]
    std::vector<float> products_; // [rows, size]
    some_rows<Id, Head> kept_;
};

} // namespace specdec
