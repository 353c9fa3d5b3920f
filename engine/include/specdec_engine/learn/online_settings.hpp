// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

#include <specdec/learn/loss/distillation_loss.hpp>
#include <specdec/learn/regression_guard.hpp>

namespace specdec::engine {

/// When a drafter that serves learns, and from what.
struct online_settings {
    std::size_t every = 64;   ///< new training positions before an update
    double budget = 0.1;      ///< the share of time that updates may take; 0: none, 1: no limit
    std::size_t replayed = 1; ///< texts of an update that are drawn from all that are remembered
    std::size_t remembered = std::size_t{1} << 18; ///< draft tokens of the texts that are
    std::uint64_t seed = 1;                        ///< of the draws
    bool own_thread = false;          ///< updates beside the rounds instead of between them
    std::uint64_t rounds_before = 64; ///< the first update, for the watch to compare with
    watch_settings watch{};
};

struct online_counts {
    std::uint64_t texts = 0, rows = 0, updates = 0, learnt_tokens = 0, rollbacks = 0;
    double seconds = 0;           ///< in updates, with publishing
    distillation_losses latest{}; ///< of the latest update, before it
};

} // namespace specdec::engine
