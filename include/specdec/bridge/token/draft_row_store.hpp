// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <specdec/bridge/context/bridge.hpp>
#include <specdec/core/basic/builtins.hpp>
#include <specdec/core/rows.hpp>
#include <specdec/sampling/drawn_draft.hpp>
#include <specdec/sampling/law/draw.hpp>
#include <specdec/sampling/law/row_spread.hpp>
#include <specdec/sampling/law/softmax_law.hpp>

namespace specdec {

/// Keeps copies of the drafter's rows of one draft, as the map prepares them, for a token bridge.
/// Memory: [max_draft, vocabulary] floats, allocated at construction.
class draft_row_store {
public:
    using law_type = softmax_law<draft_id>;
    template <class D>
    static constexpr bool takes = Drafter<D>;

    draft_row_store(std::size_t max_draft, std::size_t vocabulary)
        : vocabulary_(vocabulary), rows_(max_draft * vocabulary) {}

    /// Copies the drafter's next row as the i-th. True if it leaves a token to draw. Errors:
    /// specdec::error for a row of another vocabulary.
    template <Drafter D, class Map>
    [[nodiscard]] bool keep(std::size_t i, D& drafter, const Map& map) {
        return keep_row(i, next_row(drafter, vocabulary_, "token bridge"), map);
    }
    /// The same of a row that the drafter gave. Precondition: it is of this vocabulary.
    template <class Map>
    [[nodiscard]] bool keep_row(std::size_t i, logits_row<draft_id> given, const Map& map) {
        const std::span<float> row{rows_.data() + begin(i), vocabulary_};
        map.prepare(given.values, row);
        return any_allowed(row);
    }

    /// The law of the i-th. Precondition: kept, with something to draw. A view.
    [[nodiscard]] law_type law(std::size_t i, const sampling_parameters& sampling) const {
        return make_law(logits_row<draft_id>{row(i)}, sampling);
    }

    /// The likeliest ids of the i-th, as likeliest_ids. Returns how many there are.
    std::size_t likeliest(std::size_t i, std::span<draft_id> ids) const {
        return likeliest_ids(logits_row<draft_id>{row(i)}, ids);
    }
    /// draft_progress::sure of tokens of the i-th, as a function.
    [[nodiscard]] auto sureness(std::size_t i) const {
        return [of = row(i), spread = row_spread(row(i), row_reading::sureness)](draft_id d) {
            return spread.sureness(of[d.index()]);
        };
    }

    /// Notes that d was drawn from the i-th law with probability q. d may be invalid.
    template <StopRule Stop>
    void note(drawn_draft& drawn, const Stop& stop, std::size_t i, draft_id d, double q,
              const sampling_parameters& sampling) const {
        const std::span<const float> of = row(i);
        drawn.push(stop, d, q, of, d.valid() ? of[d.index()] : -builtin::infinity, sampling);
    }

private:
    [[nodiscard]] std::size_t begin(std::size_t i) const { return i * vocabulary_; }
    [[nodiscard]] std::span<const float> row(std::size_t i) const {
        return std::span(rows_).subspan(begin(i), vocabulary_);
    }

    std::size_t vocabulary_;
    std::vector<float> rows_; // [max_draft, vocabulary]
};

} // namespace specdec
