// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <span>

#include <specdec/core/concepts.hpp>

namespace specdec {

/// Who makes rows that several texts have requested, in one pass of their drafters' model
/// (row_batching_model).
///
///     g.pass()     makes every row that was requested and not yet made
///     g.forget()   nothing is requested any more, and rows that nobody took are as never made
class row_batcher {
public:
    virtual void pass() = 0;
    virtual void forget() = 0;

protected:
    ~row_batcher() = default;
};

/// What a draft needs before it goes on.
struct draft_step {
    bool goes_on = false; ///< a row of the drafter; false: nothing, it has ended
    /// Who makes that row in one pass with those of other texts. Null: the drafter makes it alone,
    /// when it is asked for.
    row_batcher* gatherer = nullptr;
};

/// A model that is told which rows score will be asked for; of several sequences, with a Sequence.
template <class M, class Id, class... Sequence>
concept RequestsRows = requires(M& m, Sequence... s, std::span<const Id> ids) {
    { m.request_row(s..., ids) } -> std::convertible_to<row_batcher*>;
};

/// Tells a drafter that its next row will be asked for, if it declares request_row(). May be said
/// again, and in vain: it changes no row, only the pass that makes it.
template <class D>
[[nodiscard]] row_batcher* ask_for_row(D& drafter) {
    if constexpr (traits_of<model_traits, D>.request_row)
        return drafter.request_row();
    else
        return nullptr;
}

} // namespace specdec
