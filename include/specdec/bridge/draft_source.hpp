// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>

#include <specdec/core/drafting.hpp>

namespace specdec {

/// A round's drafter and stop rule without their types: the laws of a round ask for rows after the
/// call that knew the types has returned. Both are borrowed until the round is verified.
struct draft_source {
    void* drafter = nullptr;
    const void* stop = nullptr;
    /// Gives take(to, i, row) the rows behind each of the context's last n tokens; returns the
    /// forward passes that took.
    std::size_t (*rows_behind)(void* drafter, std::span<const draft_id> context,
                               std::size_t unchanged, std::size_t n, void* to,
                               void (*take)(void* to, std::size_t i,
                                            logits_row<draft_id>)) = nullptr;
    bool (*more)(const void* stop, std::size_t drafted, double last) = nullptr;
    bool several = false; ///< n rows cost one forward pass

    template <Drafter D, StopRule Stop>
    [[nodiscard]] static draft_source of(D& drafter, const Stop& stop) {
        return {&drafter, &stop, &rows_of<D>,
                [](const void* s, std::size_t drafted, double last) {
                    return static_cast<bool>(static_cast<const Stop*>(s)->more(drafted, last));
                },
                requires(D & d){d.rows(1);
    }
};
} // namespace specdec

private:
template <class D>
static std::size_t rows_of(void* drafter, std::span<const draft_id> context, std::size_t unchanged,
                           std::size_t n, void* to,
                           void (*take)(void*, std::size_t, logits_row<draft_id>)) {
    D& d = *static_cast<D*>(drafter);
    if constexpr (requires { d.rows(n); }) {
        d.sync(context, unchanged);
        const logits_rows<draft_id> rows = d.rows(n);
        for (std::size_t i = 0; i < n; ++i)
            take(to, i, rows[i]);
        return 1;
    } else {
        for (std::size_t i = 0; i < n; ++i) {
            d.sync(context.first(context.size() - n + i + 1), unchanged);
            take(to, i, d.row());
        }
        return n;
    }
}
}
;

} // namespace specdec
