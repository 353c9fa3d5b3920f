// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "support/flags/head_flag.hpp"
#include "support/pair/adapting_drafter.hpp"
#include "support/pair/reference_side.hpp"
#include "support/pair/side.hpp"
#include "support/program/files.hpp"
#include <specdec/learn/feature_lessons.hpp>
#include <specdec/reference/drafter/gguf_feature_checkpoint.hpp>
#include <specdec/reference/drafter/token_list_file.hpp>
#include <specdec/reference/learn/features/feature_folder.hpp>
#include <specdec/reference/learn/features/feature_learner.hpp>
#include <specdec/reference/learn/features/serving_features.hpp>
#include <specdec/speculation/decoder.hpp>

namespace specdec::examples {

/// A drafter that reads its target's features and whose weights may change between rounds, as
/// adapting_drafter. Where its head computes a list of tokens, these are what it is taught.
struct adapting_features {
    using learner_type = reference::feature_learner;
    using serving_type = reference::serving_features;
    using weights_type = reference::any_feature_weights;
    static constexpr bool reads_features = true;

    adapting_features(const side_paths& paths, const feature_parts& made, const head_choice& head)
        : path(paths.model), parts(made),
          start(reference::read_feature_parameters(reference::open_feature_drafter(path))),
          serving(*parts.body) {
        if (!head.list.empty())
            kept = reference::read_token_list<draft_id>(head.list, parts.target->vocabulary_size());
    }

    std::filesystem::path path;
    feature_parts parts;
    std::optional<token_list<draft_id>> kept;   ///< that the head computes; none: all
    reference::feature_parameters<float> start; ///< as loaded
    serving_type serving;
    reference::chain_settings chains{}; ///< drafts that teach
    std::size_t behind_rejected = 0;    ///< rows that teach behind a rejected token

    void take_new_weights() {
        if (const auto next = serving.take())
            parts.model->use(*next);
    }
    void use(const weights_type& weights) { parts.model->use(weights); }
    [[nodiscard]] weights_type pack(const reference::feature_parameters<float>& m) const {
        return reference::pack_like(*parts.body, m);
    }

    class lessons_type {
    public:
        using sample = feature_sample;

        lessons_type(decoder& /*pair*/, const adapting_features& drafter, std::size_t length)
            : inner_(*drafter.parts.records,
                     {.window = length, .behind_rejected = drafter.behind_rejected}) {}

        void start(std::span<const target_id> prompt) { inner_.start(prompt); }
        void follow(const logits_rows<target_id>& rows, std::span<const target_id> proposed,
                    std::span<const target_id> committed) {
            inner_.follow(rows, proposed, committed);
        }
        [[nodiscard]] bool finish(sample& out) { return inner_.finish(out); }

    private:
        feature_lessons inner_;
    };

    [[nodiscard]] std::unique_ptr<learner_type>
    make_learner(decoder& /*pair*/, const reference::learner_settings& settings) const {
        return std::make_unique<learner_type>(
            start, reference::ends_of(*parts.target, kept ? &*kept : nullptr), settings, chains);
    }

    void expect_saveable() const { reference::check_saveable(start.config(), path.string()); }
    [[nodiscard]] std::vector<const char*> saved_files(bool /*adapters*/) const {
        return {"model.safetensors", "config.json"};
    }
    /// A folder that --drafter takes; adapters are merged.
    void save(const std::filesystem::path& folder, learner_type& learner) const {
        reference::save_feature_folder(folder, learner.weights());
        for (const char* name : {"kept.json", "router.safetensors"})
            copy_if_there(path / name, folder / name);
    }
    [[nodiscard]] bool saves_tokenizer() const { return true; } // it has its target's
};

} // namespace specdec::examples
