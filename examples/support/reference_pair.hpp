// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>

#include "support/decoder.hpp"

namespace CLI {
class App;
}

/// The models of the reference engine, by flags that `generate` and `compare` share.
namespace specdec::examples {

struct model_flags {
    std::string models; ///< "docs" or "smollm2"; empty: docs
    std::string target, drafter;
    std::string target_tokenizer, drafter_tokenizer, equivalences;
    std::string precision = "bf16";
    std::size_t threads = 0; ///< 0: one a core
    std::size_t context = 0; ///< 0: what the target was made for, at most 4096
    bool no_drafter = false;
    bool chat = false, no_chat = false;
    cache_settings cache;
};
void add_model_flags(CLI::App& app, model_flags& flags);

/// The folder with the repository's models.
[[nodiscard]] std::filesystem::path models_folder();

/// What the flags mean where they say nothing: SmolLM2 is talked to, others continue a text.
[[nodiscard]] bool wants_chat(const model_flags& flags);
/// Draft tokens a round that were measured to be good at this temperature.
[[nodiscard]] std::size_t usual_draft_length(const model_flags& flags, double temperature);

/// Loads the pair. Errors: specdec::error that names flag or file, and the field in it.
[[nodiscard]] std::unique_ptr<decoder> load_pair(const model_flags& flags);

} // namespace specdec::examples
