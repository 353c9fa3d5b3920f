// SPDX-License-Identifier: MIT
// The programs `generate`, `compare`, `side_by_side` and `adapt`: both sides in our own engine.
#include "support/pair/engine.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "support/pair/cpu_side.hpp"
#include <specdec/core/error.hpp>

namespace specdec::examples {

namespace {

class cpu_engine final : public program_engine {
public:
    void add_flags(CLI::App& app) override { add_cpu_flags(app, flags_); }
    void add_serving_flags(CLI::App& app) override { add_target_adapters_flag(app, flags_); }
    [[nodiscard]] std::vector<std::string> adapters() const override {
        std::vector<std::string> names;
        for (const named_adapter& one : flags_.target_adapters)
            names.push_back(one.name);
        return names;
    }

    [[nodiscard]] std::vector<named_pair> pairs() const override {
        return {{"docs", "docs-target", "docs-drafter", ""},
                {"smollm2", "fetched/SmolLM2-135M-Instruct.Q4_1.gguf", "smollm2-drafter",
                 "python3 models/fetch_smollm2.py"},
                {"smollm2-features", "fetched/SmolLM2-135M-Instruct.Q4_1.gguf", "smollm2-features",
                 "python3 models/fetch_smollm2.py"},
                {"gemma3", "fetched/gemma-3-270m.Q4_K_M.gguf", "smollm2-drafter",
                 "python3 models/fetch_gemma3.py", "smollm2-drafter/equivalences.gemma3.json"}};
    }

    [[nodiscard]] side_paths find(const std::filesystem::path& model, const std::string& tokenizer,
                                  const std::string& flag) const override {
        return find_cpu_side(model, tokenizer, flag);
    }
    [[nodiscard]] bool needs_target(const side_paths& drafter) const override {
        return reads_features(drafter);
    }
    [[nodiscard]] loaded_sides load(const side_paths& target,
                                    const std::optional<side_paths>& drafter,
                                    const model_flags& flags) const override {
        if (!drafter && !flags_.adapter.empty())
            throw error("--adapter", flags_.adapter, "expected a drafter with it");
        const auto team = std::make_shared<engine::thread_pool>(flags.threads);
        if (drafter && needs_target(*drafter))
            return load_feature_sides(target, *drafter, flags_, team, flags.context,
                                      flags.sequences, flags.head);
        if (!drafter && !flags_.exits.asked.empty())
            throw error("--exits", flags_.exits.asked, "expected a drafter with it, found none");
        loaded_sides sides{.target = load_cpu_side<target_id>(target, flags_, team, flags.context,
                                                              flags.sequences),
                           .team = team};
        if (drafter)
            sides.drafter =
                load_cpu_side<draft_id>(*drafter, flags_, team, 0, flags.sequences, flags.head);
        return sides;
    }

private:
    cpu_flags flags_;
};

} // namespace

std::unique_ptr<program_engine> make_engine() {
    return std::make_unique<cpu_engine>();
}

} // namespace specdec::examples
