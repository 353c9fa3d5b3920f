// SPDX-License-Identifier: MIT
// The programs `generate`, `compare` and `side_by_side`: both sides in our own engine.
#include "support/engine.hpp"

#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "support/reference_side.hpp"

namespace specdec::examples {

namespace {

class reference_engine final : public engine {
public:
    void add_flags(CLI::App& app) override { add_reference_flags(app, flags_); }

    [[nodiscard]] std::vector<named_pair> pairs() const override {
        return {{"docs", "docs-target", "docs-drafter", ""},
                {"smollm2", "fetched/SmolLM2-135M-Instruct.Q4_1.gguf", "smollm2-drafter",
                 "python3 models/fetch_smollm2.py"}};
    }

    [[nodiscard]] side_paths find(const std::filesystem::path& model, const std::string& tokenizer,
                                  const std::string& flag) const override {
        return find_reference_side(model, tokenizer, flag);
    }
    [[nodiscard]] side<target_id> load_target(const side_paths& paths,
                                              const model_flags& flags) const override {
        return load_reference_side<target_id>(paths, flags_, flags.threads, flags.context,
                                              flags.sequences);
    }
    [[nodiscard]] side<draft_id> load_drafter(const side_paths& paths,
                                              const model_flags& flags) const override {
        return load_reference_side<draft_id>(paths, flags_, flags.threads, 0, flags.sequences,
                                             flags.head);
    }

private:
    reference_flags flags_;
};

} // namespace

std::unique_ptr<engine> make_engine() {
    return std::make_unique<reference_engine>();
}

} // namespace specdec::examples
