// SPDX-License-Identifier: MIT
#pragma once

namespace specdec {

/// Who makes rows that several texts have announced, in one pass of their drafters' model
/// (gathered_model).
///
///     g.pass()     makes every row that was announced and not yet made
///     g.forget()   nothing is announced any more, and rows that nobody took are as never made
class row_gatherer {
public:
    virtual void pass() = 0;
    virtual void forget() = 0;

protected:
    ~row_gatherer() = default;
};

/// What a draft needs before it goes on.
struct draft_step {
    bool goes_on = false; ///< a row of the drafter; false: nothing, it has ended
    /// Who makes that row in one pass with those of other texts. Null: the drafter makes it alone,
    /// when it is asked for.
    row_gatherer* gatherer = nullptr;
};

/// Tells a drafter that its next row will be asked for, if it wants to know. May be said again, and
/// in vain: it changes no row, only the pass that makes it.
template <class D>
[[nodiscard]] row_gatherer* announce_row(D& drafter) {
    if constexpr (requires { drafter.announce(); })
        return drafter.announce();
    else
        return nullptr;
}

} // namespace specdec
