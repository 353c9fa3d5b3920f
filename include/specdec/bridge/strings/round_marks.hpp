// SPDX-License-Identifier: MIT
#pragma once

#include <specdec/bridge/strings/draft_source.hpp>
#include <specdec/bridge/strings/translation.hpp>
#include <specdec/core/error.hpp>
#include <specdec/core/law_mark.hpp>

namespace specdec {

/// The marks of all that a round's draft law reads (drafter, stop rule and f), as they were with
/// the round's first row. O(1); allocates nothing.
class round_marks {
public:
    template <Translation F>
    void take(const draft_source& source, const F& f) {
        *this = round_marks(source, f.mark());
    }
    /// Whether the drafter's rows are still those of the round.
    [[nodiscard]] bool has_drafter_of(const draft_source& source) const {
        return source.mark_of_drafter(source.drafter) == drafter_;
    }
    /// Errors: specdec::error that names what has changed.
    template <Translation F>
    void require_unchanged(const draft_source& source, const F& f) const {
        const round_marks now(source, f.mark());
        const char* const who = now.drafter_ != drafter_ ? "drafter"
                                : now.stop_ != stop_     ? "stop rule"
                                : now.f_ != f_           ? "translation"
                                                         : nullptr;
        if (who != nullptr)
            fail("round", who,
                 "expected no change between a round's draft and its decision: texts that share "
                 "it are all decided before one of them drafts, learns or commits");
    }

    round_marks() = default;

private:
    round_marks(const draft_source& source, law_mark f)
        : drafter_(source.mark_of_drafter(source.drafter)), stop_(source.mark_of_stop(source.stop)),
          f_(f) {}

    law_mark drafter_ = 0, stop_ = 0, f_ = 0;
};

} // namespace specdec
