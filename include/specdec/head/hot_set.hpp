// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include <specdec/core/contract.hpp>
#include <specdec/core/require.hpp>
#include <specdec/head/token_list.hpp>

namespace specdec {

struct hot_set_settings {
    /// Tokens of text after which an occurrence counts half.
    double half_life = 2000;
    /// What a token of the list that one begins with counts for, in occurrences.
    double prior = 1;
};

/// A list of tokens that follows the text: a fixed list loses where the text is not what it was
/// counted on. A token that occurs and is outside takes the place of the one that occurred least,
/// older occurrences counting less: the prompt's tokens enter, and every token that the target
/// wrote instead of what was drafted. The size stays.
///
/// Complexity: see() O(1) for a token inside, O(size) for one outside. Memory: 12 bytes a token of
/// the list and 4 a token of the vocabulary, at construction. Deterministic: of equally rare tokens
/// the one in the later place goes.
template <class Id>
class hot_set {
public:
    /// `stay`: tokens that never go; those of them that `begin` does not hold take no place.
    explicit hot_set(const token_list<Id>& begin, std::span<const Id> stay = {},
                     hot_set_settings settings = {})
        : ids_(begin.ids().begin(), begin.ids().end()), weights_(begin.size(), settings.prior),
          place_(begin.vocabulary_size(), nowhere),
          growth_(1 / __builtin_exp2(-1 / settings.half_life)) {
        if (!(settings.half_life > 0) || !(settings.prior >= 0))
            fail("hot set", "settings", "expected a half-life above 0 and a prior of at least 0");
        require_ids(stay, place_.size(), "hot set", "tokens that stay");
        for (std::size_t k = 0; k < ids_.size(); ++k)
            place_[ids_[k].index()] = static_cast<unsigned>(k);
        for (const Id id : stay)
            if (contains(id))
                weights_[place_[id.index()]] = __builtin_inf();
    }

    [[nodiscard]] std::size_t size() const { return ids_.size(); }
    [[nodiscard]] std::span<const Id> ids() const { return ids_; }
    [[nodiscard]] bool contains(Id id) const { return place_[id.index()] != nowhere; }

    /// The text goes on with this token. Which place it took, where it was outside (none where all
    /// tokens stay). Precondition: id is of the vocabulary.
    std::optional<std::size_t> see(Id id) {
        SPECDEC_PRECONDITION(id.valid() && id.index() < place_.size());
        now_ *= growth_; // instead of all weights shrinking
        if (now_ > 1e200)
            rescale();
        unsigned& place = place_[id.index()];
        if (place != nowhere) {
            weights_[place] += now_;
            return std::nullopt;
        }
        std::size_t least = 0;
        for (std::size_t k = 1; k < weights_.size(); ++k)
            if (weights_[k] <= weights_[least])
                least = k;
        if (!(weights_[least] < __builtin_inf()))
            return std::nullopt;
        place_[ids_[least].index()] = nowhere;
        ids_[least] = id;
        weights_[least] = now_;
        place = static_cast<unsigned>(least);
        return least;
    }

private:
    static constexpr unsigned nowhere = ~0U;

    void rescale() {
        for (double& w : weights_)
            w /= now_;
        now_ = 1;
    }

    std::vector<Id> ids_;         // [size]
    std::vector<double> weights_; // [size] occurrences, in units of today's, times now_
    std::vector<unsigned> place_; // [vocabulary]
    double growth_, now_ = 1;     // weight of an occurrence now
};

} // namespace specdec
