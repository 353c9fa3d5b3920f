// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "support/flags/exits_flag.hpp"
#include "support/flags/head_flag.hpp"
#include "support/pair/side.hpp"
#include <specdec/head/features/feature_model.hpp>
#include <specdec/head/features/feature_records.hpp>
#include <specdec/head/token_list.hpp>
#include <specdec/reference/drafter/feature_body.hpp>
#include <specdec/reference/team/thread_team.hpp>
#include <specdec/reference/transformer/transformer.hpp>

namespace CLI {
class App;
}

/// Models of the reference engine: of every program of its own, and as drafters of other engines'.
namespace specdec::examples {

struct reference_flags {
    std::string precision = "auto";
    std::string cache_type = "auto"; ///< of keys and values
    exits_choice exits;              ///< of the drafter
    std::string adapter;             ///< a PEFT folder that is merged into the drafter; empty: none
};
void add_reference_flags(CLI::App& app, reference_flags& flags);

/// See engine::find.
[[nodiscard]] side_paths find_reference_side(const std::filesystem::path& model,
                                             const std::string& tokenizer, const std::string& flag);

/// team: of both sides, since they take turns: threads of each would wait for the other's on the
/// same cores. context: 0: what the model was made for, at most 4096; sequences: that the side
/// holds side by side; head: what is computed of it, of a drafter. Id: target_id or draft_id.
/// Errors: specdec::error that names the file and the field in it.
template <class Id>
[[nodiscard]] side<Id> load_reference_side(const side_paths& paths, const reference_flags& flags,
                                           std::shared_ptr<reference::thread_team> team,
                                           std::size_t context, std::size_t sequences,
                                           const head_choice& head = {});

/// Whether a drafter reads its target's features, and so runs beside it only.
[[nodiscard]] bool reads_features(const side_paths& drafter);

/// What a drafter that reads features is made of.
struct feature_parts {
    reference::feature_body* body;
    feature_model<reference::feature_body>* model;
    const feature_records* records;
    const reference::transformer* target;
    std::optional<token_list<draft_id>> kept{}; ///< that the head computes; none: all
};

/// A target and such a drafter, which shares its tokenizer, embedding and, unless it has one of its
/// own, its head. Otherwise as load_reference_side.
[[nodiscard]] loaded_sides load_feature_sides(const side_paths& target, const side_paths& drafter,
                                              const reference_flags& flags,
                                              std::shared_ptr<reference::thread_team> team,
                                              std::size_t context, std::size_t sequences,
                                              const head_choice& head);

} // namespace specdec::examples
