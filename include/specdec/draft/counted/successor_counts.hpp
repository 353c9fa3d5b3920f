// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <specdec/core/error.hpp>
#include <specdec/core/token_id.hpp>

namespace specdec {

/// What followed the last tokens before, how often and how lately: counts of the successors of
/// n-grams, of one text or of many, in memory that does not grow.
///
///     counts.learn(tokens, d)   d follows these tokens: counted behind the last 1, 2, 3, 4, 6, 8
///     counts.find(tokens)       the successors behind the longest of these that was seen
///
/// Where a token is seen again, the weights of all that followed the same tokens shrink to 4 / 5,
/// and its own grows by 1: what was said lately counts most. The 4 successors of most weight are
/// known. An n-gram's place is its hash's; another one that wants it halves the weights there, and
/// takes it where none above 1 / 2 is left. Of places, 32 bits tell them apart: one n-gram in four
/// billion is mistaken for another, which costs a worse draft law and nothing else.
///
/// Complexity: O(1), six places that lie anywhere in the memory. Memory: 36 bytes an entry, at
/// construction. Not for several threads at a time. Errors: specdec::error for fewer than 16
/// entries or 2^32 and more.
class successor_counts {
public:
    static constexpr std::array<std::size_t, 6> orders{1, 2, 3, 4, 6, 8};
    static constexpr std::size_t longest = orders.back(), width = 4;
    static constexpr std::size_t default_entries = std::size_t{1} << 18; ///< 9 MiB

    struct successor {
        draft_id id;
        float weight = 0; ///< 0: there is none
    };
    struct found {
        std::size_t order = 0; ///< tokens that they stood behind; 0: nothing was found
        double weight = 0;     ///< of all of them
        std::span<const successor> successors{};
    };

    /// entries: rounded down to a power of two; a token that is learnt takes six at most.
    explicit successor_counts(std::size_t entries = default_entries) {
        if (entries < 16 || std::uint64_t{entries} >> 32 > 0)
            fail("successor counts", "entries",
                 "expected at least 16 and less than 2^32, found " + std::to_string(entries));
        entries_.resize(std::bit_floor(entries));
        shift_ = 64 - std::countr_zero(entries_.size());
    }

    [[nodiscard]] std::size_t memory() const { return entries_.size() * sizeof(entry); }
    /// Another number whenever something was learnt or forgotten (core/law_version.hpp).
    [[nodiscard]] std::uint64_t version() const { return changes_; }

    void learn(std::span<const draft_id> tokens, draft_id d) {
        each(tokens, [&](std::size_t, std::uint64_t key) {
            entry& e = entries_[key >> shift_];
            if (e.check == check_of(key))
                e.add(d);
            else if (!e.holds())
                e = {check_of(key), {{{d, 1}}}};
        });
        ++changes_;
    }
    [[nodiscard]] found find(std::span<const draft_id> tokens) const {
        found best;
        each(tokens, [&](std::size_t order, std::uint64_t key) {
            const entry& e = entries_[key >> shift_];
            if (e.check == check_of(key) && e.weight() > 0)
                best = {order, e.weight(), e.successors};
        });
        return best;
    }
    void forget() {
        for (entry& e : entries_)
            e = {};
        ++changes_;
    }

private:
    friend struct successor_counts_codec;
    struct entry {
        std::uint32_t check = 0;
        std::array<successor, width> successors{};

        [[nodiscard]] double weight() const {
            double sum = 0;
            for (const successor& s : successors)
                sum += static_cast<double>(s.weight);
            return sum;
        }
        void add(draft_id d) {
            std::size_t at = 0;
            for (std::size_t k = 0; k < width; ++k) {
                successors[k].weight *= 0.8F;
                if (successors[at].id != d &&
                    (successors[k].id == d || successors[k].weight < successors[at].weight))
                    at = k;
            }
            if (successors[at].id != d)
                successors[at] = {d, 0};
            successors[at].weight += 1;
        }
        /// Another n-gram wants the place.
        bool holds() {
            bool stays = false;
            for (successor& s : successors) {
                s.weight /= 2;
                stays = stays || s.weight > 0.5F;
            }
            return stays;
        }
    };

    static std::uint32_t check_of(std::uint64_t key) { return static_cast<std::uint32_t>(key); }
    /// f(order, hash) of each n-gram that the tokens end in, the shortest first.
    template <class F>
    static void each(std::span<const draft_id> tokens, const F& f) {
        std::uint64_t h = 0;
        std::size_t n = 0;
        for (const std::size_t order : orders) {
            if (order > tokens.size())
                return;
            for (; n < order; ++n) {
                h = (h ^ (tokens[tokens.size() - 1 - n].index() + 1)) * 0x9e3779b97f4a7c15U;
                h ^= h >> 32;
            }
            f(order, h * 0xbf58476d1ce4e5b9U);
        }
    }

    std::vector<entry> entries_;
    int shift_ = 0; // of a hash, which leaves an entry
    std::uint64_t changes_ = 0;
};

} // namespace specdec
