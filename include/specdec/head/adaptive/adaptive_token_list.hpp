// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include <specdec/core/basic/builtins.hpp>
#include <specdec/core/contract.hpp>
#include <specdec/core/require.hpp>
#include <specdec/head/token_list.hpp>

namespace specdec {

struct adaptive_token_list_settings {
    /// Tokens of text after which an occurrence counts half, 0.01 at least.
    double half_life = 2000;
    /// What a token of the list that one begins with counts for, in occurrences.
    double prior = 1;
    /// The part of the list that see_likely() fills, at most.
    double likely = 0.25;
};

/// A list of tokens that follows the text. A token that occurs and is outside takes the place of
/// the one that occurred least, older occurrences counting less. Tokens that have not occurred but
/// are likely to may have a part of the list, the latest of them (target_topk.hpp). The size stays.
///
/// Complexity: see() and see_likely() O(1) for a token inside, and for a likely one where its part
/// is full; else O(size). Memory: 21 bytes a token of the list and 4 a token of the vocabulary, at
/// construction. Deterministic: of equally rare tokens the one in the later place goes.
template <class Id>
class adaptive_token_list {
public:
    /// `stay`: tokens that never go; those of them that `begin` does not hold take no place.
    explicit adaptive_token_list(const token_list<Id>& begin, std::span<const Id> stay = {},
                                 adaptive_token_list_settings settings = {})
        : begin_(begin.ids().begin(), begin.ids().end()), stay_(stay.begin(), stay.end()),
          prior_(settings.prior), place_(begin.vocabulary_size()),
          growth_(1 / builtin::exp2(-1 / settings.half_life)) {
        if (!(settings.half_life >= 0.01) || // else all that occurred counts nothing, or NaN
            !(settings.prior >= 0 && settings.prior < builtin::infinity))
            fail("adaptive list", "settings",
                 "expected a half-life of at least 0.01 and a finite prior of at least 0");
        if (!(settings.likely >= 0 && settings.likely <= 1))
            fail("adaptive list", "likely", "expected a part of the list, from 0 to 1");
        require_ids(stay, place_.size(), "adaptive list", "tokens that stay");
        likely_.resize(
            static_cast<std::size_t>(settings.likely * static_cast<double>(begin_.size())));
        reset();
    }

    /// As it began: no text has been seen.
    void reset() {
        ids_ = begin_;
        weights_.assign(size(), prior_);
        place_.assign(place_.size(), nowhere);
        turn_.assign(size(), nowhere);
        likely_.assign(likely_.size(), nowhere);
        next_ = 0;
        now_ = 1;
        for (std::size_t k = 0; k < size(); ++k)
            place_[ids_[k].index()] = static_cast<unsigned>(k);
        for (const Id id : stay_)
            if (contains(id))
                weights_[place_[id.index()]] = builtin::infinity;
    }

    [[nodiscard]] std::size_t size() const { return ids_.size(); }
    [[nodiscard]] std::span<const Id> ids() const { return ids_; }
    [[nodiscard]] bool contains(Id id) const {
        return id.index() < place_.size() && place_[id.index()] != nowhere;
    }

    /// The text goes on with this token. Which place it took, where it was outside (none where all
    /// tokens stay). Precondition: id is of the vocabulary.
    std::optional<std::size_t> see(Id id) {
        SPECDEC_PRECONDITION(id.valid() && id.index() < place_.size());
        now_ *= growth_; // instead of all weights shrinking
        if (now_ > 1e200) {
            for (double& w : weights_)
                w /= now_;
            now_ = 1;
        }
        const unsigned place = place_[id.index()];
        if (place == nowhere)
            return put(least(), id, now_);
        if (turn_[place] == nowhere) {
            weights_[place] += now_;
        } else { // it was likely, now it is there
            likely_[turn_[place]] = nowhere;
            turn_[place] = nowhere;
            weights_[place] = now_;
        }
        return std::nullopt;
    }

    /// This token may come. Which place it took: of those that came this way the one that has been
    /// there longest goes, as soon as they have their part of the list; none where it is inside,
    /// and where it is outside the vocabulary, as a target's padding may be.
    std::optional<std::size_t> see_likely(Id id) {
        if (id.index() >= place_.size() || contains(id) || likely_.empty())
            return std::nullopt;
        const unsigned turn = next_;
        const unsigned before = likely_[turn];
        const auto k = put(before == nowhere ? least() : before, id, builtin::infinity);
        if (k) {
            likely_[turn] = static_cast<unsigned>(*k);
            turn_[*k] = turn;
            next_ = turn + 1 == likely_.size() ? 0 : turn + 1;
        }
        return k;
    }

private:
    static constexpr unsigned nowhere = ~0U;

    /// The place of the token that occurred least; nowhere: all stay, or are likely.
    [[nodiscard]] unsigned least() const {
        std::size_t k = 0;
        for (std::size_t i = 1; i < weights_.size(); ++i)
            if (weights_[i] <= weights_[k])
                k = i;
        return !weights_.empty() && weights_[k] < builtin::infinity ? static_cast<unsigned>(k)
                                                                    : nowhere;
    }
    std::optional<std::size_t> put(unsigned place, Id id, double weight) {
        if (place == nowhere)
            return std::nullopt;
        place_[ids_[place].index()] = nowhere;
        place_[id.index()] = place;
        ids_[place] = id;
        weights_[place] = weight;
        return place;
    }

    std::vector<Id> begin_, stay_;
    double prior_;
    std::vector<Id> ids_;          // [size]
    std::vector<double> weights_;  // [size] occurrences, in units of today's, times now_
    std::vector<unsigned> place_;  // [vocabulary]
    std::vector<unsigned> turn_;   // [size] where likely_ names a place
    std::vector<unsigned> likely_; // places of likely tokens, of which next_ is the oldest
    unsigned next_ = 0;
    double growth_, now_ = 1; // weight of an occurrence now
};

} // namespace specdec
