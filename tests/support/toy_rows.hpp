// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <span>
#include <utility>
#include <vector>

namespace specdec::testing {

/// A text as plain numbers, and a law of texts.
using sequence = std::vector<int>;
using joint_law = std::map<sequence, double>;

/// Logits for every prefix, made on demand and kept at a fixed address (laws are views of them).
class row_tree {
public:
    using maker = std::function<std::vector<float>(const sequence& prefix)>;
    explicit row_tree(maker make) : make_(std::move(make)) {}

    const std::vector<float>& operator()(const sequence& prefix) {
        return behind(prefix, [](int t) { return t; });
    }
    /// The same behind ids.
    template <class Id>
    const std::vector<float>& operator()(std::span<const Id> prefix) {
        return behind(prefix, [](Id t) { return t.value; });
    }

private:
    struct node {
        std::vector<float> row;
        std::map<int, node> next;
    };

    const std::vector<float>& behind(const auto& prefix, const auto& number) {
        node* at = &root_;
        for (const auto t : prefix)
            at = &at->next[number(t)];
        if (at->row.empty()) {
            sequence numbers;
            for (const auto t : prefix)
                numbers.push_back(number(t));
            at->row = make_(numbers);
        }
        return at->row;
    }

    maker make_;
    node root_;
};

/// A reproducible number for (seed, prefix, index).
inline std::uint64_t scramble(std::uint64_t seed, const sequence& prefix, std::uint64_t index) {
    std::uint64_t h = seed * 0x9E3779B97F4A7C15u + index;
    for (const int t : prefix)
        h = (h ^ static_cast<std::uint64_t>(t + 1)) * 0xBF58476D1CE4E5B9u;
    h ^= h >> 31;
    h *= 0x94D049BB133111EBu;
    return h ^ (h >> 29);
}

/// The kinds of rows the laws are proved on.
enum class row_kind {
    random,   ///< spread-out logits
    peaked,   ///< nearly all mass on one id
    zeros,    ///< some ids forbidden
    ties,     ///< equal logits
    first,    ///< all mass on the first half of the ids
    second,   ///< all mass on the second half: disjoint from `first`
    denormal, ///< masses down to the smallest floats
};
inline constexpr row_kind row_kinds[] = {row_kind::random,  row_kind::peaked, row_kind::zeros,
                                         row_kind::ties,    row_kind::first,  row_kind::second,
                                         row_kind::denormal};

inline row_tree::maker toy_rows(row_kind kind, std::size_t vocabulary, std::uint64_t seed) {
    return [=](const sequence& prefix) {
        constexpr float forbidden = -std::numeric_limits<float>::infinity();
        std::vector<float> row(vocabulary);
        for (std::size_t v = 0; v < vocabulary; ++v) {
            const std::uint64_t bits = scramble(seed, prefix, v);
            const float unit = static_cast<float>(bits % 1000) / 500.0F - 1.0F;
            const std::size_t chosen = scramble(seed, prefix, 99) % vocabulary;
            switch (kind) {
            case row_kind::random:
                row[v] = 2.0F * unit;
                break;
            case row_kind::peaked:
                row[v] = v == chosen ? 12.0F : unit;
                break;
            case row_kind::zeros:
                row[v] = v != chosen && bits % 3 == 0 ? forbidden : unit;
                break;
            case row_kind::ties:
                row[v] = bits % 2 == 0 ? 1.0F : 0.0F;
                break;
            case row_kind::first:
                row[v] = v < (vocabulary + 1) / 2 ? unit : forbidden;
                break;
            case row_kind::second:
                row[v] = v >= (vocabulary + 1) / 2 ? unit : forbidden;
                break;
            case row_kind::denormal:
                row[v] = v == chosen ? 0.0F : -70.0F - 15.0F * unit;
                break;
            }
        }
        return row;
    };
}

/// Logits of these probabilities, the same behind every prefix.
inline row_tree::maker same_rows(std::vector<float> probabilities) {
    for (float& p : probabilities)
        p = __builtin_logf(p);
    return [row = std::move(probabilities)](const sequence&) { return row; };
}

} // namespace specdec::testing
