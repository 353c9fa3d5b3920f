// SPDX-License-Identifier: MIT
#include <specdec/core/drafting.hpp>

#include <catch2/catch.hpp>

#include <specdec/draft/no_drafter.hpp>

#include "support/archetypes.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace {
struct no_sync : no_drafter {
    void sync(std::span<const draft_id>, std::size_t) = delete;
};
struct syncs_target_ids : no_drafter {
    void sync(std::span<const target_id>, std::size_t) {}
};
struct rows_of_the_target : no_drafter {
    logits_row<target_id> row() { return {}; }
};
struct probabilities_instead : no_drafter {
    probabilities_row<draft_id> row() { return {}; }
};
struct pushes_target_ids : no_drafter {
    void push(target_id) {}
};
struct no_drafter_capacity : no_drafter {
    std::size_t capacity() const = delete;
};
struct asks_too_little {
    [[nodiscard]] law_version version() const { return 0; }
    bool more() const { return false; }
};
struct no_mark : no_drafter {
    law_version version() const = delete;
};
struct stop_without_mark {
    bool more(const draft_progress&) const { return false; }
};
struct learns_while_asked {
    [[nodiscard]] law_version version() const { return 0; }
    bool more(const draft_progress&) { return false; }
};
} // namespace
static_assert(DraftContextHolder<rows_of_the_target>); // whatever it tells of the next token
static_assert(!DraftContextHolder<no_sync>);
static_assert(!DraftContextHolder<no_drafter_capacity>);
static_assert(!DraftContextHolder<no_mark>); // whose law might change unseen
static_assert(!StopRule<stop_without_mark>);
static_assert(!Drafter<int>);
static_assert(
    !Drafter<model_archetype<draft_id>>); // a model is a drafter through model_drafter only
static_assert(!Drafter<no_sync>);
static_assert(!Drafter<syncs_target_ids>);
static_assert(!Drafter<rows_of_the_target>);
static_assert(!Drafter<probabilities_instead>);
static_assert(!Drafter<pushes_target_ids>);
static_assert(!Drafter<no_drafter_capacity>);
static_assert(!StopRule<int>);
static_assert(!StopRule<asks_too_little>);
static_assert(!StopRule<learns_while_asked>);

TEST_CASE("every reason has a place in a table of no_draft_reasons") {
    CHECK(static_cast<std::size_t>(no_draft::none) == 0);
    CHECK(static_cast<std::size_t>(no_draft::drafter_reads) + 1 == no_draft_reasons);
}
