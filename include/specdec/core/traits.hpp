// SPDX-License-Identifier: MIT
#pragma once

namespace specdec {

/// The optional members of a contract that T has, as T declares them:
///
///     static constexpr model_traits traits{.lazy_append = true};
///
/// The library calls an optional member only if its class declares it. Errors: a class that has one
/// and does not declare it, or declares one and does not have it, does not compile, so a misspelt
/// member is found. Traits::found<T>() are those that T has.
template <class Traits, class T>
inline constexpr Traits traits_of = [] {
    constexpr Traits found = Traits::template found<T>();
    constexpr Traits declared = [] {
        if constexpr (requires { T::traits; })
            return T::traits;
        else
            return Traits{};
    }();
    static_assert(declared == found, "T::traits: expected to declare the optional members that T "
                                     "has, and no others");
    return declared;
}();

} // namespace specdec
