// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include <specdec/core/concepts.hpp>

/// What a type lacks to be a model or a tokenizer, by the name of the member: a concept that fails
/// says it in a page of the compiler's words, or not at all. core/concepts.hpp says what each does.
namespace specdec {

/// Whether M is a model of tokens Id, of one sequence or (where it has sequences()) of several. An
/// error of compilation for each member that it lacks.
template <class M, class Id>
[[nodiscard]] constexpr bool require_model_members() {
    using number = std::size_t;
    using ids = std::span<const Id>;
    using parts = std::span<const sequence_tokens<Id>>;
    using rows = logits_rows<Id>;

    static_assert(!std::is_const_v<M>, "model: expected one that is not const, since it is fed");
    constexpr bool capacity = requires(const M& m) { number(m.capacity()); };
    static_assert(capacity, "model: expected a member `std::size_t capacity() const`");
    constexpr bool vocabulary = requires(const M& m) { number(m.vocabulary_size()); };
    static_assert(vocabulary, "model: expected a member `std::size_t vocabulary_size() const`");

    constexpr bool several = requires(const M& m) { m.sequences(); };
    if constexpr (several && !ModelOf<M, Id>) {
        constexpr bool size = requires(const M& m, number s) { number(m.size(s)); };
        static_assert(size, "model of several sequences: expected a member "
                            "`std::size_t size(std::size_t s) const`");
        constexpr bool append = requires(M& m, number s, ids x) { m.append(s, x); };
        static_assert(append, "model of several sequences: expected a member "
                              "`void append(std::size_t s, std::span<const Id> ids)`, Id as the "
                              "side's");
        constexpr bool score = requires(M& m, parts x) { rows(m.score(x)); };
        static_assert(score,
                      "model of several sequences: expected a member `logits_rows<Id> "
                      "score(std::span<const sequence_tokens<Id>> parts)`, Id as the side's");
        constexpr bool truncate = requires(M& m, number s, number n) { m.truncate(s, n); };
        static_assert(truncate, "model of several sequences: expected a member "
                                "`void truncate(std::size_t s, std::size_t n)`");
        constexpr bool complete = BatchModelOf<M, Id>;
        static_assert(complete,
                      "model of several sequences: expected what core/concepts.hpp says of it");
        return complete;
    } else {
        constexpr bool size = requires(const M& m) { number(m.size()); };
        static_assert(size, "model: expected a member `std::size_t size() const`");
        constexpr bool append = requires(M& m, ids x) { m.append(x); };
        static_assert(append, "model: expected a member `void append(std::span<const Id> ids)`, "
                              "Id as the side's");
        constexpr bool score = requires(M& m, ids x) { rows(m.score(x)); };
        static_assert(score, "model: expected a member "
                             "`logits_rows<Id> score(std::span<const Id> ids)`, Id as the side's");
        constexpr bool truncate = requires(M& m, number n) { m.truncate(n); };
        static_assert(truncate, "model: expected a member `void truncate(std::size_t n)`");
        constexpr bool complete = ModelOf<M, Id>;
        static_assert(complete, "model: expected what core/concepts.hpp says of it");
        return complete;
    }
}

/// The same of a tokenizer.
template <class T, class Id>
[[nodiscard]] constexpr bool require_tokenizer_members() {
    constexpr bool vocabulary =
        requires(const T& t) { static_cast<std::size_t>(t.vocabulary_size()); };
    static_assert(vocabulary, "tokenizer: expected a member `std::size_t vocabulary_size() const`");
    constexpr bool bytes = requires(const T& t, Id id) {
        { t.bytes(id) } -> std::same_as<std::string_view>;
    };
    static_assert(bytes, "tokenizer: expected a member `std::string_view bytes(Id id) const`, Id "
                         "as the side's");
    constexpr bool encode = requires(const T& t, std::string_view text, encode_mode where,
                                     std::vector<Id>& out) { t.encode(text, where, out); };
    static_assert(encode, "tokenizer: expected a member `void encode(std::string_view text, "
                          "encode_mode where, std::vector<Id>& out) const`, Id as the side's");
    constexpr bool complete = TokenizerOf<T, Id>;
    static_assert(complete, "tokenizer: expected what core/concepts.hpp says of it");
    return complete;
}

} // namespace specdec
