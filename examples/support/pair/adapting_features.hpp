// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "support/pair/adapting_drafter.hpp"
#include "support/pair/cpu_side.hpp"
#include "support/pair/side.hpp"
#include "support/program/files.hpp"
#include <specdec/learn/feature_lessons.hpp>
#include <specdec/speculation/decoder.hpp>
#include <specdec_engine/drafter/gguf_feature_checkpoint.hpp>
#include <specdec_engine/drafter/token_list_file.hpp>
#include <specdec_engine/learn/features/feature_folder.hpp>
#include <specdec_engine/learn/features/feature_learner.hpp>
#include <specdec_engine/learn/features/serving_features.hpp>

namespace specdec::examples {

/// A drafter that reads its target's features and whose weights may change between rounds, as
/// adapting_drafter. Where its head computes a list of tokens, these are what it is taught.
struct adapting_features {
    using learner_type = engine::feature_learner;
    using serving_type = engine::serving_features;
    using weights_type = engine::any_feature_weights;
    static constexpr bool reads_features = true;

    adapting_features(const side_paths& paths, const feature_parts& made)
        : path(paths.model), parts(made),
          start(engine::read_feature_parameters(engine::open_feature_drafter(path))),
          serving(*parts.body) {}

    std::filesystem::path path;
    feature_parts parts;
    engine::feature_parameters<float> start; ///< as loaded
    serving_type serving;
    engine::chain_settings chains{}; ///< drafts that teach

    void take_new_weights() {
        if (const auto next = serving.take())
            parts.model->use(*next);
    }
    void use(const weights_type& weights) { parts.model->use(weights); }
    [[nodiscard]] weights_type pack(const engine::feature_parameters<float>& m) const {
        return engine::pack_like(*parts.body, m);
    }

    class lessons_type {
    public:
        using sample = feature_sample;

        lessons_type(decoder& /*pair*/, const adapting_features& drafter, std::size_t length)
            : inner_(*drafter.parts.records,
                     {.window = length, .behind_rejected = drafter.chains.behind_rejected}) {}

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
    make_learner(decoder& /*pair*/, const engine::learner_settings& settings) const {
        return std::make_unique<learner_type>(
            start, engine::ends_of(*parts.target, parts.kept ? &*parts.kept : nullptr), settings,
            chains);
    }

    void expect_saveable() const { engine::check_saveable(start.config(), path.string()); }
    [[nodiscard]] std::vector<const char*> saved_files(bool /*adapters*/) const {
        return {"model.safetensors", "config.json"};
    }
    /// A folder that --drafter takes, with the list that was taught; adapters are merged.
    void save(const std::filesystem::path& folder, learner_type& learner) const {
        engine::save_feature_folder(folder, learner.weights());
        copy_if_there(path / "router.safetensors", folder / "router.safetensors");
        if (parts.kept)
            engine::write_token_list(folder / "kept.json", *parts.kept);
        else
            copy_if_there(path / "kept.json", folder / "kept.json");
    }
    [[nodiscard]] bool saves_tokenizer() const { return true; } // it has its target's
};

} // namespace specdec::examples
