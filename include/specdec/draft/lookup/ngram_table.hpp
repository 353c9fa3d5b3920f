// SPDX-License-Identifier: MIT
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include <specdec/core/error.hpp>
#include <specdec/draft/lookup/lookup_hit.hpp>

namespace specdec {

struct ngram_table_settings {
    std::size_t entries = std::size_t{1} << 20; ///< rounded down to a power of two
    std::size_t order = 12;                     ///< bytes that a byte is remembered behind, 4 to 32
};

/// The byte that followed n bytes, by their hash, and how often it did in a row: shared by all
/// texts, in memory that does not grow. A byte that another one follows gives way by and by. As
/// llama.cpp's ngram-mod, but of bytes.
///
/// An entry: 16 bits that tell other n-grams of the same place (one in 65,536 is mistaken for
/// another, which costs a wrong proposal), the byte, the count. Memory: 4 bytes an entry, at
/// construction. Not for several threads at a time. Errors: specdec::error for other orders, fewer
/// than 16 entries or 2^32 and more.
class ngram_table {
public:
    explicit ngram_table(ngram_table_settings settings = {}) : order_(settings.order) {
        if (order_ < 4 || order_ > longest_order)
            fail("n-gram table", "order", "expected 4 to 32 bytes");
        if (settings.entries < 16 || std::uint64_t{settings.entries} >> 32 > 0)
            fail("n-gram table", "entries", "expected at least 16 and less than 2^32");
        const std::size_t entries = std::bit_floor(settings.entries);
        shift_ = 64 - std::countr_zero(entries);
        entries_.resize(entries);
    }
    static constexpr std::size_t longest_order = 32;

    [[nodiscard]] std::size_t order() const { return order_; }
    [[nodiscard]] std::size_t memory() const { return entries_.size() * sizeof(entry); }

    /// `byte` follows the n-gram that `text` ends in. Pre: text.size() >= order().
    void learn(std::string_view text, char byte) {
        const std::uint64_t key = hash(text);
        entry& e = entries_[key >> shift_];
        const auto check = static_cast<std::uint16_t>(key);
        if (e.check == check && e.count > 0 && e.byte == byte)
            e.count = e.count < most_count ? static_cast<std::uint8_t>(e.count + 1) : most_count;
        else if (e.count > 1)
            e.count /= 2;
        else
            e = {check, byte, 1};
    }

    struct following {
        char byte = no_text;
        std::size_t count = 0; ///< times in a row; 0: nothing is known
    };
    /// Pre: as learn.
    [[nodiscard]] following behind(std::string_view text) const {
        const std::uint64_t key = hash(text);
        const entry& e = entries_[key >> shift_];
        if (e.check != static_cast<std::uint16_t>(key))
            return {};
        return {e.byte, e.count};
    }

private:
    static constexpr std::uint8_t most_count = 255;
    struct entry {
        std::uint16_t check = 0;
        char byte = no_text;
        std::uint8_t count = 0;
    };

    [[nodiscard]] std::uint64_t hash(std::string_view text) const {
        const char* const end = text.data() + text.size();
        std::uint64_t h = 0;
        std::size_t left = order_;
        for (; left > 0; left -= left < 8 ? left : 8) {
            std::uint64_t part = 0;
            std::memcpy(&part, end - left, left < 8 ? left : 8);
            h = (h ^ part) * 0x9e3779b97f4a7c15U;
            h ^= h >> 32;
        }
        return h * 0xbf58476d1ce4e5b9U;
    }

    std::size_t order_;
    int shift_ = 0; // of a hash, which leaves an entry
    std::vector<entry> entries_;
};

/// A text's way through a table, which it teaches. Models TextLookup. Borrows the table.
/// Complexity: O(1) a byte. Allocates at construction only.
class ngram_lookup {
public:
    explicit ngram_lookup(ngram_table& table) : table_(&table) {
        tail_.reserve(most_tail);
        scratch_.reserve(most_tail + default_find);
    }

    void start() { tail_.clear(); }

    void follow(std::string_view bytes) {
        for (const char byte : bytes) {
            if (tail_.size() >= table_->order())
                table_->learn(tail_, byte);
            if (tail_.size() == most_tail)
                tail_.erase(0, most_tail - ngram_table::longest_order);
            tail_.push_back(byte);
        }
    }

    void find(std::size_t most, lookup_hit& out) {
        out.clear();
        scratch_.assign(tail_);
        if (scratch_.size() < table_->order())
            return;
        out.match = table_->order();
        for (double reached = 1; out.bytes.size() < most && reached >= least_chance;) {
            const ngram_table::following next = table_->behind(scratch_);
            if (next.count == 0 || next.byte == no_text)
                return;
            // A byte that followed so often in a row is as likely as behind so much longer a match.
            const double chance = repeat_chance(table_->order() + 2 * next.count);
            out.push(next.byte, chance);
            scratch_.push_back(next.byte);
            reached *= chance;
        }
    }

private:
    static constexpr std::size_t most_tail = 4 * ngram_table::longest_order;
    static constexpr std::size_t default_find = 512; // bytes: more make room for themselves, once

    ngram_table* table_;
    std::string tail_, scratch_; // the text's last bytes; with what is found
};
static_assert(TextLookup<ngram_lookup>);

} // namespace specdec
