// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <stdexcept>
#include <utility>

#include <specdec/core/concepts.hpp>

namespace specdec::testing {

struct model_failure : std::runtime_error {
    model_failure() : std::runtime_error("the model failed") {}
};

/// A model that throws at one chosen call of append, score or truncate, before it does anything.
template <class Model, class Id>
class failing_model {
public:
    static constexpr std::size_t never = std::numeric_limits<std::size_t>::max();

    explicit failing_model(Model model) : model_(std::move(model)) {}

    [[nodiscard]] std::size_t size() const { return model_.size(); }
    [[nodiscard]] std::size_t capacity() const { return model_.capacity(); }
    [[nodiscard]] std::size_t vocabulary_size() const { return model_.vocabulary_size(); }
    void append(std::span<const Id> ids) {
        count();
        model_.append(ids);
    }
    logits_rows<Id> score(std::span<const Id> ids) {
        count();
        return model_.score(ids);
    }
    void truncate(std::size_t n) {
        count();
        model_.truncate(n);
    }

    [[nodiscard]] const Model& model() const { return model_; }

    std::size_t calls = 0;
    std::size_t fails_at = never; ///< the call (from 0) that throws

private:
    void count() {
        if (calls++ == fails_at)
            throw model_failure();
    }

    Model model_;
};

} // namespace specdec::testing
