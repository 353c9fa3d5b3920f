// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <specdec/core/error.hpp>
#include <specdec/core/token_id.hpp>
#include <specdec/draft/lookup/forced_text.hpp>
#include <specdec/draft/lookup/guided_lookup.hpp>
#include <specdec/process/byte_grammar.hpp>
#include <specdec/process/grammar_mask.hpp>
#include <specdec/speculation/any/any_row_processor.hpp>
#include <specdec/speculation/any/any_tokenizer.hpp>
#include <specdec/vocab/table/byte_order.hpp>

namespace specdec {

/// A forced_text of any grammar, or of none: then it changes nothing and costs nothing. Models
/// TextGuide.
class any_forced_text {
public:
    any_forced_text() = default;
    template <ByteGrammar G>
    explicit any_forced_text(forced_text<G> text)
        : held_(std::make_unique<holder<G>>(std::move(text))) {}

    void start() {
        if (held_)
            held_->start();
    }
    void follow(std::string_view bytes) {
        if (held_)
            held_->follow(bytes);
    }
    void guide(std::size_t most, lookup_hit& out) const {
        if (held_)
            held_->guide(most, out);
    }

private:
    struct base {
        virtual ~base() = default;
        virtual void start() = 0;
        virtual void follow(std::string_view bytes) = 0;
        virtual void guide(std::size_t most, lookup_hit& out) const = 0;
    };
    template <class G>
    struct holder final : base {
        explicit holder(forced_text<G> t) : text(std::move(t)) {}
        void start() override { text.start(); }
        void follow(std::string_view bytes) override { text.follow(bytes); }
        void guide(std::size_t most, lookup_hit& out) const override { text.guide(most, out); }
        forced_text<G> text;
    };
    std::unique_ptr<base> held_;
};
static_assert(TextGuide<any_forced_text>);

/// A ByteGrammar chosen at run time, or none. From it come both sides' masks and the forced text,
/// all of which share one grammar with the copies of this object. Errors: specdec::error for a
/// grammar that allows no text, not even the empty one.
class any_grammar {
public:
    any_grammar() = default;
    template <class G>
        requires(ByteGrammar<G> && std::move_constructible<G>)
    explicit(false) any_grammar(G grammar)
        : held_(std::make_shared<const holder<G>>(std::move(grammar))) {}

    /// Whether there is one.
    [[nodiscard]] bool active() const { return held_ != nullptr; }

    // Pre: active(). Both prompt sizes are in bytes.
    /// Borrows tokenizer and order.
    [[nodiscard]] any_row_processor<target_id> mask(const any_tokenizer<target_id>& tokenizer,
                                                    const byte_order<target_id>& order,
                                                    std::size_t prompt,
                                                    std::vector<target_id> ends) const {
        return held_->mask(held_, tokenizer, order, prompt, std::move(ends));
    }
    [[nodiscard]] any_row_processor<draft_id> mask(const any_tokenizer<draft_id>& tokenizer,
                                                   const byte_order<draft_id>& order,
                                                   std::size_t prompt,
                                                   std::vector<draft_id> ends) const {
        return held_->mask(held_, tokenizer, order, prompt, std::move(ends));
    }
    /// prompt: by count_text_bytes.
    [[nodiscard]] any_forced_text forced(std::size_t prompt) const {
        return held_->forced(held_, prompt);
    }

private:
    struct base;
    using shared = std::shared_ptr<const base>;

    struct base {
        virtual ~base() = default;
        virtual any_row_processor<target_id> mask(const shared& self,
                                                  const any_tokenizer<target_id>& tokenizer,
                                                  const byte_order<target_id>& order,
                                                  std::size_t prompt,
                                                  std::vector<target_id> ends) const = 0;
        virtual any_row_processor<draft_id> mask(const shared& self,
                                                 const any_tokenizer<draft_id>& tokenizer,
                                                 const byte_order<draft_id>& order,
                                                 std::size_t prompt,
                                                 std::vector<draft_id> ends) const = 0;
        virtual any_forced_text forced(const shared& self, std::size_t prompt) const = 0;
    };

    /// The grammar, kept alive by whoever uses it.
    template <class G>
    struct view {
        using state_type = typename G::state_type;
        shared owner;
        const G* grammar;

        [[nodiscard]] state_type begin() const { return grammar->begin(); }
        bool step(state_type& state, char byte) const { return grammar->step(state, byte); }
        [[nodiscard]] bool complete(const state_type& state) const {
            return grammar->complete(state);
        }
    };

    template <class G>
    struct holder final : base {
        explicit holder(G g) : grammar(std::move(g)) {
            typename G::state_type state = grammar.begin();
            if (!grammar.complete(state) && !allows_a_byte(state))
                fail("grammar", "begin", "expected a grammar that allows some text");
        }
        any_row_processor<target_id> mask(const shared& self,
                                          const any_tokenizer<target_id>& tokenizer,
                                          const byte_order<target_id>& order, std::size_t prompt,
                                          std::vector<target_id> ends) const override {
            return make_mask(self, tokenizer, order, prompt, std::move(ends));
        }
        any_row_processor<draft_id> mask(const shared& self,
                                         const any_tokenizer<draft_id>& tokenizer,
                                         const byte_order<draft_id>& order, std::size_t prompt,
                                         std::vector<draft_id> ends) const override {
            return make_mask(self, tokenizer, order, prompt, std::move(ends));
        }
        any_forced_text forced(const shared& self, std::size_t prompt) const override {
            return any_forced_text(forced_text(view<G>{self, &grammar}, prompt));
        }

        template <class Id>
        any_row_processor<Id> make_mask(const shared& self, const any_tokenizer<Id>& tokenizer,
                                        const byte_order<Id>& order, std::size_t prompt,
                                        std::vector<Id> ends) const {
            return grammar_mask<Id, view<G>, any_tokenizer<Id>>(view<G>{self, &grammar}, tokenizer,
                                                                order, prompt, std::move(ends));
        }
        [[nodiscard]] bool allows_a_byte(const typename G::state_type& state) const {
            for (unsigned byte = 0; byte < 256; ++byte)
                if (auto next = state; grammar.step(next, static_cast<char>(byte)))
                    return true;
            return false;
        }

        G grammar;
    };

    shared held_;
};

} // namespace specdec
