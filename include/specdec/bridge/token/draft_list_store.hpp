// SPDX-License-Identifier: MIT
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <specdec/core/drafting.hpp>
#include <specdec/core/error.hpp>
#include <specdec/sampling/drawn_draft.hpp>
#include <specdec/sampling/law/sparse_law.hpp>
#include <specdec/sampling/listing.hpp>

namespace specdec {

/// Keeps copies of the drafter's lists of one draft for a token bridge, with weight 0 for ids that
/// the map does not allow. q is the rest, renormalised. Complexity: linear in the entries, whatever
/// the vocabulary. Memory: [max_draft, entries] ids and weights, allocated at construction.
class draft_list_store {
public:
    using law_type = sparse_law<draft_id>;
    template <class D>
    static constexpr bool takes = ListingDrafter<D>;

    /// For lists of at most `entries` entries.
    draft_list_store(std::size_t max_draft, std::size_t vocabulary,
                     std::size_t entries = ~std::size_t{0})
        : vocabulary_(vocabulary), most_(entries < vocabulary ? entries : vocabulary),
          entries_(max_draft * most_), counts_(max_draft) {}

    /// Copies the drafter's next list as the i-th. True if it leaves a token to draw. Errors:
    /// specdec::error for a list of another vocabulary, or of more entries than there is room for.
    template <ListingDrafter D, class Map>
    [[nodiscard]] bool keep(std::size_t i, D& drafter, const Map& map) {
        const listed_row<draft_id> list = drafter.list();
        if (list.vocabulary != vocabulary_)
            refuse("a list over the " + std::to_string(vocabulary_) +
                   " ids of the map, found one over " + std::to_string(list.vocabulary));
        if (list.entries.size() > most_)
            refuse("at most " + std::to_string(most_) + " entries, found " +
                   std::to_string(list.entries.size()));
        weighted_id<draft_id>* const kept = entries_.data() + begin(i);
        const std::size_t n = list.entries.size();
        std::uint32_t some = 0;
        for (std::size_t k = 0; k < n; ++k) { // without a branch
            const auto [id, weight] = list.entries[k];
            const std::uint32_t mask = map.allows(id) ? ~std::uint32_t{0} : 0;
            const std::uint32_t bits = std::bit_cast<std::uint32_t>(weight) & mask;
            kept[k] = {id, std::bit_cast<float>(bits)};
            some |= bits;
        }
        counts_[i] = n;
        return some != 0;
    }

    /// The law of the i-th. Precondition: kept, with something to draw. A view. Errors:
    /// specdec::error for other sampling parameters than the default ones, which were applied
    /// before, and for a list that is no law (see sparse_law): ids that do not ascend or are
    /// outside the vocabulary, a weight below 0 or NaN, no finite sum.
    [[nodiscard]] law_type law(std::size_t i, const sampling_parameters& sampling) const {
        if (!is_plain(sampling))
            fail("token bridge", "draft sampling parameters",
                 "expected the defaults, as the drafter's lists are distributions already");
        return {std::span(entries_).subspan(begin(i), counts_[i]), vocabulary_};
    }

    /// The ids of the largest weights of the i-th, largest first, lower ids first among equals, as
    /// far as they have weight. Returns how many there are. O(entries * ids.size()).
    std::size_t likeliest(std::size_t i, std::span<draft_id> ids) const {
        const auto of = std::span(entries_).subspan(begin(i), counts_[i]);
        const weighted_id<draft_id>* last = nullptr;
        for (std::size_t n = 0; n < ids.size(); ++n) {
            const weighted_id<draft_id>* best = nullptr;
            for (const auto& entry : of)
                if (entry.weight > 0 &&
                    (last == nullptr || entry.weight < last->weight ||
                     (entry.weight == last->weight && entry.id > last->id)) &&
                    (best == nullptr || entry.weight > best->weight))
                    best = &entry;
            if (best == nullptr)
                return n;
            ids[n] = best->id;
            last = best;
        }
        return ids.size();
    }
    /// The probability of tokens of the i-th, as a function.
    [[nodiscard]] auto sureness(std::size_t i) const {
        return [of = law(i, {})](draft_id d) { return of.probability(d); };
    }

    /// d, which may be invalid, was drawn from the i-th law with probability q.
    template <StopRule Stop>
    void note(drawn_draft& drawn, const Stop& stop, std::size_t i, draft_id d, double q,
              const sampling_parameters& sampling) const {
        const bool read = reading_of(stop) == row_reading::entropy;
        drawn.push(stop, {&d, 1}, q, q, read ? law(i, sampling).entropy() : 0.0);
    }

private:
    [[nodiscard]] std::size_t begin(std::size_t i) const { return i * most_; }
    [[noreturn]] static void refuse(const std::string& expected) {
        fail("token bridge", "drafter's list", "expected " + expected);
    }

    std::size_t vocabulary_;
    std::size_t most_;
    std::vector<weighted_id<draft_id>> entries_; // [max_draft, most]
    std::vector<std::size_t> counts_;            // [max_draft]
};

} // namespace specdec
