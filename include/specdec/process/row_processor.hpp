// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include <specdec/core/token_id.hpp>
#include <specdec/core/traits.hpp>

namespace specdec {

/// A row processor changes rows of logits before they become laws, on either side: a bias, a
/// penalty, a mask.
///
///     p(tokens, row)   tokens: all tokens before the row on its side, with the prompt and with
///                      tokens that are only proposed; row: the logits behind them
///     p.reserve(n)     optional, see processor_traits: `tokens` will have at most n tokens; p may
///                      allocate now
///     p.active()       likewise: false if p changes nothing, so that no row need be copied; p is
///                      then not called
///
/// The row after the call is a function of tokens and row alone, not of earlier calls, so rejected
/// proposals need not be taken back. State that is kept for speed has to follow `tokens` at every
/// call (see token_history). It may forbid tokens (-infinity), but never all of the target's; it
/// makes no NaN and no +infinity.
///
/// The target's processors change p, and so the text's law. The drafter's change q only, which is
/// lossless.
template <class P, class Id>
concept RowProcessor =
    requires(P& p, std::span<const Id> tokens, std::span<float> row) { p(tokens, row); };

/// The optional members of a processor, which it declares (traits_of).
struct processor_traits {
    bool reserve = false, active = false;

    template <class P>
    static consteval processor_traits found() {
        processor_traits t;
        t.reserve = requires(P& p, std::size_t n) { p.reserve(n); };
        t.active = requires(P& p) { p.active(); };
        return t;
    }
    bool operator==(const processor_traits&) const = default;
};

/// Passes reserve on to a processor that has it.
template <class P>
void reserve_tokens(P& processor, std::size_t tokens) {
    if constexpr (traits_of<processor_traits, P>.reserve)
        processor.reserve(tokens);
}

template <class P>
[[nodiscard]] bool is_active(const P& processor) {
    if constexpr (traits_of<processor_traits, P>.active)
        return processor.active();
    else
        return true;
}

/// Processors one behind the other; each that is active gets the row that the one before has left.
/// An empty chain changes nothing. Models RowProcessor if all do.
template <class... P>
class chain {
public:
    static constexpr processor_traits traits{.reserve = true, .active = true};
    [[nodiscard]] bool active() const { return false; }
    void reserve(std::size_t) {}
    template <class Id>
    void operator()(std::span<const Id>, std::span<float>) {}
};

template <class First, class... Rest>
class chain<First, Rest...> {
public:
    static constexpr processor_traits traits{.reserve = true, .active = true};
    explicit chain(First first, Rest... rest)
        : first_(std::move(first)), rest_(std::move(rest)...) {}

    [[nodiscard]] bool active() const { return is_active(first_) || rest_.active(); }
    void reserve(std::size_t tokens) {
        reserve_tokens(first_, tokens);
        rest_.reserve(tokens);
    }

    template <class Id>
        requires RowProcessor<First, Id> && RowProcessor<chain<Rest...>, Id>
    void operator()(std::span<const Id> tokens, std::span<float> row) {
        if (is_active(first_))
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
