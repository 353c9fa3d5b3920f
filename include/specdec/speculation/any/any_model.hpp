// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include <specdec/core/concepts.hpp>
#include <specdec/core/error.hpp>
#include <specdec/core/law_version.hpp>
#include <specdec/core/model/context_tracker.hpp>
#include <specdec/core/model/context_trackers.hpp>
#include <specdec/core/model/tree_scoring.hpp>
#include <specdec/core/model/wrapped_model.hpp>
#include <specdec/speculation/any/require_members.hpp>

namespace specdec {

/// Any model of any engine behind one type: BatchModelOf<Id>, or ModelOf<Id> as a model of one
/// sequence. A virtual call is nothing beside a forward pass. Borrows what it is given by name,
/// owns what it is given to keep:
///
///     any_batch_model<target_id> view(model);
///     any_batch_model<target_id> owner(std::move(model));
///
/// It knows what its sequences hold (held), so that texts reuse it. Of a type that lacks a member
/// the compiler says which one (require_members.hpp).
///
/// Models BatchModelOf<Id>, and BatchTreeModelOf<Id> where scores_trees(). Movable. Allocates at
/// construction, and where a sequence is longer than ever before.
template <class Id>
class any_batch_model {
public:
    static constexpr model_traits traits = [] {
        model_traits t = all_model_traits;
        t.copies_prefix = true;
        return t;
    }();
    template <class Model>
        requires(!std::same_as<std::remove_cvref_t<Model>, any_batch_model> &&
                 std::is_class_v<std::remove_cvref_t<Model>>)
    explicit(false) any_batch_model(Model&& model) {
        if constexpr (require_model_members<std::remove_reference_t<Model>, Id>())
            held_ = std::make_unique<holder<Model>>(std::forward<Model>(model));
    }

