// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>

#include <specdec/core/draft_step.hpp>
#include <specdec/core/drafting.hpp>
#include <specdec/core/error.hpp>
#include <specdec/core/law_version.hpp>

namespace specdec {

/// A round's drafter and stop rule without their types: the laws of a round ask for rows after the
/// call that knew the types has returned. Both are borrowed until the round is verified, and both
/// have marks, which tell whether they would still answer as they did.
struct draft_source {
    void* drafter = nullptr;
    const void* stop = nullptr;
    /// One forward pass: gives take(to, i, row) the rows behind each of the context's last n
    /// tokens. Pre: n is 1 unless `several`.
    void (*rows_behind)(void* drafter, std::span<const draft_id> context, std::size_t unchanged,
                        std::size_t n, void* to,
                        void (*take)(void* to, std::size_t i, logits_row<draft_id>)) = nullptr;
    /// The row behind the context will be asked for next: see ask_for_row.
    row_batcher* (*request_row)(void* drafter, std::span<const draft_id> context,
                                std::size_t unchanged) = nullptr;
    bool (*more)(const void* stop, const draft_progress& progress) = nullptr;
    draft_progress (*behind)(const void* stop, const draft_progress& before, draft_id d,
                             double last, double sure, double entropy) = nullptr;
    law_version (*version_of_drafter)(const void* drafter) = nullptr;
    law_version (*version_of_stop)(const void* stop) = nullptr;
    row_reading reads = row_reading::none; ///< what the stop rule reads of rows
    bool several = false; ///< the drafter gives the rows of a context's last tokens at once
    std::span<const draft_id> end_ids{}; ///< a draft ends after these: no row is asked for there

    /// The same for take(i, row) of any type.
    template <class Take>
    void rows(std::span<const draft_id> context, std::size_t unchanged, std::size_t n,
              Take take) const {
        rows_behind(drafter, context, unchanged, n, &take,
                    [](void* to, std::size_t i, logits_row<draft_id> row) {
                        (*static_cast<Take*>(to))(i, row);
                    });
    }

    template <Drafter D, StopRule Stop>
    [[nodiscard]] static draft_source of(D& drafter, const Stop& stop) {
        return {&drafter,    &stop,      &rows_of<D>,   &requested<D>,    &asked<Stop>,
                &next<Stop>, &marked<D>, &marked<Stop>, reading_of(stop), ManyRowsDrafter<D>};
    }

private:
    template <class Part>
    static law_version marked(const void* part) {
        return static_cast<const Part*>(part)->version();
    }
    template <class Stop>
    static bool asked(const void* stop, const draft_progress& progress) {
        return static_cast<const Stop*>(stop)->more(progress);
    }
    template <class Stop>
    static draft_progress next(const void* stop, const draft_progress& before, draft_id d,
                               double last, double sure, double entropy) {
        return extend_progress(before, *static_cast<const Stop*>(stop), d, last, sure, entropy);
    }

    template <class D>
    static row_batcher* requested(void* drafter, std::span<const draft_id> context,
                                  std::size_t unchanged) {
        D& d = *static_cast<D*>(drafter);
        d.sync(context, unchanged);
        return ask_for_row(d);
    }
    template <class D>
    static void rows_of(void* drafter, std::span<const draft_id> context, std::size_t unchanged,
                        std::size_t n, void* to,
                        void (*take)(void*, std::size_t, logits_row<draft_id>)) {
        D& d = *static_cast<D*>(drafter);
        d.sync(context, unchanged);
        if constexpr (ManyRowsDrafter<D>) {
            const logits_rows<draft_id> rows = d.rows(n);
            for (std::size_t i = 0; i < n; ++i)
                take(to, i, rows[i]);
        } else {
            take(to, 0, d.row());
        }
    }
};

/// The marks of all that a round's draft law reads (drafter, stop rule and f), as they were with
/// the round's first row. O(1); allocates nothing.
class round_marks {
public:
    round_marks() = default;
    round_marks(const draft_source& source, law_version f)
        : drafter_(source.version_of_drafter(source.drafter)),
          stop_(source.version_of_stop(source.stop)), f_(f) {}

    /// Whether the drafter's rows are still those of the round.
    [[nodiscard]] bool has_drafter_of(const draft_source& source) const {
        return source.version_of_drafter(source.drafter) == drafter_;
    }
    /// Errors: specdec::error that names what has changed.
    void require_unchanged(const draft_source& source, law_version f) const {
        const round_marks now(source, f);
        const char* const who = now.drafter_ != drafter_ ? "drafter"
                                : now.stop_ != stop_     ? "stop rule"
                                : now.f_ != f_           ? "translation"
                                                         : nullptr;
        if (who != nullptr)
            fail("round", who,
                 "expected no change between a round's draft and its verification: verify all "
                 "sequences that share it before one of them drafts, learns or commits");
    }

private:
    law_version drafter_ = 0, stop_ = 0, f_ = 0;
};

} // namespace specdec
