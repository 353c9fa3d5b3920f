// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

#include "support/flags/head_flag.hpp"
#include <specdec/speculation/any/any_ngram_cache.hpp>

namespace CLI {
class App;
}

/// Which models, by flags that all programs share.
namespace specdec::examples {

class program_engine;

/// What is counted of texts, to be mixed into a drafter's law
/// (draft/counted/cache_mixture_model.hpp).
struct counts_choice {
    enum class texts : std::uint8_t { none, own, shared } of = texts::none;
    std::string asked{}; ///< as it was given
    std::string file{};  ///< of shared counts: read if it exists, written at the end
    [[nodiscard]] bool any() const { return of != texts::none; }
};
/// Errors: specdec::error for what is no choice.
[[nodiscard]] counts_choice counts_of(const std::string& asked);

struct model_flags {
    std::string models; ///< a named pair; empty: the first
    std::string target, drafter;
    std::string target_tokenizer, drafter_tokenizer, equivalences;
    std::size_t threads = 0;   ///< 0: one a core
    std::size_t context = 0;   ///< 0: what the target was made for, at most 4096
    std::size_t sequences = 1; ///< texts side by side
    std::size_t tree_nodes = 0, drafted_nodes = 0; ///< most of a text's tree, and of its drafting
    head_choice head;                              ///< of the drafter
    bool no_drafter = false;
    bool chat = false, no_chat = false;
    cache_settings cache;
    counts_choice counts;
};
void add_model_flags(CLI::App& app, model_flags& flags, program_engine& e);

/// Whether the target's own successors of tokens stand in a drafter's place.
[[nodiscard]] inline bool recycles(const model_flags& flags) {
    return flags.drafter == "recycling";
}

/// The folder with the repository's models.
[[nodiscard]] std::filesystem::path models_folder();

/// What the flags mean where they say nothing: SmolLM2 is talked to, others continue a text.
[[nodiscard]] bool wants_chat(const model_flags& flags);

} // namespace specdec::examples
