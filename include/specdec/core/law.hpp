// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <span>

#include <specdec/core/token_id.hpp>

namespace specdec {

/// A probability law over the ids of one vocabulary, after all processing (temperature, top-k,
/// top-p, penalties, masks).
///
///     l.size()            vocabulary size: ids 0 .. size()-1 may carry mass
///     l.probability(id)   in [0, 1]; the probabilities sum to 1 up to double rounding
///     l.at(u)             the id whose interval of the cumulative law holds u, for u in [0, 1):
///                         the set of u that give id has measure probability(id); never an id of
///                         mass 0. The library's laws take any UnitNumber, so that proofs run it
///
/// A law may be a view of an engine's row; then it lives as long as the row does.
template <class L, class Id>
concept LawOf = requires(const L& law, Id id, double u) {
    { law.size() } -> std::convertible_to<std::size_t>;
    { law.probability(id) } -> std::convertible_to<double>;
    { law.at(u) } -> std::same_as<Id>;
};

/// A law that gives many probabilities at once: law.probabilities(first, values) sets values[j] to
/// that of the id at position first + j.
template <class L>
concept FillsProbabilities =
    requires(const L& law, std::span<double> values) { law.probabilities(std::size_t{}, values); };

/// A law that is subtracted at once: law.subtract_from(row) does row[id] -= probability(id).
template <class L>
concept SubtractsFrom = requires(const L& law, std::span<double> row) { law.subtract_from(row); };

/// A law of a draft that has the draft's end among its outcomes (SLRS, merge): an invalid token
/// then marks the end. l.ends_drafts() says whether it has.
template <class L>
concept EndsDrafts = requires(const L& law) {
    { law.ends_drafts() } -> std::same_as<bool>;
};

/// A law with all its mass on one id. Exact drafts are proposed from it: a greedy drafter's token,
/// an n-gram, a retokenised string. Models LawOf. Allocates nothing.
template <class Id>
class one_hot_law {
public:
    using id_type = Id;

    constexpr one_hot_law() = default;
    constexpr explicit one_hot_law(Id id) : id_(id) {}

    [[nodiscard]] constexpr std::size_t size() const { return id_.index() + 1; }
    [[nodiscard]] constexpr double probability(Id id) const { return id == id_ ? 1.0 : 0.0; }
    template <class U>
    [[nodiscard]] constexpr Id at(const U&) const {
        return id_;
    }

private:
    Id id_;
};

} // namespace specdec
