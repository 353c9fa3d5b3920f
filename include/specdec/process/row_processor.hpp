// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include <specdec/core/token_id.hpp>

namespace specdec {

/// Changes rows of logits before they become laws: a bias, a penalty, a mask. On either side.
///
///     p(tokens, row)   tokens: all that stands before the row on its side, the prompt and the
///                      tokens that are only proposed included; row: the logits behind them
///     p.reserve(n)     optional: no more tokens than these will be seen; it may allocate now
///     p.active()       optional: false where it changes nothing, so that nothing need be copied
///
/// The row after the call is a function of tokens and row alone, whatever was asked before: so what
/// a round proposes and does not keep is forgotten by itself. State that is kept for speed has to
/// be brought in step at every call (see token_history). It may forbid (-infinity), on the target's
/// side never all; it makes no NaN and no +infinity.
///
/// The target's processors make p and so change what is written. Those of the drafter change only
/// q, whatever they do.
template <class P, class Id>
concept RowProcessor =
    requires(P& p, std::span<const Id> tokens, std::span<float> row) { p(tokens, row); };

/// Passes reserve on to a processor that has it.
template <class P>
void reserve_tokens(P& processor, std::size_t tokens) {
    if constexpr (requires { processor.reserve(tokens); })
        processor.reserve(tokens);
}

template <class P>
[[nodiscard]] bool is_active(const P& processor) {
    if constexpr (requires { processor.active(); })
        return processor.active();
    else
        return true;
}

/// Processors one behind the other, each on what the one before has left; none: the row as it is.
/// Models RowProcessor where all do.
template <class... P>
class chain {
public:
    void reserve(std::size_t) {}
    template <class Id>
    void operator()(std::span<const Id>, std::span<float>) {}
};

template <class First, class... Rest>
class chain<First, Rest...> {
public:
    explicit chain(First first, Rest... rest)
        : first_(std::move(first)), rest_(std::move(rest)...) {}

    void reserve(std::size_t tokens) {
        reserve_tokens(first_, tokens);
        rest_.reserve(tokens);
    }

    template <class Id>
        requires RowProcessor<First, Id> && RowProcessor<chain<Rest...>, Id>
    void operator()(std::span<const Id> tokens, std::span<float> row) {
        first_(tokens, row);
        rest_(tokens, row);
    }

private:
    First first_;
    [[no_unique_address]] chain<Rest...> rest_;
};

template <class... P>
chain(P...) -> chain<P...>;

} // namespace specdec
