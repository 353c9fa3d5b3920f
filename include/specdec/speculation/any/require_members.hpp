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
    static_assert(!std::is_const_v<M>, "model: expected one that is not const, since it is fed");
    using ids = std::span<const Id>;
    static_assert(
        requires(const M& m) {
            { m.capacity() } -> std::convertible_to<std::size_t>;
        }, "model: expected a member `std::size_t capacity() const`");
    static_assert(
        requires(const M& m) {
            { m.vocabulary_size() } -> std::convertible_to<std::size_t>;
        }, "model: expected a member `std::size_t vocabulary_size() const`");
    if constexpr (requires(const M& m) { m.sequences(); } && !ModelOf<M, Id>) {
        static_assert(
            requires(const M& m) {
                { m.sequences() } -> std::convertible_to<std::size_t>;
            }, "model: expected a member `std::size_t sequences() const`");
        static_assert(
            requires(const M& m, std::size_t s) {
                { m.size(s) } -> std::convertible_to<std::size_t>;
            }, "model of several sequences: expected a member `std::size_t size(std::size_t s) const`");
        static_assert(
            requires(M& m, std::size_t s, ids x) { m.append(s, x); },
            "model of several sequences: expected a member "
            "`void append(std::size_t s, std::span<const Id> ids)`, Id as the side's");
        static_assert(
            requires(M& m, std::span<const sequence_tokens<Id>> parts) {
                { m.score(parts) } -> std::convertible_to<logits_rows<Id>>;
            }, "model of several sequences: expected a member "
               "`logits_rows<Id> score(std::span<const sequence_tokens<Id>> parts)`, Id as the side's");
        static_assert(
            requires(M& m, std::size_t s, std::size_t n) { m.truncate(s, n); },
            "model of several sequences: expected a member "
            "`void truncate(std::size_t s, std::size_t n)`");
        return BatchModelOf<M, Id>;
    } else {
        static_assert(
            requires(const M& m) {
                { m.size() } -> std::convertible_to<std::size_t>;
            }, "model: expected a member `std::size_t size() const`");
        static_assert(
            requires(M& m, ids x) { m.append(x); },
            "model: expected a member `void append(std::span<const Id> ids)`, Id as the side's");
        static_assert(
            requires(M& m, ids x) {
                { m.score(x) } -> std::convertible_to<logits_rows<Id>>;
            }, "model: expected a member `logits_rows<Id> score(std::span<const Id> ids)`, Id as the "
               "side's");
        static_assert(
            requires(M& m, std::size_t n) { m.truncate(n); },
            "model: expected a member `void truncate(std::size_t n)`");
        return ModelOf<M, Id>;
    }
}

/// The same of a tokenizer.
template <class T, class Id>
[[nodiscard]] constexpr bool require_tokenizer_members() {
    static_assert(
        requires(const T& t) {
            { t.vocabulary_size() } -> std::convertible_to<std::size_t>;
        }, "tokenizer: expected a member `std::size_t vocabulary_size() const`");
    static_assert(
        requires(const T& t, Id id) {
            { t.bytes(id) } -> std::same_as<std::string_view>;
        }, "tokenizer: expected a member `std::string_view bytes(Id id) const`, Id as the side's");
    static_assert(
        requires(const T& t, std::string_view text, encode_mode where, std::vector<Id>& out) {
            t.encode(text, where, out);
        }, "tokenizer: expected a member `void encode(std::string_view text, encode_mode where, "
           "std::vector<Id>& out) const`, Id as the side's");
    return TokenizerOf<T, Id>;
}

} // namespace specdec
