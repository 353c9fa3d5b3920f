// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <specdec/core/concepts.hpp>
#include <specdec/core/error.hpp>
#include <specdec/speculation/any/require_members.hpp>
#include <specdec/vocab/table/vocabulary.hpp>

namespace specdec {

/// Any TokenizerOf<Id> behind one type. Its bytes are copied into a table, so that a token costs no
/// virtual call, only an encoding does. Borrows what it is given by name, owns what it is given to
/// keep; copies share it. A tokenizer without table() is taken to have control tokens where bytes
/// are empty. Models TokenizerOf<Id>, has table(). Errors: specdec::error where bytes() and table()
/// disagree. Complexity of construction: linear in the bytes of the vocabulary.
template <class Id>
class any_tokenizer {
public:
    template <class Tokenizer>
        requires(!std::same_as<std::remove_cvref_t<Tokenizer>, any_tokenizer> &&
                 std::is_class_v<std::remove_cvref_t<Tokenizer>>)
    explicit(false) any_tokenizer(Tokenizer&& tokenizer) {
        if constexpr (require_tokenizer_members<std::remove_cvref_t<Tokenizer>, Id>())
            held_ = std::make_shared<const holder<Tokenizer>>(std::forward<Tokenizer>(tokenizer));
    }

    [[nodiscard]] std::size_t vocabulary_size() const { return held_->table.size(); }
    [[nodiscard]] std::string_view bytes(Id id) const { return held_->table.text(id.index()); }
    void encode(std::string_view text, encode_mode where, std::vector<Id>& out) const {
        held_->encode(text, where, out);
    }
    [[nodiscard]] const vocabulary& table() const { return held_->table; }
    /// The table's, taken once: every text compares it with its map's.
    [[nodiscard]] std::uint64_t fingerprint() const { return held_->fingerprint; }

private:
    struct base {
        explicit base(vocabulary t) : table(std::move(t)), fingerprint(table.fingerprint()) {}
        virtual ~base() = default;
        virtual void encode(std::string_view text, encode_mode where,
                            std::vector<Id>& out) const = 0;
        vocabulary table;
        std::uint64_t fingerprint;
    };
    /// Tokenizer: a type, or a reference to one.
    template <class Tokenizer>
    struct holder final : base {
        explicit holder(Tokenizer&& t) : base(table_of(t)), tokenizer(std::forward<Tokenizer>(t)) {}
        void encode(std::string_view text, encode_mode where, std::vector<Id>& out) const override {
            tokenizer.encode(text, where, out);
        }
        std::conditional_t<std::is_reference_v<Tokenizer>,
                           const std::remove_reference_t<Tokenizer>&, Tokenizer>
            tokenizer;
    };

    template <class Tokenizer>
    static vocabulary table_of(const Tokenizer& t) {
        static_assert(
            KeepsTable<Tokenizer> || !requires { t.table(); },
            "tokenizer: expected a member `const vocabulary& table() const`, or none");
        const std::size_t n = t.vocabulary_size();
        if constexpr (KeepsTable<Tokenizer>) {
            const vocabulary& table = t.table();
            bool same = table.size() == n;
            for (std::size_t i = 0; i < n && same; ++i)
                same = table.text(i) == t.bytes(id_at<Id>(i));
            if (!same)
                fail("tokenizer", "table", "expected the bytes that bytes() gives, for every id");
            return table;
        } else {
            vocabulary table;
            for (std::size_t i = 0; i < n; ++i) {
                const std::string_view bytes = t.bytes(id_at<Id>(i));
                table.add(bytes, bytes.empty() ? token_kind::control : token_kind::normal);
            }
            return table;
        }
    }

    std::shared_ptr<const base> held_;
};

} // namespace specdec
