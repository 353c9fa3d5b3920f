// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include <specdec/core/basic/first_where.hpp>
#include <specdec/core/basic/heap.hpp>
#include <specdec/core/concepts.hpp>
#include <specdec/core/token_id.hpp>

namespace specdec {

/// A range of places in a byte_order.
struct order_range {
    std::size_t first = 0;
    std::size_t last = 0;

    [[nodiscard]] bool empty() const { return first == last; }
    [[nodiscard]] std::size_t size() const { return last - first; }
};

/// The ids of a vocabulary sorted by their bytes, so that the tokens that begin with given bytes
/// are a range, and their mass under a law is the difference of two sums. Tokens without bytes
/// (control tokens) come first. Immutable and shareable between threads; holds views of the
/// tokenizer's bytes. Construction: O(V log V). Look-ups: O(log V), no allocation.
template <class Id>
class byte_order {
public:
    template <TokenizerOf<Id> Tokenizer>
    explicit byte_order(const Tokenizer&& gone_before_use) = delete;
    template <TokenizerOf<Id> Tokenizer>
    explicit byte_order(const Tokenizer& tokenizer) {
        entries_.reserve(tokenizer.vocabulary_size());
        for (std::size_t i = 0; i < tokenizer.vocabulary_size(); ++i) {
            entries_.push_back({tokenizer.bytes(id_at<Id>(i)), id_at<Id>(i)});
            const std::size_t size = entries_.back().bytes.size();
            longest_ = size > longest_ ? size : longest_;
        }
        heap_sort(entries_, [](const entry& a, const entry& b) {
            const int order = a.bytes.compare(b.bytes);
            return order != 0 ? order < 0 : a.id < b.id;
        });
    }

    [[nodiscard]] std::size_t size() const { return entries_.size(); }
    /// Bytes of the longest token.
    [[nodiscard]] std::size_t longest() const { return longest_; }
    [[nodiscard]] order_range all() const { return {0, size()}; }
    [[nodiscard]] Id id(std::size_t place) const { return entries_[place].id; }
    [[nodiscard]] std::string_view bytes(std::size_t place) const { return entries_[place].bytes; }

    /// Tokens without bytes.
    [[nodiscard]] order_range silent() const { return exactly({}); }
    /// Tokens with exactly these bytes.
    [[nodiscard]] order_range exactly(std::string_view text) const {
        return {place_of(text), partition([&](const entry& e) { return e.bytes <= text; })};
    }
    /// Where a token of these bytes stands. Pre: it is one of the vocabulary.
    [[nodiscard]] std::size_t place(Id id, std::string_view text) const {
        std::size_t at = place_of(text);
        while (entries_[at].id != id)
            ++at;
        return at;
    }
    /// Tokens that begin with these bytes and go on.
    [[nodiscard]] order_range extending(std::string_view text) const {
        return {exactly(text).last,
                partition([&](const entry& e) { return e.bytes.substr(0, text.size()) <= text; })};
    }
    /// Splits a range by the byte at `index`, which all its tokens have: use(byte, range).
    template <class Use>
    void by_byte(order_range range, std::size_t index, const Use& use) const {
        while (!range.empty()) {
            const char byte = bytes(range.first)[index];
            const auto less_or_equal = [&](const entry& e) {
                return static_cast<unsigned char>(e.bytes[index]) <=
                       static_cast<unsigned char>(byte);
            };
            const std::size_t end = partition(less_or_equal, range);
            use(byte, order_range{range.first, end});
            range.first = end;
        }
    }

private:
    struct entry {
        std::string_view bytes;
        Id id;
    };

    [[nodiscard]] std::size_t place_of(std::string_view text) const {
        return partition([&](const entry& e) { return e.bytes < text; });
    }
    /// The first place in the range whose entry is not `before`.
    template <class Before>
    [[nodiscard]] std::size_t partition(const Before& before) const {
        return partition(before, all());
    }
    template <class Before>
    [[nodiscard]] std::size_t partition(const Before& before, order_range range) const {
        return first_where(range.first, range.last,
                           [&](std::size_t at) { return !before(entries_[at]); });
    }

    std::vector<entry> entries_;
    std::size_t longest_ = 0;
};

} // namespace specdec
