// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <specdec/core/concepts.hpp>
#include <specdec/core/text_offset.hpp>
#include <specdec/core/token_id.hpp>

namespace specdec {

/// The keys of two vocabularies for coupled sampling: one for every id of either side, equal for
/// two ids if and only if they are the same token; and the width of every target id. Built once;
/// any number of sequences and threads may read it.
///
/// - The key of a target id is a hash of its bytes (of its id, where it has none), so the text of a
///   seed depends on neither the drafter nor the numbering. Ids of one vocabulary never share a
///   key, or their noise would not be independent: where the key is taken, by equal bytes
///   (SentencePiece's <0x41> and A) or by chance, it is hashed again.
/// - A draft id has the key of the target id whose canonical partner it is in the map; every other
///   (outside the intersection, a duplicate) has one of its own. The map decides because only it
///   knows which of several equal ids is the one in use, and which control tokens are equal.
///
/// Memory: 4 bytes a draft id, 8 a target id. Complexity: linear in the bytes of the vocabulary.
class text_keys {
public:
    /// For decoding without a drafter.
    template <TokenizerOf<target_id> Tokenizer>
    explicit text_keys(const Tokenizer& target) {
        const std::size_t size = target.vocabulary_size();
        key_set taken(size);
        for (std::size_t t = 0; t < size; ++t) {
            const std::string_view bytes = target.bytes(id_at<target_id>(t));
            widths_.push_back(text_width(bytes));
            target_.push_back(
                taken.claim(bytes.empty() ? hash_of(control, t) : hash_of(text, bytes)));
        }
    }

    /// Map: id_map, or anything with its draft_size, to_target and to_draft.
    template <TokenizerOf<target_id> Tokenizer, class Map>
    text_keys(const Tokenizer& target, const Map& map) : text_keys(target) {
        draft_.resize(map.draft_size());
        key_set taken(draft_.size());
        const auto partner = [&](draft_id d) {
            const target_id t = map.to_target(d);
            const bool has = t.valid() && t.index() < target_.size() && map.to_draft(t) == d;
            return has ? t : target_id{};
        };
        for (std::size_t d = 0; d < draft_.size(); ++d)
            if (const target_id t = partner(id_at<draft_id>(d)); t.valid())
                draft_[d] = taken.claim(target_[t.index()]);
        for (std::size_t d = 0; d < draft_.size(); ++d)
            if (!partner(id_at<draft_id>(d)).valid())
                draft_[d] = taken.claim(hash_of(draft_only, d));
    }

    /// [vocabulary] the keys of one side, all different.
    template <class Id>
    [[nodiscard]] std::span<const std::uint32_t> of() const {
        if constexpr (std::same_as<Id, target_id>)
            return target_;
        else
            return draft_;
    }

    /// [target vocabulary] how far each token moves the place in a text.
    [[nodiscard]] std::span<const std::uint32_t> widths() const { return widths_; }

private:
    static constexpr std::uint64_t text = 1, control = 2, draft_only = 3;

    /// A 64-bit multiply and shift-down (Stafford's finaliser of MurmurHash3).
    [[nodiscard]] static constexpr std::uint64_t mix(std::uint64_t x) {
        x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
        x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
        return x ^ (x >> 31);
    }
    [[nodiscard]] static constexpr std::uint32_t hash_of(std::uint64_t kind, std::uint64_t id) {
        return static_cast<std::uint32_t>(mix(mix(kind) + id) >> 32);
    }
    [[nodiscard]] static constexpr std::uint32_t hash_of(std::uint64_t kind,
                                                         std::string_view bytes) {
        std::uint64_t h = mix(kind);
        for (const char byte : bytes)
            h = (h ^ static_cast<unsigned char>(byte)) * 0x100000001B3;
        return static_cast<std::uint32_t>(mix(h) >> 32);
    }

    /// The keys in use: open addressing, at most half full; 0 marks a free slot and is no key.
    class key_set {
    public:
        explicit key_set(std::size_t count) {
            std::size_t size = 2;
            while (size < 2 * count)
                size *= 2;
            slots_.resize(size);
        }
        /// The first of key, hash(key), hash(hash(key)), ... that is not in use, now in use.
        std::uint32_t claim(std::uint32_t key) {
            while (key == 0 || !insert(key))
                key = static_cast<std::uint32_t>(mix(key + 0x9E3779B97F4A7C15U) >> 32);
            return key;
        }

    private:
        bool insert(std::uint32_t key) {
            std::size_t at = key & (slots_.size() - 1);
            for (; slots_[at] != 0; at = (at + 1) & (slots_.size() - 1))
                if (slots_[at] == key)
                    return false;
            slots_[at] = key;
            return true;
        }
        std::vector<std::uint32_t> slots_;
    };

    std::vector<std::uint32_t> target_, draft_, widths_;
};

} // namespace specdec
