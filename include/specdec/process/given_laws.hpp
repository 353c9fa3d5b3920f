// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>

#include <specdec/core/error.hpp>
#include <specdec/process/law_factory.hpp>
#include <specdec/sampling/law/dense_law.hpp>
#include <specdec/sampling/law/sparse_law.hpp>
#include <specdec/sampling/listed_rows.hpp>

namespace specdec {

/// The law factory for engines that sample by themselves: their rows are distributions already,
/// either probabilities of all ids or lists of the ids that their cutoffs keep. The text then has
/// these laws.
///
/// Models LawFactory for probabilities_row and listed_row. Takes the default sampling parameters
/// only, because the engine has applied its own. Errors: specdec::error for other parameters, for
/// numbers that are no probabilities (see dense_law, sparse_law), for ids that do not ascend or are
/// outside the vocabulary, and for a sum further from 1 than `tolerance`: a law that was cut must
/// be renormalised. Copies nothing.
struct given_laws {
    double tolerance = 1e-3; ///< infinity: any positive sum, by which the row is divided

    void reserve(std::size_t, std::size_t) {}

    [[nodiscard]] dense_law<target_id> operator()(probabilities_row<target_id> row, std::size_t,
                                                  std::span<const target_id>,
                                                  const sampling_parameters& sampling) const {
        return checked(dense_law(row), sampling);
    }
    [[nodiscard]] sparse_law<target_id> operator()(listed_row<target_id> row, std::size_t,
                                                   std::span<const target_id>,
                                                   const sampling_parameters& sampling) const {
        return checked(sparse_law<target_id>(row.entries, row.vocabulary), sampling);
    }

private:
    template <class L>
    [[nodiscard]] L checked(const L& law, const sampling_parameters& sampling) const {
        if (!(sampling == sampling_parameters{}))
            fail("given laws", "sampling parameters",
                 "expected the defaults, as the rows are distributions already");
        const double off = law.total() - 1;
        if (!(off <= tolerance && -off <= tolerance))
            fail("given laws", "row", "expected probabilities whose sum is 1");
        return law;
    }
};
static_assert(LawFactory<given_laws, probabilities_row<target_id>>);
static_assert(LawFactory<given_laws, listed_row<target_id>>);

} // namespace specdec
