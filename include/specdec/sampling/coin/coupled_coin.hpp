// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include <specdec/core/coin.hpp>
#include <specdec/core/error.hpp>
#include <specdec/sampling/coin/exponential_race.hpp>
#include <specdec/sampling/coin/philox_coin.hpp>
#include <specdec/sampling/coin/text_keys.hpp>

namespace specdec {

/// The coin of coupled sampling. The drafter's and the target's draw at one place of the text share
/// their noise, keyed by (seed, sequence, place, bytes of the token). So models that agree draw the
/// same token, without exchanging probabilities.
///
///     t = argmax over i of log p(i) + g(place, bytes(i))    at purpose::target
///     d = argmax over i of log q(i) + g(place, bytes(i))    at purpose::draft
///
/// Papers: Daliri, Musco, Suresh 2024 (arXiv:2408.07978), Gumbel coupling within one vocabulary;
/// keyed by place and bytes, so that the vocabularies may differ: ours. Goes with coupled_match,
/// which counts the places. The emitted token is the target's own draw. Its law is p, because no
/// two of its draws have the same place. The text of a seed is the same with any drafter and with
/// none.
///
/// Models Coin, except that outcomes of a draft and a target site of one place are dependent, on
/// purpose. So it is for rules that emit the target's own draws. Under rules that count no places
/// (every site has place 0), and for every other purpose, it is philox_coin(seed, sequence).
///
/// Without keys it is philox_coin(seed, sequence) for every purpose.
///
/// Without state; borrows the keys. The same seed gives the same noise: one (seed, sequence), one
/// text. Errors: specdec::error for a law over more ids than the keys know. Complexity: that of
/// race_winner. Allocates nothing.
class coupled_coin {
public:
    /// Couples nothing.
    explicit coupled_coin(std::uint64_t seed, std::uint64_t sequence = 0)
        : key_{seed, sequence}, plain_(seed, sequence) {}
    explicit coupled_coin(const text_keys& keys, std::uint64_t seed, std::uint64_t sequence = 0)
        : keys_(&keys), key_{seed, sequence}, plain_(seed, sequence) {}
    explicit coupled_coin(const text_keys&& gone_before_use, std::uint64_t,
                          std::uint64_t = 0) = delete;

    /// True with probability min(1, max(0, probability)).
    [[nodiscard]] bool flip(draw_site site, double probability) const {
        return plain_.flip(site, probability);
    }

    /// The number in [0, 1) that decides a flip at the site.
    [[nodiscard]] double uniform(draw_site site) const { return plain_.uniform(site); }

    /// An id drawn from the law.
    template <class L>
    [[nodiscard]] auto pick(draw_site site, const L& law) const {
        const bool coupled = site.why == purpose::target || site.why == purpose::draft;
        if (!coupled || site.place == 0 || keys_ == nullptr)
            return plain_.pick(site, law);
        const std::span<const std::uint32_t> keys = keys_->of<decltype(law.at(0.0))>();
        if (law.size() > keys.size())
            fail("coupled coin", "law",
                 "expected at most " + std::to_string(keys.size()) +
                     " ids, one for each key, found " + std::to_string(law.size()));
        return race_winner(law, keys, race_noise(key_, site.place));
    }

private:
    const text_keys* keys_ = nullptr;
    philox4x64::key_type key_;
    philox_coin plain_;
};

} // namespace specdec
