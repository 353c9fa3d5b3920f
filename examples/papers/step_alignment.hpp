// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm> // std::copy_n, std::shuffle
#include <cstddef>
#include <random>
#include <span>
#include <vector>

#include "papers/feature_loss.hpp"
#include <specdec/core/error.hpp>

namespace specdec::papers {

/// A feature that a drafter made in training: in step `step` + 1 of a draft, for `position` of the
/// batch (any number that tells positions apart, all sequences together).
struct made_feature {
    std::size_t position = 0;
    std::size_t step = 0;
};

/// L_CSRA of a training of several steps (CORAL, section 3.1): step t aligns its features with
/// those of the steps before it and with the target's, at the positions that all t steps have, or
/// at `most` of them, drawn anew each time. The loss is the mean over the steps.
///
///     step_alignment csra(width, 96, seed);
///     loss += csra(cells, states, wanted, dstates, weight);
///
/// Memory: the features and gradients of `most` positions; a longer draft than before allocates.
class step_alignment {
public:
    /// Errors: specdec::error for a width or a number of positions of 0.
    step_alignment(std::size_t width, std::size_t most, unsigned seed)
        : width_(width), most_(most), random_(seed) {
        if (width == 0 || most == 0)
            fail("step alignment", "sizes", "expected a width and some positions");
    }

    /// Adds the weighted gradient to dstates. states [cells, width]: what the drafter made;
    /// wanted(position): the target's feature there, [width]. A position has at most one cell a
    /// step. Errors: specdec::error for sizes that do not fit, and as alignment_loss.
    template <class Wanted>
    double operator()(std::span<const made_feature> cells, std::span<const float> states,
                      const Wanted& wanted, std::span<float> dstates, double weight = 1,
                      double tau = 0.07) {
        if (states.size() != cells.size() * width_ || dstates.size() != states.size())
            fail("step alignment", "sizes", "expected a feature and a gradient for each cell");
        std::size_t steps = 0, positions = 0;
        for (const made_feature& c : cells) {
            steps = c.step + 1 > steps ? c.step + 1 : steps;
            positions = c.position + 1 > positions ? c.position + 1 : positions;
        }
        cell_at_.assign(steps * positions, none);
        for (std::size_t c = 0; c < cells.size(); ++c)
            cell_at_[cells[c].step * positions + cells[c].position] = c;
        double loss = 0;
        for (std::size_t t = 1; t <= steps; ++t) {
            choose(t, positions);
            if (chosen_.size() < 2) // nothing to tell apart
                continue;
            loss += align(t, positions, states, wanted, dstates,
                          weight / static_cast<double>(steps), tau);
        }
        return loss;
    }

private:
    static constexpr std::size_t none = ~std::size_t{0};

    /// The positions that the first t steps have.
    void choose(std::size_t t, std::size_t positions) {
        chosen_.clear();
        for (std::size_t p = 0; p < positions; ++p) {
            bool all = true;
            for (std::size_t s = 0; s < t; ++s)
                all = all && cell_at_[s * positions + p] != none;
            if (all)
                chosen_.push_back(p);
        }
        std::shuffle(chosen_.begin(), chosen_.end(), random_);
        if (chosen_.size() > most_)
            chosen_.resize(most_);
    }
    template <class Wanted>
    double align(std::size_t t, std::size_t positions, std::span<const float> states,
                 const Wanted& wanted, std::span<float> dstates, double weight, double tau) {
        const std::size_t step = chosen_.size() * width_;
        views_.resize((t + 1) * step);
        gradients_.resize(t * step);
        const auto each_cell = [&](const auto& use) { // use(its place in views, cell)
            for (std::size_t s = 0; s < t; ++s)
                for (std::size_t k = 0; k < chosen_.size(); ++k)
                    use(s * step + k * width_, cell_at_[s * positions + chosen_[k]]);
        };
        each_cell([&](std::size_t at, std::size_t cell) {
            std::copy_n(states.data() + cell * width_, width_, views_.data() + at);
        });
        for (std::size_t k = 0; k < chosen_.size(); ++k)
            std::copy_n(wanted(chosen_[k]).data(), width_, views_.data() + t * step + k * width_);
        const double loss = alignment_loss(views_, chosen_.size(), width_, gradients_, weight, tau);
        each_cell([&](std::size_t at, std::size_t cell) {
            for (std::size_t j = 0; j < width_; ++j)
                dstates[cell * width_ + j] += gradients_[at + j];
        });
        return loss;
    }

    std::size_t width_, most_;
    std::mt19937 random_;
    std::vector<std::size_t> cell_at_, chosen_; ///< [steps, positions], [at most `most`]
    std::vector<float> views_, gradients_;
};

} // namespace specdec::papers
