// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "support/flags/exits_flag.hpp"
#include "support/flags/head_flag.hpp"
#include "support/pair/side.hpp"
#include <specdec/head/features/feature_model.hpp>
#include <specdec/head/features/feature_records.hpp>
#include <specdec/head/token_list.hpp>
#include <specdec_engine/drafter/feature_body.hpp>
#include <specdec_engine/team/thread_pool.hpp>
#include <specdec_engine/transformer/transformer.hpp>

namespace CLI {
class App;
}

/// Models of the CPU engine: of every program of its own, and as drafters of other engines'.
namespace specdec::examples {

/// LoRA's adapters that a target has beside its weights, for the requests that name them.
struct named_adapter {
    std::string name;
    std::filesystem::path folder; ///< PEFT's
};

struct cpu_flags {
    std::string precision = "auto";
    std::string cache_type = "auto"; ///< of keys and values
    exits_choice exits;              ///< of the drafter
    std::string adapter;             ///< a PEFT folder that is merged into the drafter; empty: none
    std::vector<named_adapter> target_adapters; ///< the first one's key is 1
};
void add_cpu_flags(CLI::App& app, cpu_flags& flags);
/// What fills target_adapters.
void add_target_adapters_flag(CLI::App& app, cpu_flags& flags);

/// See program_engine::find.
[[nodiscard]] side_paths find_cpu_side(const std::filesystem::path& model,
                                       const std::string& tokenizer, const std::string& flag);

/// team: of both sides, since they take turns: threads of each would wait for the other's on the
/// same cores. context: 0: what the model was made for, at most 4096; sequences: that the side
/// holds side by side; head: what is computed of it, of a drafter. Id: target_id or draft_id.
/// Errors: specdec::error that names the file and the field in it.
template <class Id>
[[nodiscard]] side<Id> load_cpu_side(const side_paths& paths, const cpu_flags& flags,
                                     std::shared_ptr<engine::thread_pool> team, std::size_t context,
                                     std::size_t sequences, const head_choice& head = {});

/// Whether a drafter reads its target's features, and so runs beside it only.
[[nodiscard]] bool reads_features(const side_paths& drafter);

/// What a drafter that reads features is made of.
struct feature_parts {
    engine::feature_body* body;
    feature_model<engine::feature_body>* model;
    const feature_records* records;
    const engine::transformer* target;          ///< null: it runs in another engine
    std::optional<token_list<draft_id>> kept{}; ///< that the head computes; none: all
};

/// A target and such a drafter, which shares its tokenizer, embedding and, unless it has one of its
/// own, its head. Otherwise as load_cpu_side.
[[nodiscard]] loaded_sides load_feature_sides(const side_paths& target, const side_paths& drafter,
                                              const cpu_flags& flags,
                                              std::shared_ptr<engine::thread_pool> team,
                                              std::size_t context, std::size_t sequences,
                                              const head_choice& head);
/// The same with a target that runs in another engine, which writes its features to the records.
/// Embedding and head are read from the target's file. Errors: as load_cpu_side, and a
/// drafter that reads other states than those that the head is multiplied with.
struct feature_drafter_side {
    side<draft_id> drafter;
    std::shared_ptr<const feature_parts> parts;
    std::shared_ptr<feature_records> records;
};
[[nodiscard]] feature_drafter_side
load_feature_drafter(const side_paths& target, const side_paths& drafter, const cpu_flags& flags,
                     std::shared_ptr<engine::thread_pool> team, std::size_t capacity,
                     std::size_t sequences, const head_choice& head);

} // namespace specdec::examples
