// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <span>
#include <utility>

#include <specdec/core/concepts.hpp>
#include <specdec/core/law_mark.hpp>
#include <specdec/core/require.hpp>

namespace specdec {

/// Where new weights of a drafter come from: change() gives the model that drafts from now on, the
/// same one where its weights were written in place, or nullptr where nothing is new.
template <class C, class Model>
concept WeightChange = requires(C& change) {
    { change() } -> std::same_as<Model*>;
};

/// A drafter's model that learns while it serves. New weights are asked for, and may be written,
/// only where a round begins whose context has another number of tokens than the last round's, so
/// that something was committed since: never between a draw and the decision about it (SLRS and
/// merge ask the drafter again while they decide), and not where a round is drafted again, which
/// has to draw what it drew. So every round has one draft law, and the text keeps the target's
/// whatever the weights are and whatever they hang on. The context is dropped with the old weights,
/// and the mark is another one, so that no row of theirs is used again.
///
///     changing_model draft(model, [&]() -> model_type* {
///         if (!learner.has_new_weights())
///             return nullptr;
///         learner.write(*packed);      // what `model` computes with
///         return &model;
///     });
///     model_drafter drafter(draft);
///
/// One for a text. Texts that take turns with one set of weights: change() says nothing while
/// another of them is between its draft and its decision, which SLRS and merge would then refuse.
///
/// Models ModelOf<draft_id>, RoundAware. Borrows the model. Complexity: of a change, a pass over
/// the context, which the next row feeds again. Allocates nothing. Errors: specdec::error for a
/// model of another vocabulary or a smaller capacity than the first one's; the old one then stays.
template <ModelOf<draft_id> Model, WeightChange<Model> Change>
class changing_model {
public:
    changing_model(Model& model, Change change)
        : model_(&model), change_(std::move(change)), vocabulary_(model.vocabulary_size()),
          capacity_(model.capacity()) {}

    [[nodiscard]] std::size_t size() const { return model_->size(); }
    [[nodiscard]] std::size_t capacity() const { return capacity_; }
    [[nodiscard]] std::size_t vocabulary_size() const { return vocabulary_; }
    void append(std::span<const draft_id> ids) { model_->append(ids); }
    [[nodiscard]] logits_rows<draft_id> score(std::span<const draft_id> ids) {
        return model_->score(ids);
    }
    void truncate(std::size_t n) { model_->truncate(n); }

    void begin_round(std::size_t n) {
        if (n != round_)
            take();
        round_ = n;
        if constexpr (RoundAware<Model>)
            model_->begin_round(n);
    }
    [[nodiscard]] bool reads_features() const { return specdec::reads_features(*model_); }
    [[nodiscard]] law_mark mark() const { return changes_ + earlier_ + mark_of(*model_); }

    /// How often weights were changed.
    [[nodiscard]] std::size_t changes() const { return changes_; }

private:
    void take() {
        Model* const next = change_();
        if (next == nullptr)
            return;
        require_size<draft_id>(next->vocabulary_size(), vocabulary_, "changing model", "first");
        if (next->capacity() < capacity_)
            fail("changing model", "capacity", "expected at least that of the first model");
        model_->truncate(0);
        next->truncate(0);
        earlier_ += mark_of(*model_);
        model_ = next;
        ++changes_;
    }

    Model* model_;
    Change change_;
    std::size_t vocabulary_, capacity_;
    std::size_t round_ = 0; // tokens that the last round began with
    std::size_t changes_ = 0;
    law_mark earlier_ = 0; // of models that drafted before
};

} // namespace specdec
