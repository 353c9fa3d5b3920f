// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <memory>
#include <optional>

#include "support/pair/loaded_pair.hpp"
#include <specdec/head/adaptive/target_topk.hpp>
#include <specdec/speculation/side.hpp>
#include <specdec_engine/team/thread_pool.hpp>

namespace specdec::examples {

/// Where the files of one side of a pair lie.
struct side_paths {
    std::filesystem::path model, tokenizer;
};

/// One side of a pair, loaded: what an engine gives the programs.
template <class Id>
struct side {
    speculation_side<Id> loaded;
    model_facts facts;
    compute_facts computing;
    /// Of a drafter's list that would follow what the target finds likely: load_pair has it filled.
    std::shared_ptr<target_topk> likely{};
};

/// The parts of a drafter that reads features (cpu_side.hpp).
struct feature_parts;

/// Both sides of a pair; drafter: if there is one.
struct loaded_sides {
    side<target_id> target;
    std::optional<side<draft_id>> drafter{};
    /// What learning needs of a drafter that reads features; valid as long as both sides' models.
    std::shared_ptr<const feature_parts> features{};
    /// The target's threads, for whatever drafter stands beside it; null: another engine's.
    std::shared_ptr<engine::thread_pool> team{};
};

} // namespace specdec::examples
