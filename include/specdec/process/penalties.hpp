// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <specdec/core/basic/builtins.hpp>
#include <specdec/core/error.hpp>
#include <specdec/process/row_processor.hpp>
#include <specdec/process/token_history.hpp>

/// Processors that make a text repeat itself less.
namespace specdec {

/// How often each token stands in a text behind its first `skipped` tokens. Complexity: that of
/// token_history. Memory: 4 bytes an id, 8 a token.
template <class Id>
class token_counts {
public:
    explicit token_counts(std::size_t vocabulary, std::size_t skipped = 0)
        : count_(vocabulary), skipped_(skipped) {}

    void reserve(std::size_t tokens) {
        history_.reserve(tokens);
        distinct_.reserve(tokens < count_.size() ? tokens : count_.size());
    }

    void follow(std::span<const Id> tokens) {
        history_.follow(
            tokens.subspan(skipped_ < tokens.size() ? skipped_ : tokens.size()),
            [this](Id id) {
                if (id.index() < count_.size() && --count_[id.index()] == 0)
                    distinct_.pop_back(); // undone in reverse order
            },
            [this](Id id) {
                if (id.index() >= count_.size())
                    return;
                if (count_[id.index()] == 0)
                    distinct_.push_back(id); // may throw, and then nothing is counted
                ++count_[id.index()];
            });
    }

    /// Errors: specdec::error that names `source`, for a row with ids that are not counted.
    void require_row(std::size_t row, const char* source) const {
        if (row > count_.size())
            fail(source, "row",
                 "expected at most the " + std::to_string(count_.size()) +
                     " logits of its vocabulary, found " + std::to_string(row));
    }

    /// The tokens that occur, each once.
    [[nodiscard]] std::span<const Id> distinct() const { return distinct_; }
    [[nodiscard]] std::size_t operator[](Id id) const { return count_[id.index()]; }

private:
    token_history<Id> history_;
    std::vector<std::uint32_t> count_; // [vocabulary]
    std::vector<Id> distinct_;         // in the order in which they came
    std::size_t skipped_;
};

/// The repetition penalty of CTRL (Keskar et al. 2019) as Transformers has it: of every token that
/// stands in the text, prompt included, the logit is divided by the penalty if it is positive and
/// multiplied if negative. 1: off. Models RowProcessor<Id>. Complexity: linear in the distinct
/// tokens. Errors: specdec::error for a row of more logits than the vocabulary.
template <class Id>
class repetition_penalty {
public:
    static constexpr processor_traits traits{.reserve = true};
    /// Errors: specdec::error unless the penalty is positive and finite.
    repetition_penalty(std::size_t vocabulary, float penalty)
        : seen_(vocabulary), penalty_(penalty) {
        if (!(penalty > 0 && penalty < builtin::infinity))
            fail("repetition penalty", "penalty", "expected a positive number");
    }

    void reserve(std::size_t tokens) { seen_.reserve(tokens); }

    void operator()(std::span<const Id> tokens, std::span<float> row) {
        seen_.require_row(row.size(), "repetition penalty");
        seen_.follow(tokens);
        for (const Id id : seen_.distinct())
            if (id.index() < row.size()) {
                float& logit = row[id.index()];
                logit = logit < 0 ? logit * penalty_ : logit / penalty_;
            }
    }

private:
    token_counts<Id> seen_;
    float penalty_;
};

/// What each token of the text so far costs.
struct occurrence_costs {
    float presence = 0;  ///< once, for a token that occurs at all
    float frequency = 0; ///< for each time that it occurs
};

/// Presence and frequency penalty as in OpenAI's API, over the tokens behind a prompt of `prompt`
/// tokens: logit(i) -= frequency * count(i) + presence * [count(i) > 0]. Models RowProcessor<Id>.
/// Complexity: linear in the distinct tokens. Errors: as repetition_penalty's row.
template <class Id>
class occurrence_penalty {
public:
    static constexpr processor_traits traits{.reserve = true};
    /// Errors: specdec::error unless both costs are finite.
    occurrence_penalty(std::size_t vocabulary, std::size_t prompt, occurrence_costs costs)
        : seen_(vocabulary, prompt), costs_(costs) {
        for (const float cost : {costs.presence, costs.frequency})
            if (!(cost > -builtin::infinity && cost < builtin::infinity))
                fail("occurrence penalty", "costs", "expected finite numbers");
    }

    void reserve(std::size_t tokens) { seen_.reserve(tokens); }

    void operator()(std::span<const Id> tokens, std::span<float> row) {
        seen_.require_row(row.size(), "occurrence penalty");
        seen_.follow(tokens);
        for (const Id id : seen_.distinct())
            if (id.index() < row.size())
                row[id.index()] -=
                    costs_.presence + costs_.frequency * static_cast<float>(seen_[id]);
    }

private:
    token_counts<Id> seen_;
    occurrence_costs costs_;
};

} // namespace specdec
