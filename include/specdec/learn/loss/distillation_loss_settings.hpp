// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include <specdec/core/basic/builtins.hpp>
#include <specdec/core/error.hpp>

namespace specdec {

/// The loss where tokens of both vocabularies begin (OmniDraft, Eq. 4: L_DM is the reverse KL).
enum class direct_loss : std::uint8_t {
    reverse_kl,
    forward_kl,
    total_variation,
    nll,  ///< - log q(d) of the draft token that the text goes on with (Table 6)
    none, ///< merges alone teach (Table 6, where that is unstable)
};

/// The loss of a token that several draft tokens merge into (OmniDraft, Eq. 4 and Table 6).
enum class ngram_loss : std::uint8_t {
    none,
    nll,                ///< - lambda sum log q(d_j), lambda a number
    nll_by_probability, ///< the same, lambda = p(t)
    kl,                 ///< in place of the direct loss where the token begins: Eq. 2's law
};

struct distillation_loss_settings {
    direct_loss direct = direct_loss::reverse_kl;
    ngram_loss ngram = ngram_loss::nll_by_probability;
    double lambda = 0.2;    ///< of ngram_loss::nll
    double temperature = 1; ///< of q
    /// Rows are taught as p^(1 / this), renormalised: below 1 for texts that are drawn at a lower
    /// temperature than 1, where what is drafted is worth more than what might have been.
    double taught_temperature = 1;
};

/// Throws specdec::error naming the setting that is none.
inline void validate(const distillation_loss_settings& s) {
    if (!(s.lambda >= 0 && s.lambda < builtin::infinity))
        fail("distillation loss", "lambda", "expected a number of at least 0");
    for (const double t : {s.temperature, s.taught_temperature})
        if (!(t > 0 && t <= 1e6))
            fail("distillation loss", "temperature", "expected a number above 0 and at most 1e6");
}

} // namespace specdec
