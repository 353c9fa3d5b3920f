// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>

#include <specdec/core/law_version.hpp>
#include <specdec/draft/acceptance_table.hpp>

namespace specdec {

/// Any prediction of what is kept, chosen at run time: a view of one, which it asks and teaches.
/// Models AcceptancePredictor. A call costs an indirect one. Allocates nothing.
class any_predictor {
public:
    static constexpr rule_traits traits{.reads = true, .learn = true};
    template <AcceptancePredictor A>
        requires(!std::same_as<A, any_predictor>)
    explicit(false) any_predictor(A& predictor) : it_(&predictor), calls_(&calls_of<A>) {}

    [[nodiscard]] row_reading reads() const { return calls_->reads(it_); }
    [[nodiscard]] double accept(const draft_progress& now) const {
        return calls_->accept(it_, now);
    }
    [[nodiscard]] double next(const draft_progress& now) const { return calls_->next(it_, now); }
    [[nodiscard]] law_version version() const { return calls_->version(it_); }
    /// Of one that learns nothing: nothing.
    void learn(const draft_outcome& o) { calls_->learn(it_, o); }

private:
    struct calls {
        row_reading (*reads)(const void*);
        double (*accept)(const void*, const draft_progress&);
        double (*next)(const void*, const draft_progress&);
        law_version (*version)(const void*);
        void (*learn)(void*, const draft_outcome&);
    };
    template <class A>
    static constexpr calls calls_of{
        [](const void* p) { return reading_of(*static_cast<const A*>(p)); },
        [](const void* p, const draft_progress& now) -> double {
            return static_cast<const A*>(p)->accept(now);
        },
        [](const void* p, const draft_progress& now) -> double {
            return static_cast<const A*>(p)->next(now);
        },
        [](const void* p) -> law_version { return static_cast<const A*>(p)->version(); },
        [](void* p, const draft_outcome& o) { teach(*static_cast<A*>(p), o); }};

    void* it_;
    const calls* calls_;
};

} // namespace specdec
