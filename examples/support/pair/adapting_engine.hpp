// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "support/pair/adapting_drafter.hpp"
#include "support/pair/adapting_features.hpp"
#include "support/pair/engine.hpp"
#include <specdec/core/error.hpp>

namespace specdec::examples {

/// The program's engine with a drafter that learns. Outlives the pairs that it loads.
class adapting_engine final : public program_engine {
public:
    void add_flags(CLI::App& app) override {
        inner_->add_flags(app);
        adapter_ = app.get_option("--adapter");
        exits_ = app.get_option("--exits");
        cache_type_ = app.get_option("--cache-type");
    }
    [[nodiscard]] std::vector<named_pair> pairs() const override { return inner_->pairs(); }
    [[nodiscard]] side_paths find(const std::filesystem::path& model, const std::string& tokenizer,
                                  const std::string& flag) const override {
        return inner_->find(model, tokenizer, flag);
    }
    [[nodiscard]] loaded_sides load(const side_paths& target,
                                    const std::optional<side_paths>& drafter,
                                    const model_flags& flags) const override {
        if (!drafter)
            throw error("--drafter", "path", "expected a drafter, found none");
        read_ = {target.model, drafter->model};
        if (inner_->needs_target(*drafter)) {
            loaded_sides sides = inner_->load(target, drafter, flags);
            features_ = std::make_unique<adapting_features>(*drafter, *sides.features);
            return sides;
        }
        if (!inner_->learns(*drafter))
            throw error("--drafter", drafter->model.string(),
                        "expected a drafter of the CPU engine: llama.cpp's do not learn "
                        "(--drafter-engine cpu, or a folder)");
        if (flags.head.partial())
            throw error("--head", flags.head.asked, "expected full for a drafter that learns");
        if (adapter_ != nullptr && adapter_->count() > 0)
            throw error("--adapter", adapter_->as<std::string>(),
                        "expected nothing: give --resume the folder, so that they go on learning");
        if (exits_ != nullptr && exits_->count() > 0)
            throw error("--exits", exits_->as<std::string>(),
                        "expected nothing: all layers learn and draft (the exits are saved)");
        loaded_sides sides = inner_->load(target, drafter, flags);
        speculation_side<draft_id>& own = sides.drafter->loaded;
        drafter_ = std::make_unique<adapting_drafter>(
            *drafter, engine::context_options{.threads = flags.threads,
                                              .vocabulary_size = own.models.vocabulary_size(),
                                              .cache = cache_type(),
                                              .team = sides.team});
        if (own.begins_with_bos && own.bos)
            drafter_->prefix.push_back(*own.bos);
        own.models = any_batch_model<draft_id>(drafter_->model);
        return sides;
    }

    /// The models of the latest pair.
    [[nodiscard]] const std::vector<std::filesystem::path>& read() const { return read_; }
    /// Of the latest pair: one that runs alone, or one that reads features; null: it is the other.
    [[nodiscard]] adapting_drafter* drafter() const { return drafter_.get(); }
    [[nodiscard]] adapting_features* features() const { return features_.get(); }

private:
    std::unique_ptr<program_engine> inner_ = make_engine();
    [[nodiscard]] engine::cache_type cache_type() const {
        return cache_type_ != nullptr && cache_type_->count() > 0
                   ? engine::cache_type_named(cache_type_->as<std::string>())
                   : engine::cache_type::own;
    }

    CLI::Option *adapter_ = nullptr, *exits_ = nullptr, *cache_type_ = nullptr;
    mutable std::vector<std::filesystem::path> read_;
    mutable std::unique_ptr<adapting_drafter> drafter_;
    mutable std::unique_ptr<adapting_features> features_;
};

} // namespace specdec::examples
