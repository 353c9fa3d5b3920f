// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include <specdec/sampling/law/row_kernels.hpp>

namespace specdec {

/// The set of ids whose logit is at least `logit`, and its weight.
struct cutoff {
    float logit = 0;
    double mass = 0;
};

/// Finds where top-k and top-p cut a row, without sorting it: groups of logits whose maximum lies
/// below what can matter are passed over, the logits between two bounds go into 256 bins by their
/// bits, and the bin that holds the cut is refined (at most 4 times). Equal logits are never
/// separated. A view of the row; weights are those of row_kernels. Allocates nothing; 8 KB large.
/// Pre: `maximum` is the largest logit and finite; logits are not NaN.
class cutoff_search {
public:
    cutoff_search(std::span<const float> row, row_kernels::exponent e, float maximum)
        : row_(row), exponent_(e), maximum_(maximum),
          group_((row.size() / group_limit + 64) / 64 * 64),
          groups_((row.size() + group_ - 1) / group_) {
        for (std::size_t g = 0; g < groups_; ++g)
            maxima_[g] =
                row_kernels::best().maximum(groups(g, g + 1).data(), groups(g, g + 1).size());
    }

    /// The fewest ids that are at least k and leave out no equal logit; all that have weight when
    /// fewer than k have.
    [[nodiscard]] cutoff of_count(std::size_t k) const {
        const float low = k <= groups_ ? kth_largest_maximum(k) : exponent_.lowest;
        return search(key_of(low), key_of(maximum_), 0, k, 0);
    }

    /// The fewest likeliest ids of at least this weight; all that have weight when rounding denies
    /// it.
    [[nodiscard]] cutoff of_mass(double mass) const {
        float low = exponent_.lowest, high = maximum_;
        double above = mass_from(high); // always less than `mass`
        if (above >= mass)
            return {high, above};
        // Bring the bounds together: steps down from the maximum until one is deep enough, then
        // halvings.
        bool deep = false;
        for (float depth = 2, halvings = 0; halvings < 6; depth += 3) {
            const float step = maximum_ - depth / exponent_.scale;
            deep = deep || !(step > low);
            halvings += deep ? 1 : 0;
            const float middle = deep ? low + (high - low) / 2 : step;
            if (!(middle > low && middle < high))
                break;
            const double reached = mass_from(middle);
            if (reached >= mass) {
                low = middle;
                deep = true;
            } else {
                high = middle;
                above = reached;
            }
        }
        return search(key_of(low), key_of(high) - 1, above, 0, mass);
    }

private:
    static constexpr std::size_t group_limit = 2048;

    /// Ascends with the value; -0 and +0 are one key. Without a branch on the sign.
    static std::uint32_t key_of(float value) {
        const std::uint32_t bits = row_kernels::bits_of(value);
        return bits ^ ((0U - (bits >> 31)) | 0x80000000U);
    }
    static float value_of(std::uint32_t key) {
        return std::bit_cast<float>((key & 0x80000000U) != 0 ? key & 0x7FFFFFFFU : ~key);
    }

    [[nodiscard]] std::span<const float> groups(std::size_t first, std::size_t end) const {
        const std::size_t begin = first * group_;
        return row_.subspan(begin, (end < groups_ ? end * group_ : row_.size()) - begin);
    }

    [[nodiscard]] double mass_from(float floor) const {
        const row_kernels::exponent e{exponent_.reference, exponent_.scale, floor};
        double mass = 0;
        float unused = 0;
        for (std::size_t g = 0; g < groups_;) {
            const std::size_t first = g;
            while (g < groups_ && maxima_[g] >= floor)
                ++g;
            if (g == first)
                ++g;
            else
                mass += row_kernels::best().sum(groups(first, g).data(), groups(first, g).size(), e,
                                                unused);
        }
        return mass;
    }

    /// At least k logits reach it, since k groups do.
    [[nodiscard]] float kth_largest_maximum(std::size_t k) const {
        std::uint32_t low = key_of(exponent_.lowest), high = key_of(maximum_);
        while (low < high) {
            const std::uint32_t middle = high - (high - low) / 2;
            const float value = value_of(middle);
            std::size_t count = 0;
            for (std::size_t g = 0; g < groups_; ++g)
                count += maxima_[g] >= value ? 1U : 0U;
            if (count == k)
                return value;
            if (count > k)
                low = middle;
            else
                high = middle - 1;
        }
        return value_of(low);
    }

    /// Calls f(logit) for the logits in [least, most].
    template <class F>
    void visit(float least, float most, F&& f) const {
        for (std::size_t g = 0; g < groups_; ++g) {
            if (!(maxima_[g] >= least))
                continue;
            for (const float logit : groups(g, g + 1))
                if (static_cast<int>(logit >= least) &
                    static_cast<int>(logit <= most)) // one branch
                    f(logit);
        }
    }

    /// The highest logit in [low, high] that, with all above it, makes `count` ids and weight
    /// `mass`, or else the lowest; `above` is the weight above high.
    [[nodiscard]] cutoff search(std::uint32_t low, std::uint32_t high, double above,
                                std::size_t count, double mass) const {
        struct bin {
            std::size_t count = 0;
            double mass = 0;
        };
        std::array<float, 1024> few; // the logits in question, if they are
        std::size_t gathered = 0;
        visit(value_of(low), value_of(high), [&](float logit) {
            if (gathered < few.size())
                few[gathered] = logit;
            ++gathered;
        });
        std::size_t ids_above = 0;
        for (;;) {
            const int width = static_cast<int>(std::bit_width(high - low));
            const int shift = width > 8 ? width - 8 : 0;
            std::array<bin, 256> bins{};
            const auto put = [&](float logit) {
                float weight = 0;
                row_kernels::best().weigh(&logit, &weight, 1, exponent_);
                bin& b = bins[(high - key_of(logit)) >> shift];
                ++b.count;
                b.mass += static_cast<double>(weight);
            };
            if (gathered > few.size())
                visit(value_of(low), value_of(high), put);
            else
                for (std::size_t i = 0; i < gathered; ++i)
                    if (key_of(few[i]) >= low && key_of(few[i]) <= high)
                        put(few[i]);
            const std::uint32_t last = (high - low) >> shift;
            std::uint32_t b = 0;
            while (b < last && (ids_above + bins[b].count < count || above + bins[b].mass < mass)) {
                ids_above += bins[b].count;
                above += bins[b++].mass;
            }
            high -= b << shift;
            if (shift == 0)
                return {value_of(high), above + bins[b].mass};
            const std::uint32_t rest = (1U << shift) - 1;
            low = high - low > rest ? high - rest : low;
        }
    }

    std::span<const float> row_;
    row_kernels::exponent exponent_;
    float maximum_;
    std::size_t group_;
    std::size_t groups_;
    std::array<float, group_limit> maxima_;
};

} // namespace specdec
