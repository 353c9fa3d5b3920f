// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include <specdec/core/concepts.hpp>
#include <specdec/core/law_version.hpp>
#include <specdec/core/model/wrapped_model.hpp>
#include <specdec/core/require.hpp>

namespace specdec {

/// Where new weights of a drafter come from: change() gives the model that drafts from now on, the
/// same one where its weights were written in place, or nullptr where nothing is new.
template <class C, class Model>
concept WeightChange = requires(C& change) {
    { change() } -> std::same_as<Model*>;
};

/// A drafter's model that learns while it serves. New weights are asked for, and may be written,
/// only where a round begins whose context has another number of tokens than the last round's:
/// never between a draw and the decision about it, nor where a round is drafted again. So every
/// round has one draft law, and the text keeps the target's (docs/adapt/learning.md). The context
/// is dropped with the old weights, and the mark is another one.
///
/// Where texts share one set of weights, change() says nothing while another of them is between its
/// draft and its decision, which SLRS and merge would then refuse.
///
/// Models BatchModelOf<draft_id>, and ModelOf<draft_id> where Model does; RoundAware. Borrows the
/// model. Complexity: of a change, a pass over each context, which the next row feeds again.
/// Allocates at construction. Errors: specdec::error for a model of another vocabulary, fewer
/// sequences or a smaller capacity than the first one's; the old one then stays.
template <class Model, WeightChange<Model> Change>
    requires ModelOf<Model, draft_id> || BatchModelOf<Model, draft_id>
class hot_swapped_model : public wrapped_model<hot_swapped_model<Model, Change>, draft_id, Model> {
    using base = wrapped_model<hot_swapped_model<Model, Change>, draft_id, Model>;

public:
    hot_swapped_model(Model& model, Change change)
        : base(model), change_(std::move(change)), capacity_(model.capacity()),
          texts_(base::sequences()) {}

    using base::begin_draft_round, base::score, base::version;
    [[nodiscard]] std::size_t sequences() const { return texts_.size(); }
    [[nodiscard]] std::size_t capacity() const { return capacity_; }
    [[nodiscard]] logits_rows<draft_id> score(std::span<const sequence_tokens<draft_id>> parts) {
        return this->rows_of_model(parts);
    }
    void begin_draft_round(std::size_t s, std::size_t n) {
        if (n != texts_[s].round)
            take();
        texts_[s].round = n;
        base::begin_draft_round(s, n);
    }
    [[nodiscard]] law_version version(std::size_t s) const {
        return changes_ + texts_[s].earlier + base::version(s);
    }

    /// How often weights were changed.
    [[nodiscard]] std::size_t changes() const { return changes_; }

private:
    void take() {
        Model* const next = change_();
        if (next == nullptr)
            return;
        require_size<draft_id>(next->vocabulary_size(), this->vocabulary_size(), "changing model",
                               "first");
        if (next->capacity() < capacity_)
            fail("changing model", "capacity", "expected at least that of the first model");
        lifted_model<draft_id, Model> later(*next);
        if (later.sequences() < texts_.size())
            fail("changing model", "sequences", "expected at least those of the first model");
        for (std::size_t s = 0; s < texts_.size(); ++s) {
            this->truncate(s, 0);
            later.truncate(s, 0);
            texts_[s].earlier += base::version(s);
        }
        this->set_wrapped(*next);
        ++changes_;
    }

    struct text {
        std::size_t round = 0;   // tokens that the last round began with
        law_version earlier = 0; // of models that drafted before
    };
    Change change_;
    std::size_t capacity_;
    std::vector<text> texts_; // [sequences]
    std::size_t changes_ = 0;
};

} // namespace specdec
