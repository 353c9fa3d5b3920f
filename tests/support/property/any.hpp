// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include <rapidcheck.h>

namespace specdec {

/// A number from least to greatest, any of them in small cases, too. Shrinks to the least.
[[nodiscard]] inline rc::Gen<std::size_t> any_in(std::size_t least, std::size_t greatest) {
    return rc::gen::resize(rc::kNominalSize, rc::gen::inRange<std::size_t>(least, greatest + 1));
}

/// One of these. Shrinks to those in front.
template <class T>
[[nodiscard]] rc::Gen<T> any_of(std::vector<T> all) {
    const rc::Gen<std::size_t> which = any_in(0, all.size() - 1);
    return rc::gen::map(which, [all = std::move(all)](std::size_t i) -> T { return all[i]; });
}

/// At most so many of these, as many as that in half of all cases. Shrinks to fewer.
template <class T>
[[nodiscard]] rc::Gen<std::vector<T>> up_to(std::size_t most, const rc::Gen<T>& one) {
    const auto all =
        rc::gen::resize(static_cast<int>(2 * most),
                        rc::gen::container<std::vector<T>>(rc::gen::resize(rc::kNominalSize, one)));
    return rc::gen::map(all, [most](std::vector<T> drawn) {
        if (drawn.size() > most)
            drawn.erase(drawn.begin() + static_cast<std::ptrdiff_t>(most), drawn.end());
        return drawn;
    });
}

} // namespace specdec
