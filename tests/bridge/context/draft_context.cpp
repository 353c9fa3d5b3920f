// SPDX-License-Identifier: MIT
#include <specdec/bridge/context/draft_context.hpp>

#include <specdec/bridge/context/retokenised_context.hpp>
#include <specdec/bridge/context/shared_context.hpp>

#include "support/archetypes.hpp"

using namespace specdec;
using namespace specdec::testing;

static_assert(DraftContext<draft_context_archetype>);
static_assert(DraftContext<shared_context>);
static_assert(DraftContext<
              retokenised_context<tokenizer_archetype<target_id>, tokenizer_archetype<draft_id>>>);

namespace {
struct no_mark : draft_context_archetype {
    void mark() = delete;
};
struct context_follows_draft_ids : draft_context_archetype {
    void follow(std::span<const draft_id>) {}
};
struct gives_target_ids : draft_context_archetype {
    std::span<const target_id> ids() const { return {}; }
};
struct ids_not_const : draft_context_archetype {
    std::span<const draft_id> ids() { return {}; }
};
struct no_unchanged : draft_context_archetype {
    std::size_t unchanged() const = delete;
};
} // namespace
static_assert(!DraftContext<int>);
static_assert(!DraftContext<no_mark>);
static_assert(!DraftContext<context_follows_draft_ids>);
static_assert(!DraftContext<gives_target_ids>);
static_assert(!DraftContext<ids_not_const>);
static_assert(!DraftContext<no_unchanged>);
