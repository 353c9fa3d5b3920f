// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "support/pair/model_flags.hpp"
#include "support/pair/side.hpp"

/// What differs from engine to engine: `generate` and `compare` are linked with one of
/// examples/cpu_engine/, llama_cpp/ and openvino/.
namespace specdec::examples {

/// Models by name, below the folder models/.
struct named_pair {
    std::string name;
    std::filesystem::path target, drafter;
    std::string how_to_get; ///< a command, where the files are not in the repository
    /// Of the drafter's tokens with this target's, where it is not the file in the drafter's
    /// folder.
    std::filesystem::path equivalences{};
};

class program_engine {
public:
    virtual ~program_engine() = default;

    /// Its own flags, beside those of model_flags.hpp.
    virtual void add_flags(CLI::App& app) = 0;
    /// Flags of programs that serve several models over one target's weights.
    virtual void add_serving_flags(CLI::App& /*app*/) {}
    /// The adapters of a target that has been loaded, in the order of their keys, which begin at 1
    /// (text_request::key).
    [[nodiscard]] virtual std::vector<std::string> adapters() const { return {}; }
    /// The first is the default.
    [[nodiscard]] virtual std::vector<named_pair> pairs() const = 0;
    /// The files of a side; `tokenizer` may be empty. `flag` is for errors: "target" or "drafter".
    /// Errors: specdec::error that names the flag and what is wrong with the path.
    [[nodiscard]] virtual side_paths find(const std::filesystem::path& model,
                                          const std::string& tokenizer,
                                          const std::string& flag) const = 0;
    /// Whether the drafter runs beside its target only.
    [[nodiscard]] virtual bool needs_target(const side_paths& /*drafter*/) const { return false; }
    /// Whether the drafter runs in the CPU engine, whose drafters can learn.
    [[nodiscard]] virtual bool learns(const side_paths& /*drafter*/) const { return true; }
    /// Errors: specdec::error that names the file and the field in it.
    [[nodiscard]] virtual loaded_sides load(const side_paths& target,
                                            const std::optional<side_paths>& drafter,
                                            const model_flags& flags) const = 0;
};

/// The engine that this program is linked with.
[[nodiscard]] std::unique_ptr<program_engine> make_engine();

/// Loads what the flags ask for. Errors: specdec::error that names flag or file, and the field in
/// it.
[[nodiscard]] loaded_pair load_pair(const program_engine& e, const model_flags& flags);
/// The drafter that the flags ask for, alone, in the place of a target: what it writes, and its
/// tokens. Errors: as load_pair, and for a drafter that needs its target.
[[nodiscard]] loaded_pair load_drafter_alone(const program_engine& e, const model_flags& flags);
/// Where the target that the flags ask for lies. Errors: as load_pair.
[[nodiscard]] side_paths find_target(const program_engine& e, const model_flags& flags);
/// Whether the drafter that the flags ask for runs beside its target only.
[[nodiscard]] bool drafter_needs_target(const program_engine& e, const model_flags& flags);

} // namespace specdec::examples
