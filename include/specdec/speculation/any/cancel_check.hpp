// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <memory>
#include <type_traits>

namespace specdec {

/// A question that is asked every round, or none: a function without a state, or anything that can
/// be called, by name. That is borrowed, so what would be gone behind the expression does not
/// compile. Allocates nothing.
///
///     settings.cancelled = [] { return interrupted != 0; };
///     const auto late = [&] { return clock() > deadline; };
///     settings.cancelled = late;
class cancel_check {
    template <class F>
    static constexpr bool is_plain = std::convertible_to<F, bool (*)()>;
    template <class F>
    static constexpr bool asks =
        !std::same_as<std::remove_cvref_t<F>, cancel_check> && !is_plain<F> &&
        requires(std::remove_reference_t<F>& f) { static_cast<bool>(f()); };

public:
    constexpr cancel_check() = default;
    template <class F>
        requires(is_plain<F>)
    explicit(false) constexpr cancel_check(F&& question) : plain_(question) {}
    template <class F>
        requires(asks<F&>)
    explicit(false) cancel_check(F& question)
        : it_(const_cast<void*>(static_cast<const void*>(std::addressof(question)))),
          ask_([](void* it) { return static_cast<bool>((*static_cast<F*>(it))()); }) {}
    template <class F>
        requires(asks<F> && !std::is_lvalue_reference_v<F>)
    explicit(false) cancel_check(F&& gone_before_use) = delete;

    /// Whether there is a question.
    [[nodiscard]] explicit operator bool() const { return plain_ != nullptr || ask_ != nullptr; }
    /// The answer; no, where there is no question.
    [[nodiscard]] bool operator()() const {
        return plain_ != nullptr ? plain_() : ask_ != nullptr && ask_(it_);
    }

private:
    bool (*plain_)() = nullptr;
    void* it_ = nullptr;
    bool (*ask_)(void*) = nullptr;
};

} // namespace specdec
