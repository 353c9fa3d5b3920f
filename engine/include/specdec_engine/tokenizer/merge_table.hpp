// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm> // std::push_heap, std::pop_heap
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

namespace specdec::engine {

/// What two adjacent symbols become, and how early: the smaller the rank, the earlier.
struct merge {
    std::int32_t rank = std::numeric_limits<std::int32_t>::max();
    std::int32_t id = -1;
};

/// Byte-pair encoding proper (Sennrich et al., 2016): (left, right) -> merge, and the joining of a
/// sequence of symbols: "join the adjacent pair of smallest rank, leftmost first, until none
/// joins". Joining n symbols takes O(n^2) simple steps for short and O(n log n) for long sequences.
class merge_table {
public:
    /// Buffers of join(), reused between calls.
    struct scratch {
        std::vector<merge> pairs;
        std::vector<std::size_t> next, previous;
        struct candidate {
            merge what;
            std::size_t at;
            std::int32_t left, right;
        };
        std::vector<candidate> heap;
        std::pair<std::int32_t, std::int32_t> last; ///< the pair that was joined last
    };

    void reserve(std::size_t n) { table_.reserve(n); }
    [[nodiscard]] std::size_t size() const { return table_.size(); }

    /// False, and nothing changes, if the pair is there already.
    bool add(std::int32_t left, std::int32_t right, merge what) {
        return table_.emplace(key(left, right), what).second;
    }

    /// The merge of a pair; id -1 and the greatest rank if it does not join.
    [[nodiscard]] merge find(std::int32_t left, std::int32_t right) const {
        const auto found = table_.find(key(left, right));
        return found == table_.end() ? merge{} : found->second;
    }

    /// Joins in place.
    void join(std::vector<std::int32_t>& symbols, scratch& s) const {
        if (symbols.size() < 2)
            return;
        symbols.size() <= 32 ? join_short(symbols, s) : join_long(symbols, s);
    }

private:
    static std::uint64_t key(std::int32_t left, std::int32_t right) {
        return static_cast<std::uint64_t>(static_cast<std::uint32_t>(left)) << 32 |
               static_cast<std::uint32_t>(right);
    }

    void join_short(std::vector<std::int32_t>& symbols, scratch& s) const {
        auto& pairs = s.pairs; // pairs[i] joins symbols i and i+1
        pairs.clear();
        for (std::size_t i = 0; i + 1 < symbols.size(); ++i)
            pairs.push_back(find(symbols[i], symbols[i + 1]));
        while (!pairs.empty()) {
            std::size_t best = 0;
            for (std::size_t i = 1; i < pairs.size(); ++i)
                if (pairs[i].rank < pairs[best].rank)
                    best = i;
            if (pairs[best].id < 0)
                return;
            s.last = {symbols[best], symbols[best + 1]};
            symbols[best] = pairs[best].id;
            symbols.erase(symbols.begin() + static_cast<std::ptrdiff_t>(best) + 1);
            pairs.erase(pairs.begin() + static_cast<std::ptrdiff_t>(best));
            if (best > 0)
                pairs[best - 1] = find(symbols[best - 1], symbols[best]);
            if (best < pairs.size())
                pairs[best] = find(symbols[best], symbols[best + 1]);
        }
    }

    void join_long(std::vector<std::int32_t>& symbols, scratch& s) const {
        const std::size_t n = symbols.size();
        s.next.resize(n);
        s.previous.resize(n);
        s.heap.clear();
        const auto later = [](const scratch::candidate& a, const scratch::candidate& b) {
            return a.what.rank != b.what.rank ? a.what.rank > b.what.rank : a.at > b.at;
        };
        const auto offer = [&](std::size_t at, std::size_t right) {
            const merge what = find(symbols[at], symbols[right]);
            if (what.id < 0)
                return;
            s.heap.push_back({what, at, symbols[at], symbols[right]});
            std::push_heap(s.heap.begin(), s.heap.end(), later);
        };
        for (std::size_t i = 0; i < n; ++i) {
            s.next[i] = i + 1;
            s.previous[i] = i - 1; // wraps at 0, which is never looked up
            if (i + 1 < n)
                offer(i, i + 1);
        }
        while (!s.heap.empty()) {
            const scratch::candidate best = s.heap.front();
            std::pop_heap(s.heap.begin(), s.heap.end(), later);
            s.heap.pop_back();
            const std::size_t right = s.next[best.at];
            if (symbols[best.at] != best.left || right >= n || symbols[right] != best.right)
                continue; // one of the two has been joined since
            s.last = {best.left, best.right};
            symbols[best.at] = best.what.id;
            symbols[right] = -1;
            s.next[best.at] = s.next[right];
            if (s.next[right] < n) {
                s.previous[s.next[right]] = best.at;
                offer(best.at, s.next[right]);
            }
            if (best.at > 0)
                offer(s.previous[best.at], best.at);
        }
        std::size_t kept = 0;
        for (std::size_t i = 0; i < n; i = s.next[i])
            symbols[kept++] = symbols[i];
        symbols.resize(kept);
    }

    boost::unordered_flat_map<std::uint64_t, merge> table_;
};

} // namespace specdec::engine
