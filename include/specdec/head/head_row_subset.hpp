// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <utility>

#include <specdec/core/error.hpp>
#include <specdec/core/require.hpp>
#include <specdec/head/lm_head.hpp>

namespace specdec {

/// Where a part of a head reads its rows.
enum class head_rows : unsigned char {
    gathered, ///< from the head itself: nothing is copied
    copied,   ///< from a copy, row after row: a stream, which is read faster
};

namespace detail {

/// What a head's select returns, if it has one.
template <class Id, class Head>
struct selected {
    struct nothing {};
    using type = nothing;
};
template <class Id, SelectableHeadOf<Id> Head>
struct selected<Id, Head> {
    using type = decltype(std::declval<Head&>().select(std::span<const Id>()));
};

} // namespace detail

/// Some rows of an LM head, in the order of a list of ids, which the owner keeps. Multiplies runs
/// of that list, gathered or from a copy. Borrows the head. Errors: specdec::error that names
/// `source`, if a copy is asked for and the head cannot make one.
template <class Id, LmHeadOf<Id> Head>
class head_row_subset {
public:
    head_row_subset(Head& head, std::span<const Id> list, head_rows from, const char* source)
        : head_(head) {
        if (from == head_rows::gathered)
            return;
        require_ids(list, head.vocabulary_size(), source, "list"); // before rows are read
        if constexpr (selectable)
            copy_.emplace(head.select(list));
        else
            fail(source, "rows", "expected `gathered`: rows of this head cannot be copied");
    }

    /// out[i][k] = row of ids[k] times x[i]. Precondition: ids are the list's from index `first`
    /// on.
    void multiply(const hidden_states& x, std::size_t first, std::span<const Id> ids,
                  scores_out out) {
        if constexpr (selectable)
            if (copy_)
                return copy_->multiply(x, first, ids.size(), out);
        if (ids.back().index() - ids.front().index() + 1 == ids.size() && ascend(ids))
            return head_.multiply(x, ids.front().index(), ids.size(), out);
        head_.multiply(x, ids, out);
    }

    /// The list has another id at index k from now on.
    void replace([[maybe_unused]] std::size_t k, [[maybe_unused]] Id id) {
        if constexpr (selectable)
            if (copy_)
                copy_->replace(k, head_, id);
    }

private:
    static constexpr bool selectable = SelectableHeadOf<Head, Id>;
    static bool ascend(std::span<const Id> ids) {
        for (std::size_t k = 1; k < ids.size(); ++k)
            if (!(ids[k - 1] < ids[k]))
                return false;
        return true;
    }

    Head& head_;
    std::optional<typename detail::selected<Id, Head>::type> copy_;
};

} // namespace specdec
