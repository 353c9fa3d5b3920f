// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include <specdec/core/law_version.hpp>
#include <specdec/draft/acceptance_table.hpp>

namespace specdec {

/// Drafts while the chance that some draft token is rejected stays within bounds: ends behind the
/// first d_n with 1 - a_1 .. a_n > threshold, a_i the predicted acceptance of d_i. Papers:
/// SpecDec++ (Huang et al. 2025); OmniDraft, Eq. 6 and 7. Their predictor is a trained head; here
/// any. Borrows it. Models StopRule, LearnsLengths.
template <AcceptancePredictor A>
class predicted_end {
public:
    static constexpr rule_traits traits{.reads = true, .predict = true, .learn = true};
    predicted_end(A& predictor, double threshold, std::size_t longest)
        : predictor_(&predictor), threshold_(threshold), longest_(longest) {}

    [[nodiscard]] row_reading reads() const { return reading_of(*predictor_); }
    [[nodiscard]] double predict(const draft_progress& now) const {
        return predictor_->accept(now);
    }
    [[nodiscard]] bool more(const draft_progress& now) const {
        return now.drafted < longest_ && 1 - now.kept <= threshold_;
    }
    [[nodiscard]] law_version version() const {
        return changes_ + version_of_values(threshold_, longest_) + predictor_->version();
    }
    /// From the next draft on another predictor is asked.
    void ask(A& predictor) {
        changes_ += law_version{1} << 32; // more than marks count; the one before may be gone
        predictor_ = &predictor;
    }
    void learn(const draft_outcome& o) { teach(*predictor_, o); }

private:
    A* predictor_;
    double threshold_;
    std::size_t longest_;
    law_version changes_ = 0;
};

} // namespace specdec
