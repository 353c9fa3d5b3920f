// SPDX-License-Identifier: MIT
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "support/pair/engine.hpp"
#include "support/pair/equivalences_file.hpp"
#include "support/program/files.hpp"
#include <specdec/bridge/context/bridge.hpp>
#include <specdec/head/adaptive/topk_recorder.hpp>
#include <specdec/speculation/speculation.hpp>
#include <specdec/vocab/table/find_control.hpp>

namespace specdec::examples {

namespace {

namespace fs = std::filesystem;

struct pair_paths {
    side_paths target;
    std::optional<side_paths> drafter;
    std::string equivalences; ///< empty: the file in the drafter's folder
};

pair_paths paths_of(const program_engine& e, const model_flags& flags) {
    const std::vector<named_pair> pairs = e.pairs();
    const named_pair* known = flags.models.empty() ? pairs.data() : nullptr;
    std::string names;
    for (const named_pair& p : pairs) {
        if (p.name == flags.models)
            known = &p;
        names += (names.empty() ? "" : ", ") + p.name;
    }
    if (known == nullptr)
        throw error("--models", flags.models, "expected one of " + names);
    const auto path = [&](const std::string& given, const fs::path& usual) {
        const fs::path p = given.empty() ? models_folder() / usual : fs::path(given);
        if (given.empty() && !why_missing(p).empty() && !known->how_to_get.empty())
            throw error("--models " + known->name, p.string(),
                        "expected the model there; get it with: " + known->how_to_get);
        return p;
    };
    pair_paths paths;
    paths.target = e.find(path(flags.target, known->target), flags.target_tokenizer, "target");
    // The known drafters know their own targets only.
    const bool own_target_alone =
        !flags.target.empty() && flags.drafter.empty() && flags.models.empty();
    const bool none = flags.no_drafter || flags.drafter == "none" || recycles(flags);
    if (flags.no_drafter && !flags.drafter.empty() && flags.drafter != "none")
        throw error("--drafter", flags.drafter, "expected nothing with --no-drafter");
    if (!none && !own_target_alone) {
        paths.drafter =
            e.find(path(flags.drafter, known->drafter), flags.drafter_tokenizer, "drafter");
        paths.equivalences = flags.equivalences;
        if (paths.equivalences.empty() && flags.drafter.empty() && !known->equivalences.empty())
            paths.equivalences = (models_folder() / known->equivalences).string();
        return paths;
    }
    if (flags.head.partial())
        throw error("--head", flags.head.asked, "expected a drafter with it, found none");
    if (flags.counts.any())
        throw error("--counts", flags.counts.asked, "expected a drafter with it, found none");
    for (const auto& [flag, value] : {std::pair("--drafter-tokenizer", &flags.drafter_tokenizer),
                                      std::pair("--equivalences", &flags.equivalences)})
        if (!value->empty())
            throw error(flag, *value, "expected a drafter with it, found none");
    return paths;
}

/// A target with what it tells a drafter's list.
struct likely_parts {
    any_batch_model<target_id> model;
    std::shared_ptr<target_topk> likely;
};
class owned_topk_recorder : std::unique_ptr<likely_parts>,
                            public topk_recorder<any_batch_model<target_id>> {
public:
    owned_topk_recorder(any_batch_model<target_id> model, std::shared_ptr<target_topk> likely)
        : std::unique_ptr<likely_parts>(
              std::make_unique<likely_parts>(std::move(model), std::move(likely))),
          topk_recorder<any_batch_model<target_id>>((*this)->model, *(*this)->likely) {}
};

id_map map_of(const speculation_side<draft_id>& draft, const speculation_side<target_id>& target,
              const fs::path& drafter_path, const std::string& equivalences_path) {
    const equivalences given = equivalences_path.empty() ? equivalences_beside(drafter_path)
                                                         : read_equivalences(equivalences_path);
    try {
        return build_id_map(draft, target, given);
    } catch (const error& problem) { // names the token, not the file
        const std::string source =
            equivalences_path.empty() ? drafter_path.string() : equivalences_path;
        throw error(source + ": " + problem.what());
    }
}

/// A model that writes texts, and its drafter: in a chat it ends with its turn.
loaded_sides load_writer(const program_engine& e, const side_paths& paths,
                         const std::optional<side_paths>& drafter, const model_flags& flags) {
    loaded_sides loaded = e.load(paths, drafter, flags);
    speculation_side<target_id>& own = loaded.target.loaded;
    if (wants_chat(flags))
        for (const char* turn : {"<|im_end|>", "<end_of_turn>"})
            if (const auto id = find_control(own.tokenizer.table(), turn);
                id && !is_end(own.ends, id_at<target_id>(*id)))
                own.ends.push_back(id_at<target_id>(*id));
    require_side(own, paths.model.string());
    return loaded;
}

} // namespace

loaded_pair load_pair(const program_engine& e, const model_flags& flags) {
    const pair_paths paths = paths_of(e, flags);
    loaded_sides sides = load_writer(e, paths.target, paths.drafter, flags);
    const side<target_id>& target = sides.target;
    speculation_side<target_id>& own = sides.target.loaded;
    loaded_pair pair{.texts = nullptr,
                     .facts = {target.facts, {}, target.computing},
                     .grouping = std::make_shared<grouping_watch>()};
    own.models = any_batch_model<target_id>(grouping_check(std::move(own.models), pair.grouping));
    if (paths.drafter) {
        side<draft_id>& drafter = *sides.drafter;
        const fs::path& path = paths.drafter->model;
        require_side(drafter.loaded, path.string());
        id_map map = map_of(drafter.loaded, own, path, paths.equivalences);
        pair.facts.drafter = drafter.facts;
        pair.facts.shared = map.shared();
        if (drafter.likely) {
            drafter.likely->translate(map, own.models.vocabulary_size());
            own.models = any_batch_model<target_id>(
                owned_topk_recorder(std::move(own.models), drafter.likely));
        }
        if (flags.counts.any()) {
            pair.counts = std::make_shared<counted_drafter>(
                std::move(drafter.loaded.models), drafter.loaded.tokenizer.table(), flags.counts);
            drafter.loaded.models = any_batch_model<draft_id>(pair.counts->model());
        }
        pair.texts = std::make_unique<speculation>(std::move(own), std::move(drafter.loaded),
                                                   std::move(map), flags.cache);
    } else {
        pair.texts = std::make_unique<speculation>(std::move(own));
    }
    return pair;
}

loaded_pair load_drafter_alone(const program_engine& e, const model_flags& flags) {
    const pair_paths paths = paths_of(e, flags);
    if (!paths.drafter)
        throw error("--drafter", "path", "expected a drafter, found none");
    if (flags.head.partial())
        throw error("--head", flags.head.asked, "expected full for a drafter alone");
    if (flags.counts.any())
        throw error("--counts", flags.counts.asked, "expected none for a drafter alone");
    if (e.needs_target(*paths.drafter))
        throw error("--drafter", paths.drafter->model.string(),
                    "expected a drafter that runs alone, this one reads its target's features");
    side<target_id> drafter = load_writer(e, *paths.drafter, {}, flags).target;
    return {.texts = std::make_unique<speculation>(std::move(drafter.loaded)),
            .facts = {drafter.facts, {}, drafter.computing},
            .grouping = std::make_shared<grouping_watch>()};
}

side_paths find_target(const program_engine& e, const model_flags& flags) {
    return paths_of(e, flags).target;
}

bool drafter_needs_target(const program_engine& e, const model_flags& flags) {
    const pair_paths paths = paths_of(e, flags);
    return paths.drafter && e.needs_target(*paths.drafter);
}

} // namespace specdec::examples
