// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <limits>
#include <optional>

#include <specdec/core/error.hpp>
#include <specdec/learn/loss/distillation_loss.hpp>
#include <specdec_engine/learn/adamw.hpp>
#include <specdec_engine/learn/panels/product_numbers.hpp>
#include <specdec_engine/learn/reverse/lora.hpp>

namespace specdec::engine {

/// How a drafter learns. OmniDraft's Table 10 has a constant rate of 1e-4 or 2e-5, 8 sequences and
/// LoRA of rank 32, for drafters of 68 M parameters and more.
struct learner_settings {
    distillation_loss_settings loss{};
    std::optional<lora_settings> adapters{}; ///< then only they learn
    double rate = 5e-4;                      ///< AdamW's, constant
    double clip = 1;                         ///< longest gradient
    double anchor = 0;                       ///< weight_anchor's strength
    adamw_settings optimiser{};
    std::size_t sequences = 8;   ///< most texts of an update
    std::size_t length = 256;    ///< most tokens of a text
    std::size_t threads = 1;     ///< 0: one a core; results do not depend on it
    unsigned seed = 1;           ///< of the adapters' first values
    product_settings products{}; ///< of an update
};

/// Throws specdec::error naming the setting that is none.
inline void check(const learner_settings& s) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const auto positive = [](double x, const char* field) {
        if (!(x > 0 && x < infinity))
            throw error("learner settings", field, "expected a positive number");
    };
    validate(s.loss);
    check(s.optimiser);
    positive(s.rate, "rate");
    positive(s.clip, "clip");
    if (!(s.anchor >= 0 && s.anchor < infinity))
        throw error("learner settings", "anchor", "expected a number of at least 0");
    if (s.sequences == 0 || s.length == 0)
        throw error("learner settings", "batch", "expected sequences and a length of at least 1");
}

/// The result of an update.
struct update_result {
    distillation_losses losses; ///< before it
    std::size_t tokens = 0;     ///< of the texts
    double gradient_norm = 0;   ///< before clipping
    bool applied = false;       ///< false: the gradient was not finite, or there was none
};

} // namespace specdec::engine
