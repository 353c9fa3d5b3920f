// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <specdec/core/basic/heap.hpp>
#include <specdec/core/error.hpp>
#include <specdec/core/require.hpp>
#include <specdec/head/token_list.hpp>

namespace specdec {

/// How often tokens occur in a text that stands for what will be drafted, and the lists that a head
/// is trimmed to: VocabTrim's calibration (section 3; docs/adapt/heads.md). The text may have any
/// length, a piece at a time. `stay`: tokens that stay whatever was counted (control tokens, single
/// bytes), part of the list's size. Equally frequent tokens: the lower id first. Memory: 8 bytes a
/// token of the vocabulary. Complexity: add O(1) a token; a list O(V log V). Errors: specdec::error
/// for ids outside the vocabulary and for lists that would be empty or larger than it.
template <class Id>
class token_frequencies {
public:
    explicit token_frequencies(std::size_t vocabulary) : counts_(vocabulary) {}

    void add(std::span<const Id> ids) {
        require_ids(ids, counts_.size(), "token frequencies", "tokens");
        for (const Id id : ids)
            ++counts_[id.index()];
        total_ += ids.size();
    }

    [[nodiscard]] std::size_t vocabulary_size() const { return counts_.size(); }
    [[nodiscard]] std::uint64_t of(Id id) const {
        require_ids(std::span<const Id>(&id, 1), counts_.size(), "token frequencies", "tokens");
        return counts_[id.index()];
    }
    [[nodiscard]] std::uint64_t total() const { return total_; }
    /// The share of all that was counted which falls into the list; 0 if nothing was.
    [[nodiscard]] double coverage(const token_list<Id>& list) const {
        std::uint64_t inside = 0;
        for (const Id id : list.ids())
            inside += of(id);
        return total_ == 0 ? 0 : static_cast<double>(inside) / static_cast<double>(total_);
    }

    /// The n most frequent tokens (top-K).
    [[nodiscard]] token_list<Id> most(std::size_t n, std::span<const Id> stay = {}) const {
        if (n == 0 || n > counts_.size())
            fail("token frequencies", "size of the list",
                 "expected 1 to " + std::to_string(counts_.size()) + " tokens, found " +
                     std::to_string(n));
        return first_of_order(stay,
                              [&](std::size_t taken, std::uint64_t, Id) { return taken < n; });
    }
    /// The fewest of the most frequent tokens that make up such a share of all that was counted
    /// (top-P).
    [[nodiscard]] token_list<Id> covering(double share, std::span<const Id> stay = {}) const {
        if (!(share > 0 && share <= 1))
            fail("token frequencies", "share", "expected more than 0 and at most 1");
        const double wanted = share * static_cast<double>(total_);
        return first_of_order(stay, [&](std::size_t, std::uint64_t inside, Id) {
            return static_cast<double>(inside) < wanted;
        });
    }
    /// The tokens that occur at least n times.
    [[nodiscard]] token_list<Id> at_least(std::uint64_t n, std::span<const Id> stay = {}) const {
        return first_of_order(stay,
                              [&](std::size_t, std::uint64_t, Id next) { return of(next) >= n; });
    }

private:
    /// `stay`, then by frequency while more(tokens taken, occurrences of these, the next).
    template <class More>
    token_list<Id> first_of_order(std::span<const Id> stay, const More& more) const {
        require_ids(stay, counts_.size(), "token frequencies", "tokens that stay");
        std::vector<bool> kept(counts_.size());
        std::size_t taken = 0;
        std::uint64_t inside = 0;
        const auto take = [&](Id id) {
            if (kept[id.index()])
                return;
            kept[id.index()] = true;
            ++taken;
            inside += of(id);
        };
        for (const Id id : stay)
            take(id);
        std::vector<Id> order;
        order.reserve(counts_.size());
        for (std::size_t i = 0; i < counts_.size(); ++i)
            order.push_back(id_at<Id>(i));
        heap_sort(order, [&](Id a, Id b) { return of(a) != of(b) ? of(a) > of(b) : a < b; });
        for (const Id id : order) {
            if (kept[id.index()])
                continue;
            if (!more(taken, inside, id))
                break;
            take(id);
        }
        std::vector<Id> ids;
        ids.reserve(taken);
        for (std::size_t i = 0; i < kept.size(); ++i)
            if (kept[i])
                ids.push_back(id_at<Id>(i));
        return {std::move(ids), counts_.size(), "token frequencies"};
    }

    std::vector<std::uint64_t> counts_; // [vocabulary]
    std::uint64_t total_ = 0;
};

} // namespace specdec
