// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <span>

#include <specdec/core/token_id.hpp>

namespace specdec {

/// How the drafter's context follows the committed target tokens.
///
///     c.start(prefix)      forget everything; the context begins with these draft ids
///     c.follow(committed)  these target tokens were committed
///     c.ids()              the whole context in draft ids
///     c.unchanged()        the first ids that are as they were at the last mark()
///     c.mark()             the drafter has seen ids()
///
/// A round that drafts nothing calls follow() only, so a context may put off its work until ids()
/// is asked for. The cost of a committed token does not depend on the length of the context.
template <class C>
concept DraftContext = requires(C& c, const C& k, std::span<const draft_id> prefix,
                                std::span<const target_id> committed) {
    c.start(prefix);
    c.follow(committed);
    { k.ids() } -> std::convertible_to<std::span<const draft_id>>;
    { k.unchanged() } -> std::convertible_to<std::size_t>;
    c.mark();
};

} // namespace specdec
