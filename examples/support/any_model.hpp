// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <specdec/core/concepts.hpp>

/// Models and tokenizers of any engine behind one type each, so that the programs compile every
/// rule once and a pair may mix engines. A virtual call is nothing beside a forward pass.
namespace specdec::examples {

/// Any BatchModelOf<Id>, owned.
template <class Id>
class any_batch_model {
public:
    template <BatchModelOf<Id> Model>
    explicit any_batch_model(Model model)
        : held_(std::make_unique<holder<Model>>(std::move(model))) {}

    [[nodiscard]] std::size_t sequences() const { return held_->sequences(); }
    [[nodiscard]] std::size_t size(std::size_t s) const { return held_->size(s); }
    [[nodiscard]] std::size_t capacity() const { return held_->capacity(); }
    [[nodiscard]] std::size_t vocabulary_size() const { return held_->vocabulary_size(); }
    void append(std::size_t s, std::span<const Id> ids) { held_->append(s, ids); }
    [[nodiscard]] logits_rows<Id> score(std::span<const sequence_tokens<Id>> parts) {
        return held_->score(parts);
    }
    void truncate(std::size_t s, std::size_t n) { held_->truncate(s, n); }

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
    };
    template <class Model>
    struct holder final : base {
        explicit holder(Model m) : model(std::move(m)) {}
        std::size_t sequences() const override { return model.sequences(); }
        std::size_t size(std::size_t s) const override { return model.size(s); }
        std::size_t capacity() const override { return model.capacity(); }
        std::size_t vocabulary_size() const override { return model.vocabulary_size(); }
        void append(std::size_t s, std::span<const Id> ids) override { model.append(s, ids); }
        logits_rows<Id> score(std::span<const sequence_tokens<Id>> parts) override {
            return model.score(parts);
        }
        void truncate(std::size_t s, std::size_t n) override { model.truncate(s, n); }
        Model model;
    };

    std::unique_ptr<base> held_;
};

/// Any TokenizerOf<Id>; copies share it.
template <class Id>
class any_tokenizer {
public:
    template <TokenizerOf<Id> Tokenizer>
    explicit any_tokenizer(Tokenizer tokenizer)
        : held_(std::make_shared<const holder<Tokenizer>>(std::move(tokenizer))) {}

    [[nodiscard]] std::size_t vocabulary_size() const { return held_->vocabulary_size(); }
    [[nodiscard]] std::string_view bytes(Id id) const { return held_->bytes(id); }
    void encode(std::string_view text, text_position where, std::vector<Id>& out) const {
        held_->encode(text, where, out);
    }

private:
    struct base {
        virtual ~base() = default;
        virtual std::size_t vocabulary_size() const = 0;
        virtual std::string_view bytes(Id id) const = 0;
        virtual void encode(std::string_view text, text_position where,
                            std::vector<Id>& out) const = 0;
    };
    template <class Tokenizer>
    struct holder final : base {
        explicit holder(Tokenizer t) : tokenizer(std::move(t)) {}
        std::size_t vocabulary_size() const override { return tokenizer.vocabulary_size(); }
        std::string_view bytes(Id id) const override { return tokenizer.bytes(id); }
        void encode(std::string_view text, text_position where,
                    std::vector<Id>& out) const override {
            tokenizer.encode(text, where, out);
        }
        Tokenizer tokenizer;
    };

    std::shared_ptr<const base> held_;
};

} // namespace specdec::examples
