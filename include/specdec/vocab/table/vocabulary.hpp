// SPDX-License-Identifier: MIT
#pragma once

#include <bit> // std::endian
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <specdec/core/basic/builtins.hpp>
#include <specdec/core/contract.hpp>

namespace specdec {

/// What a token is for.
enum class token_kind : std::uint8_t {
    normal,  ///< text, made by the tokenizer's merges
    byte,    ///< one raw byte (SentencePiece's <0x41>)
    user,    ///< an added token that is literal text
    control, ///< never text: BOS, end of turn, ... ; its entry holds the printed name
    unused,  ///< an id without a token
};

/// The byte table of one tokenizer: id -> (bytes, kind). A plain value, independent of the
/// tokenizer it came from; what vocabulary maps are built from and what fingerprints are taken of.
///
/// For `control` entries entry(i) is the printed name (for people and equivalence tables), while
/// text(i), what the token adds to a text, is empty.
class vocabulary {
public:
    /// Appends the entry of the next id (0, 1, 2, ...). Allocates.
    void add(std::string_view entry, token_kind kind) {
        entries_.append(entry);
        ends_.push_back(entries_.size());
        kinds_.push_back(kind);
    }

    [[nodiscard]] std::size_t size() const { return kinds_.size(); }

    /// Exact bytes of a text token, printed name of a control token. Precondition: i < size().
    [[nodiscard]] std::string_view entry(std::size_t i) const {
        SPECDEC_PRECONDITION(i < size());
        const std::size_t begin = i == 0 ? 0 : ends_[i - 1];
        return std::string_view(entries_).substr(begin, ends_[i] - begin);
    }

    [[nodiscard]] token_kind kind(std::size_t i) const {
        SPECDEC_PRECONDITION(i < size());
        return kinds_[i];
    }

    /// Whether the token adds bytes to a text.
    [[nodiscard]] bool is_text(std::size_t i) const {
        return kind(i) != token_kind::control && kind(i) != token_kind::unused;
    }

    /// What the token adds to a text: its bytes, or nothing.
    [[nodiscard]] std::string_view text(std::size_t i) const {
        return is_text(i) ? entry(i) : std::string_view{};
    }

    /// A 64-bit fingerprint of every entry, length and kind: tells vocabularies apart in maps and
    /// saved files, the same on every machine. FNV-1a's step over words of eight bytes, with a
    /// shift that brings high bits down; not cryptographic. Complexity: linear in the bytes.
    [[nodiscard]] std::uint64_t fingerprint() const {
        std::uint64_t hash = 0xcbf29ce484222325u;
        const auto mix = [&hash](std::uint64_t word) {
            hash = (hash ^ word) * 0x100000001b3u;
            hash ^= hash >> 29;
        };
        for (std::size_t i = 0; i < size(); ++i)
            mix(static_cast<std::uint64_t>(ends_[i]) << 8 | static_cast<std::uint64_t>(kinds_[i]));
        for (std::size_t i = 0; i < entries_.size(); i += 8)
            mix(word_at(i));
        return hash;
    }

private:
    /// Eight bytes of entries_ from i on, the first one lowest; zeros behind the end.
    [[nodiscard]] std::uint64_t word_at(std::size_t i) const {
        std::uint64_t word = 0;
        const std::size_t left = entries_.size() - i;
        builtin::copy(&word, entries_.data() + i, left < 8 ? left : 8);
        return std::endian::native == std::endian::little ? word : builtin::byteswap(word);
    }

    std::string entries_;           // all entries, one behind the other
    std::vector<std::size_t> ends_; // [size] end of entry i in entries_
    std::vector<token_kind> kinds_; // [size]
};

/// A tokenizer that has its vocabulary as a table: t.table().
template <class T>
concept KeepsTable = requires(const T& t) {
    { t.table() } -> std::convertible_to<const vocabulary&>;
};

/// One that has taken the table's fingerprint once: t.fingerprint(), which is no other hash.
template <class T>
concept KeepsFingerprint = KeepsTable<T> && requires(const T& t) {
    { t.fingerprint() } -> std::same_as<std::uint64_t>;
};

} // namespace specdec
