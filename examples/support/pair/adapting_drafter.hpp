// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "support/pair/side.hpp"
#include "support/program/files.hpp"
#include <specdec/learn/distillation_recorder.hpp>
#include <specdec/speculation/decoder.hpp>
#include <specdec/vocab/table/atomic_file.hpp>
#include <specdec_engine/batch_model.hpp>
#include <specdec_engine/file/mapped_file.hpp>
#include <specdec_engine/learn/drafter_learner.hpp>
#include <specdec_engine/learn/model_folder.hpp>
#include <specdec_engine/learn/peft_folder.hpp>
#include <specdec_engine/learn/reverse/model_parameters.hpp>
#include <specdec_engine/learn/serving_weights.hpp>
#include <specdec_engine/load.hpp>
#include <specdec_engine/load_tokenizer.hpp>

namespace specdec::examples {

/// Replaces a file by a copy of another one, if that is there.
inline void copy_if_there(const std::filesystem::path& from, const std::filesystem::path& to) {
    if (std::filesystem::exists(from))
        replace_file(to.string(), read_input(from.string()));
}

/// The drafter's prefix, unless the prompt begins with it.
[[nodiscard]] inline std::span<const draft_id> prefix_before(std::span<const target_id> prompt,
                                                             std::span<const draft_id> prefix,
                                                             const id_map& map) {
    const bool begun = !prefix.empty() && map.to_draft(prompt.front()) == prefix[0];
    return begun ? std::span<const draft_id>{} : prefix;
}

/// A drafter of the CPU engine that runs alone and whose weights may change between rounds:
/// what the program `adapt` has to know of it. adapting_features is the same of one that reads its
/// target's features.
struct adapting_drafter {
    using learner_type = engine::drafter_learner;
    using serving_type = engine::serving_weights<engine::bf16_bits>;
    using weights_type = serving_type::set;
    static constexpr bool reads_features = false;

    adapting_drafter(const side_paths& paths, const engine::context_options& options)
        : path(paths.model), tokenizer(paths.tokenizer), file(engine::open_checkpoint(path)),
          exit_norms(engine::exit_norms(file)), start(engine::read_parameters(file)),
          serving(start), model(engine::transformer(serving.current(), options)) {}

    std::filesystem::path path, tokenizer;
    engine::checkpoint file;
    std::vector<engine::tensor> exit_norms; ///< of the file: they do not learn, but are saved
    engine::model_parameters<float> start;  ///< as loaded
    serving_type serving;
    engine::batch_model<draft_id> model;
    std::vector<draft_id> prefix; ///< what a text of the drafter begins with

    /// Where a round begins.
    void take_new_weights() {
        if (const auto next = serving.take())
            model.use(next);
    }
    void use(const weights_type& weights) { model.use(weights); }
    [[nodiscard]] weights_type pack(const engine::model_parameters<float>& m) const {
        return engine::pack<engine::bf16_bits>(engine::view_checkpoint(m), 1);
    }

    /// Follows texts and makes lessons of them.
    class lessons_type {
    public:
        using sample = distillation_sample;

        lessons_type(decoder& pair, const adapting_drafter& drafter, std::size_t length)
            : map_(*pair.map()), prefix_(drafter.prefix),
              inner_(pair.target_tokenizer(), *pair.draft_tokenizer(), map_, {.window = length}) {}

        void start(std::span<const target_id> prompt) {
            inner_.start(prompt, prefix_before(prompt, prefix_, map_));
        }
        void follow(const logits_rows<target_id>& rows, std::span<const target_id> /*proposed*/,
                    std::span<const target_id> committed) {
            inner_.follow(rows, committed);
        }
        [[nodiscard]] bool finish(sample& out) { return inner_.finish(out); }

    private:
        const id_map& map_;
        std::span<const draft_id> prefix_;
        distillation_recorder<any_tokenizer<target_id>, any_tokenizer<draft_id>> inner_;
    };

    [[nodiscard]] std::unique_ptr<learner_type>
    make_learner(decoder& pair, const engine::learner_settings& settings) const {
        return std::make_unique<learner_type>(start, *pair.map(), settings);
    }

    /// Errors: specdec::error where nothing of it could be saved.
    void expect_saveable() const { engine::check_saveable(start.config(), path.string()); }
    [[nodiscard]] std::vector<const char*> saved_files(bool adapters) const {
        if (adapters)
            return {"adapter_model.safetensors", "adapter_config.json"};
        return {"model.safetensors", "config.json"};
    }
    /// A folder that --drafter or --adapter takes.
    void save(const std::filesystem::path& folder, learner_type& learner) const {
        if (learner.adapters()) {
            engine::save_peft_folder(folder, *learner.adapters(), path.string());
            return;
        }
        engine::save_model_folder(folder, learner.weights(), exit_norms);
        save_tokenizer(folder);
    }
    /// False where the tokenizer is a part of another file: --drafter of what is saved needs
    /// --drafter-tokenizer beside it then.
    [[nodiscard]] bool saves_tokenizer() const {
        return std::filesystem::is_directory(tokenizer) || tokenizer.extension() == ".json" ||
               engine::is_sentencepiece_name(tokenizer.filename());
    }

private:
    void save_tokenizer(const std::filesystem::path& folder) const {
        const std::filesystem::path own = folder_of(path), words = folder_of(tokenizer);
        for (const char* name : {"generation_config.json", "equivalences.json"})
            copy_if_there(own / name, folder / name);
        const bool whole = words == tokenizer;
        for (const char* name :
             {"tokenizer.json", "tokenizer_config.json", "special_tokens_map.json"})
            if (whole)
                copy_if_there(words / name, folder / name);
        if (whole && !is_there(words / "tokenizer.json"))
            copy_if_there(engine::sentencepiece_in(words), folder / "tokenizer.model");
        if (!whole && saves_tokenizer())
            copy_if_there(
                tokenizer,
                folder / (tokenizer.extension() == ".json" ? "tokenizer.json" : "tokenizer.model"));
    }
    /// The folder that it is, or that it lies in.
    static std::filesystem::path folder_of(const std::filesystem::path& path) {
        return std::filesystem::is_directory(path) ? path : path.parent_path();
    }
};

} // namespace specdec::examples
