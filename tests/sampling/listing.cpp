// SPDX-License-Identifier: MIT
#include <specdec/sampling/listing.hpp>

#include "support/list_drafter.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace listing_tests {

struct lists_of_the_target : list_drafter {
    listed_row<target_id> list() { return {}; }
};
struct never_pushed : list_drafter {
    void push(draft_id) = delete;
};
template <class Rows>
struct scores {
    std::size_t size() const { return 0; }
    std::size_t capacity() const { return 1; }
    std::size_t vocabulary_size() const { return 1; }
    void append(std::span<const draft_id>) {}
    void truncate(std::size_t) {}
    Rows score(std::span<const draft_id>) { return {}; }
};
using lists = scores<listed_rows<draft_id>>;

static_assert(ListingDrafter<list_drafter>);
static_assert(DraftContextHolder<list_drafter>);
static_assert(!Drafter<list_drafter>);
static_assert(!ListingDrafter<lists_of_the_target>);
static_assert(!ListingDrafter<never_pushed>);
static_assert(ListingModelOf<lists, draft_id>);
static_assert(ScoringModelOf<lists, draft_id>);
static_assert(!ListingModelOf<lists, target_id>);
static_assert(!ListingModelOf<scores<logits_rows<draft_id>>, draft_id>);

} // namespace listing_tests
