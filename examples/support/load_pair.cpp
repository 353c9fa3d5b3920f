// SPDX-License-Identifier: MIT
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "support/engine.hpp"
#include "support/equivalences_file.hpp"
#include "support/files.hpp"
#include "support/pair_decoder.hpp"
#include <specdec/bridge/draft_request.hpp>
#include <specdec/vocab/intersection.hpp>

namespace specdec::examples {

namespace {

namespace fs = std::filesystem;

struct pair_paths {
    side_paths target;
    std::optional<side_paths> drafter;
};

pair_paths paths_of(const engine& e, const model_flags& flags) {
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
    if (!flags.no_drafter && !own_target_alone)
        paths.drafter =
            e.find(path(flags.drafter, known->drafter), flags.drafter_tokenizer, "drafter");
    return paths;
}

/// The given pairs, and by kind: end of text to end of text, beginning to beginning, where nothing
/// was said of either token.
equivalences with_ends(const equivalences& given, const side<draft_id>& draft,
                       const side<target_id>& target) {
    equivalences result;
    std::vector<equivalences::id_pair> known = given.resolve(draft.table, target.table);
    const auto pair = [&](draft_id d, target_id t) {
        if (draft.table.is_text(d.index()) || target.table.is_text(t.index()))
            return;
        for (const auto& [kd, kt] : known)
            if (kd == d || kt == t)
                return;
        known.push_back({d, t});
    };
    if (!draft.ends.empty() && !target.ends.empty())
        pair(draft.ends.front(), target.ends.front());
    if (draft.bos && target.bos)
        pair(*draft.bos, *target.bos);
    for (const auto& [d, t] : known)
        result.add(d, t);
    return result;
}

/// What every engine owes: rows, tokens and table of one vocabulary.
template <class Id>
side<Id> checked(side<Id> loaded, const side_paths& paths) {
    const std::size_t tokens = loaded.tokenizer.vocabulary_size();
    if (loaded.models.vocabulary_size() != tokens || loaded.table.size() != tokens)
        throw error(paths.model.string(), "vocabulary",
                    "expected the tokenizer's " + std::to_string(tokens) +
                        " tokens, the model has " +
                        std::to_string(loaded.models.vocabulary_size()));
    return loaded;
}

id_map map_of(const side<draft_id>& draft, const side<target_id>& target,
              const fs::path& drafter_path, const std::string& equivalences_path) {
    try {
        const equivalences given = equivalences_path.empty() ? equivalences_beside(drafter_path)
                                                             : read_equivalences(equivalences_path);
        return intersect(draft.table, target.table, with_ends(given, draft, target));
    } catch (const error& problem) { // names the token, not the file
        const std::string source =
            equivalences_path.empty() ? drafter_path.string() : equivalences_path;
        throw error(source + ": " + problem.what());
    }
}

} // namespace

std::unique_ptr<decoder> load_pair(const engine& e, const model_flags& flags) {
    const pair_paths paths = paths_of(e, flags);
    side<target_id> target = checked(e.load_target(paths.target, flags), paths.target);
    if (wants_chat(flags))
        for (const char* turn : {"<|im_end|>", "<end_of_turn>"})
            if (const auto id = find_control(target.table, turn);
                id && !is_end(target.ends, id_at<target_id>(*id)))
                target.ends.push_back(id_at<target_id>(*id));
    std::unique_ptr<draft_side> draft;
    if (paths.drafter) {
        side<draft_id> loaded = checked(e.load_drafter(*paths.drafter, flags), *paths.drafter);
        id_map map = map_of(loaded, target, paths.drafter->model, flags.equivalences);
        draft = std::make_unique<draft_side>(std::move(loaded), std::move(map));
    }
    return make_pair_decoder(std::move(target), std::move(draft), flags.cache);
}

} // namespace specdec::examples