    [[nodiscard]] std::size_t sequences() const { return held_->sequences(); }
    [[nodiscard]] std::size_t size(std::size_t s) const { return held_->size(s); }
    [[nodiscard]] std::size_t capacity() const { return held_->capacity(); }
    [[nodiscard]] std::size_t vocabulary_size() const { return held_->vocabulary_size(); }
    /// The tokens of a sequence: as the model tells where it does, else as they were fed through
    /// here. None where somebody else has used the model and left another number of tokens.
    [[nodiscard]] held_tokens<Id> held(std::size_t s) const {
        const std::optional<held_tokens<Id>> told = held_->held(s);
        return told ? *told : contexts_.held(s, size(s));
    }
    /// The key that the tokens of a sequence were computed with: as the model reports it, else as
    /// set_key said.
    [[nodiscard]] context_key key(std::size_t s) const {
        const std::optional<context_key> told = held_->key(s);
        return told ? *told : contexts_.key(s);
    }
    /// Sequence s is used for a text of this key from now on. What it holds of another one is
    /// dropped. A model that takes keys is told; one that only reports them has to compute with
    /// this one.
    void set_key(std::size_t s, context_key to) {
        if (key(s) != to)
            truncate(s, 0);
        held_->set_key(s, to);
        contexts_.set_key(s, to);
    }
    /// See model_traits. False for a model without it, and where the tokens are not known.
    [[nodiscard]] bool copy_prefix(std::size_t to, std::size_t from, std::size_t n) {
        contexts_.meet(from, size(from));
        contexts_.meet(to, size(to));
        const std::span<const Id> all = held(from);
        if (all.size() < n || !held_->copy_prefix(to, from, n))
            return false;
        const std::vector<Id> ids(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(n));
        contexts_.truncated(to, 0);
        contexts_.fed(to, ids);
        return true;
    }
    /// Greater for a sequence that was used later, through here.
    [[nodiscard]] std::uint64_t last_used(std::size_t s) const { return contexts_.last_used(s); }
    void append(std::size_t s, std::span<const Id> ids) {
        contexts_.meet(s, size(s));
        held_->append(s, ids);
        contexts_.fed(s, ids);
    }
    [[nodiscard]] logits_rows<Id> score(std::span<const sequence_tokens<Id>> parts) {
        for (const auto& [s, ids] : parts)
            contexts_.meet(s, size(s));
        const logits_rows<Id> rows = held_->score(parts);
        for (const auto& [s, ids] : parts)
            contexts_.fed(s, ids);
        return rows;
    }
    /// Whether the model scores trees. If not, the next two are errors.
    [[nodiscard]] bool scores_trees() const { return held_->scores_trees(); }
    [[nodiscard]] logits_rows<Id> score_tree(std::span<const sequence_nodes<Id>> parts) {
        for (const sequence_nodes<Id>& part : parts)
            contexts_.meet(part.sequence, size(part.sequence));
        const logits_rows<Id> rows = held_->score_tree(parts);
        for (const auto& [s, ids, parents] : parts)
            parents.empty() ? contexts_.fed(s, ids) : contexts_.grown(s, ids);
        return rows;
    }
    void keep_path(std::size_t s, std::span<const std::size_t> nodes) {
        contexts_.meet(s, size(s));
        held_->keep_path(s, nodes);
        contexts_.kept(s, nodes);
    }
    void truncate(std::size_t s, std::size_t n) {
        contexts_.meet(s, size(s));
        held_->truncate(s, n);
        if (size(s) > n)
            fail("model", "truncate",
                 "expected at most " + std::to_string(n) + " tokens to be left, found " +
                     std::to_string(size(s)));
        contexts_.truncated(s, n);
    }
    /// How many calls through here have changed sequence s, each pass being one.
    [[nodiscard]] std::uint64_t calls(std::size_t s) const { return contexts_.calls(s); }
    /// Somebody else may have used the model, and have left as many tokens: what it does not tell
    /// of itself is not known.
    void lost() { contexts_.lost(); }
    /// Truncates all sequences to nothing.
    void clear() {
        for (std::size_t s = 0; s < sequences(); ++s)
            truncate(s, 0);
    }
    /// Nothing, where the model does not want to know.
    void begin_draft_round(std::size_t s, std::size_t n) {
        contexts_.meet(s, size(s));
        held_->begin_draft_round(s, n);
        contexts_.truncated(s, size(s));
    }
    [[nodiscard]] bool learns_from_texts() const { return held_->learns_from_texts(); }
    /// Nothing, where the model learns nothing.
    void forget_learnt() { held_->forget_learnt(); }
    [[nodiscard]] bool reads_features() const { return held_->reads_features(); }
    [[nodiscard]] bool lazy_append() const { return held_->lazy_append(); }
    [[nodiscard]] bool replays_on_reject() const { return held_->replays_on_reject(); }
    [[nodiscard]] std::size_t trained_context() const { return held_->trained_context(); }
    [[nodiscard]] law_version version(std::size_t s) const { return held_->version(s); }

private:
    struct base {
        virtual ~base() = default;
        virtual std::size_t sequences() const = 0;
        virtual std::size_t size(std::size_t s) const = 0;
        virtual std::size_t capacity() const = 0;
        virtual std::size_t vocabulary_size() const = 0;
        virtual void append(std::size_t s, std::span<const Id> ids) = 0;
        virtual logits_rows<Id> score(std::span<const sequence_tokens<Id>> parts) = 0;
        virtual void truncate(std::size_t s, std::size_t n) = 0;
        virtual bool scores_trees() const = 0;
        virtual logits_rows<Id> score_tree(std::span<const sequence_nodes<Id>> parts) = 0;
        virtual void keep_path(std::size_t s, std::span<const std::size_t> nodes) = 0;
        virtual void begin_draft_round(std::size_t s, std::size_t n) = 0;
        virtual std::optional<held_tokens<Id>> held(std::size_t s) const = 0;
        virtual std::optional<context_key> key(std::size_t s) const = 0;
        virtual void set_key(std::size_t s, context_key to) = 0;
        virtual bool copy_prefix(std::size_t to, std::size_t from, std::size_t n) = 0;
        virtual bool learns_from_texts() const = 0;
        virtual void forget_learnt() = 0;
        virtual bool reads_features() const = 0;
        virtual bool lazy_append() const = 0;
        virtual bool replays_on_reject() const = 0;
        virtual std::size_t trained_context() const = 0;
        virtual law_version version(std::size_t s) const = 0;
    };
    /// Model: a type, or a reference to one.
    template <class Model>
    struct holder final : base {
        using bare = std::remove_reference_t<Model>;
        explicit holder(Model&& m) : model(std::forward<Model>(m)) {}
        std::size_t sequences() const override { return lifted.sequences(); }
        std::size_t size(std::size_t s) const override { return lifted.size(s); }
        std::size_t capacity() const override { return lifted.capacity(); }
        std::size_t vocabulary_size() const override { return lifted.vocabulary_size(); }
        void append(std::size_t s, std::span<const Id> ids) override { lifted.append(s, ids); }
        logits_rows<Id> score(std::span<const sequence_tokens<Id>> parts) override {
            return lifted.score(parts);
        }
        static constexpr bool trees = BatchTreeModelOf<lifted_model<Id, bare>, Id>;
        bool scores_trees() const override { return lifted.scores_trees(); }
        logits_rows<Id>
        score_tree([[maybe_unused]] std::span<const sequence_nodes<Id>> parts) override {
            if constexpr (trees)
                return lifted.score_tree(parts);
            else
                fail("model", "score_tree", "expected a model that scores trees");
        }
        void keep_path([[maybe_unused]] std::size_t s,
                       [[maybe_unused]] std::span<const std::size_t> nodes) override {
            if constexpr (trees)
                lifted.keep_path(s, nodes);
            else
                fail("model", "keep_path", "expected a model that scores trees");
        }
        void truncate(std::size_t s, std::size_t n) override { lifted.truncate(s, n); }
        void begin_draft_round(std::size_t s, std::size_t n) override {
            lifted.begin_draft_round(s, n);
        }
        std::optional<held_tokens<Id>> held(std::size_t s) const override {
            if constexpr (TellsHeldBatch<lifted_model<Id, bare>, Id>)
                return lifted.held(s);
            else
                return std::nullopt;
        }
        std::optional<context_key> key([[maybe_unused]] std::size_t s) const override {
            if constexpr (ReportsKeyBatch<lifted_model<Id, bare>>)
                return lifted.key(s);
            else
                return std::nullopt;
        }
        void set_key([[maybe_unused]] std::size_t s, [[maybe_unused]] context_key to) override {
            if constexpr (TakesKeys<lifted_model<Id, bare>>)
                lifted.set_key(s, to);
        }
        bool copy_prefix([[maybe_unused]] std::size_t to, [[maybe_unused]] std::size_t from,
                         [[maybe_unused]] std::size_t n) override {
            if constexpr (traits_of<model_traits, bare>.copies_prefix)
                return lifted.copy_prefix(to, from, n);
            else
                return false;
        }
        bool learns_from_texts() const override { return LearnsFromTexts<bare>; }
        void forget_learnt() override {
            if constexpr (LearnsFromTexts<bare>)
                lifted.forget_learnt();
        }
        bool reads_features() const override { return lifted.reads_features(); }
        bool lazy_append() const override { return lifted.lazy_append(); }
        bool replays_on_reject() const override { return lifted.replays_on_reject(); }
        std::size_t trained_context() const override { return lifted.trained_context(); }
        law_version version(std::size_t s) const override { return lifted.version(s); }
        Model model;
        lifted_model<Id, bare> lifted{model};
    };

    std::unique_ptr<base> held_;
    context_trackers<Id> contexts_;
};

} // namespace specdec
