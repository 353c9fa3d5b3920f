// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include <specdec/core/proposal.hpp>
#include <specdec/sampling/coin/philox_coin.hpp>
#include <specdec/sampling/law/softmax_law.hpp>

#include "toy_rows.hpp"

namespace specdec::testing {

/// The target's laws of one round, as a rule is given them; remembers which were asked for.
class watched_laws {
public:
    explicit watched_laws(std::vector<std::vector<float>> rows, sampling_parameters parameters = {})
        : rows_(std::move(rows)), parameters_(parameters) {}

    softmax_law<target_id> operator()(std::size_t i) {
        asked.push_back(i);
        return make_law(logits_row<target_id>{rows_.at(i)}, parameters_);
    }

    std::vector<std::size_t> asked;

private:
    std::vector<std::vector<float>> rows_;
    sampling_parameters parameters_;
};

/// gamma + 1 rows of random logits.
inline std::vector<std::vector<float>> random_rows(std::size_t count, std::size_t vocabulary,
                                                   std::uint64_t seed) {
    const auto make = toy_rows(row_kind::random, vocabulary, seed);
    std::vector<std::vector<float>> rows;
    for (std::size_t i = 0; i < count; ++i)
        rows.push_back(make({static_cast<int>(i)}));
    return rows;
}

/// 0, 1, .. n - 1.
inline std::vector<std::size_t> first_places(std::size_t n) {
    std::vector<std::size_t> places(n);
    for (std::size_t i = 0; i < n; ++i)
        places[i] = i;
    return places;
}

} // namespace specdec::testing
