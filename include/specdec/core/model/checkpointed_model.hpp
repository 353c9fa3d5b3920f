// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <specdec/core/basic/on_throw.hpp>
#include <specdec/core/concepts.hpp>
#include <specdec/core/error.hpp>
#include <specdec/core/law_mark.hpp>
#include <specdec/core/require.hpp>

namespace specdec {

/// A model whose state cannot lose its last tokens one by one, as that of recurrent and hybrid
/// models (Mamba, RWKV, linear attention): all that ModelOf<Id> requires but truncate, and
///
///     m.clear()        forgets all tokens
///     m.checkpoint()   remembers the state as it is, in place of what it remembered before
///     m.restore()      the state is the remembered one again, as often as it is asked for. Never
///                      called before a checkpoint, or behind a clear() and before the next one
///
/// A call that throws leaves the state as it was, and the checkpoint, too.
template <class M, class Id>
concept CheckpointingModelOf = requires(M& m, const M& c, std::span<const Id> ids) {
    { c.size() } -> std::convertible_to<std::size_t>;
    { c.capacity() } -> std::convertible_to<std::size_t>;
    { c.vocabulary_size() } -> std::convertible_to<std::size_t>;
    m.append(ids);
    { m.score(ids) } -> RowsOf<Id>;
    m.clear();
    m.checkpoint();
    m.restore();
};

/// A model that can be truncated, made of one that cannot: before a pass whose tokens may be taken
/// back, the state is remembered; behind it a truncation restores that state, and the tokens that
/// are kept are fed once more. They go in front of the next pass, as long as they are few, so that
/// a rejection costs a few more positions and no pass of its own; where more than `longest_replay`
/// have come together, they are fed in a pass of their own, behind which the state is remembered
/// anew.
///
///     checkpointed_model<target_id, mamba> target(model);     // models ModelOf<target_id>
///
/// A truncation to less than was remembered (another text, a round abandoned behind a commit)
/// clears the model and feeds the rest again. Borrows the model, which nobody else feeds. size()
/// and held() are what the user sees; the model's own size may lag behind. Where the model dropped
/// its context by itself, all is fed again. Throws what the model throws, and is then as it was.
/// Memory: 4 bytes a token of the capacity; allocates at construction only.
template <class Id, CheckpointingModelOf<Id> M>
class checkpointed_model {
public:
    /// Clears the model.
    explicit checkpointed_model(M& model, std::size_t longest_replay = 8)
        : model_(&model), longest_replay_(longest_replay) {
        held_.reserve(model.capacity());
        model.clear();
    }

    [[nodiscard]] std::size_t size() const { return held_.size(); }
    [[nodiscard]] std::size_t capacity() const { return model_->capacity(); }
    [[nodiscard]] std::size_t vocabulary_size() const { return model_->vocabulary_size(); }
    [[nodiscard]] std::span<const Id> held() const { return held_; }

    void append(std::span<const Id> ids) {
        require_room(ids);
        const std::size_t before = held_.size();
        hold(ids);
        on_throw guard([&] { held_.resize(before); });
        feed();
        guard.done();
    }

    [[nodiscard]] auto score(std::span<const Id> ids) {
        require_room(ids);
        meet();
        if (held_.size() - state_ > longest_replay_ || (state_ < held_.size() && !remembered_))
            feed();
        if (state_ == held_.size()) {
            model_->checkpoint();
            checkpoint_ = state_;
            remembered_ = true;
        }
        const std::size_t again = held_.size() - state_, before = held_.size();
        hold(ids);
        on_throw guard([&] { held_.resize(before); });
        const auto rows = score_rows<Id>(*model_, replay());
        guard.done();
        require_rows(rows, again + ids.size(), vocabulary_size(), "checkpointed_model");
        state_ = held_.size();
        return rows.middle(again, ids.size());
    }

    void truncate(std::size_t n) {
        meet();
        if (n < state_) {
            if (remembered_ && checkpoint_ <= n) {
                model_->restore();
                state_ = checkpoint_;
            } else {
                model_->clear();
                state_ = 0;
                remembered_ = false;
            }
        }
        held_.resize(n);
    }

    [[nodiscard]] law_mark mark() const { return mark_of(*model_); }

private:
    [[nodiscard]] std::span<const Id> replay() const {
        return std::span<const Id>(held_).subspan(state_);
    }
    void hold(std::span<const Id> ids) { held_.insert(held_.end(), ids.begin(), ids.end()); }
    /// The model has all tokens.
    void feed() {
        meet();
        if (state_ < held_.size())
            model_->append(replay());
        state_ = held_.size();
    }
    /// An engine that has dropped its context begins anew.
    void meet() {
        if (model_->size() == state_)
            return;
        model_->clear();
        state_ = 0;
        remembered_ = false;
    }
    void require_room(std::span<const Id> ids) const {
        if (ids.size() > capacity() - size())
            fail("checkpointed_model", "context",
                 "expected at most " + std::to_string(capacity() - size()) + " tokens, got " +
                     std::to_string(ids.size()));
    }

    M* model_;
    std::size_t longest_replay_;
    std::vector<Id> held_;
    std::size_t state_ = 0;      // of held_, what the model's state has seen
    std::size_t checkpoint_ = 0; // the same of the remembered one
    bool remembered_ = false;
};

} // namespace specdec
