// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <specdec/core/error.hpp>
#include <specdec/process/law_factory.hpp>
#include <specdec/process/row_processor.hpp>

namespace specdec {

/// The law factory of logits that are processed first, or that are no floats. It copies each row,
/// widens it to float, gives it to the processors, and makes a softmax_law of it.
///
///     session text(bridge, verifier, settings,
///                  processed_rows(vocabulary, chain(penalty, mask)));
///
/// Models LawFactory for rows of logits of any number type. Memory: a row for each place of a
/// round, sized by the session. Complexity: a pass over the row, and the processors'. Errors:
/// specdec::error for rows of another length and where the processors leave no token.
template <RowProcessor<target_id> P = chain<>>
class processed_rows {
public:
    explicit processed_rows(std::size_t vocabulary, P process = {})
        : vocabulary_(vocabulary), process_(std::move(process)) {}

    /// To be changed between texts: another prompt, other settings. One that was inactive so far is
    /// given its memory by the first round in which it is not.
    [[nodiscard]] P& processor() { return process_; }

    void reserve(std::size_t places, std::size_t tokens) {
        rows_.clear();
        places_ = places;
        tokens_ = tokens;
        if (is_active(process_))
            make_room();
    }

    template <class Number>
    [[nodiscard]] softmax_law<target_id>
    operator()(logits_row<target_id, Number> row, std::size_t i, std::span<const target_id> tokens,
               const sampling_parameters& sampling) {
        if (row.size() != vocabulary_)
            fail("processed rows", "row",
                 "expected " + std::to_string(vocabulary_) + " logits, found " +
                     std::to_string(row.size()));
        if constexpr (std::same_as<Number, float>)
            if (!is_active(process_))
                return make_law(row, sampling);
        if (rows_.empty()) // so no law of the round is of these
            make_room();
        SPECDEC_PRECONDITION((i + 1) * vocabulary_ <= rows_.size());
        const std::span<float> own{rows_.data() + i * vocabulary_, vocabulary_};
        for (std::size_t v = 0; v < vocabulary_; ++v)
            own[v] = static_cast<float>(row.values[v]);
        if (is_active(process_))
            process_(tokens, own);
        if (!any_allowed(own))
            fail("processed rows", "processors",
                 "expected processors that allow at least one token");
        return make_law(logits_row<target_id>{own}, sampling);
    }

private:
    void make_room() {
        rows_.resize(places_ * vocabulary_);
        reserve_tokens(process_, tokens_);
    }

    std::size_t vocabulary_;
    P process_;
    std::size_t places_ = 0, tokens_ = 0; // as reserved
    std::vector<float> rows_;             // [places, vocabulary]
};

} // namespace specdec
