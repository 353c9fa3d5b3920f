// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>

#include <specdec/core/concepts.hpp>
#include <specdec/core/law_mark.hpp>
#include <specdec/core/model/context_mirror.hpp>

namespace specdec {

/// A model's context that several users take turns with (sessions with one target, drafters with
/// one drafter's model): it knows what it holds, so each of them finds whatever the others left and
/// reaches its own text by the shortest edit, from a common beginning on. Without it they have to
/// say target_lost() before every turn, since another text of equal length is not seen from
/// outside.
///
///     shared_model<target_id, engine_model> target(model);    // one, which all of them use
///     generate(..first text.., target);  generate(..second text.., target);  ...
///
/// Models what the model does. Borrows the model, which nobody else may feed or truncate meanwhile
/// (its engine may drop its context: size() tells). Memory: 4 bytes a token of its capacity;
/// allocates at construction only.
template <class Id, ScoringModelOf<Id> M>
class shared_model {
public:
    /// Truncates the model to nothing.
    explicit shared_model(M& model) : model_(&model) {
        mirror_.reserve(model.capacity());
        model.truncate(0);
    }

    [[nodiscard]] std::size_t size() const { return model_->size(); }
    [[nodiscard]] std::size_t capacity() const { return model_->capacity(); }
    [[nodiscard]] std::size_t vocabulary_size() const { return model_->vocabulary_size(); }
    /// The tokens of the context; not size() many where the engine dropped it.
    [[nodiscard]] std::span<const Id> held() const { return mirror_.held(); }

    void append(std::span<const Id> ids) {
        model_->append(ids);
        mirror_.fed(ids);
    }
    [[nodiscard]] auto score(std::span<const Id> ids) {
        const auto rows = score_rows<Id>(*model_, ids);
        mirror_.fed(ids);
        return rows;
    }
    void truncate(std::size_t n) {
        model_->truncate(n);
        mirror_.truncated(n);
    }

    void begin_round(std::size_t n)
        requires RoundAware<M>
    {
        model_->begin_round(n);
        mirror_.truncated(model_->size());
    }
    [[nodiscard]] law_mark mark() const { return mark_of(*model_); }

private:
    M* model_;
    context_mirror<Id> mirror_;
};

} // namespace specdec
