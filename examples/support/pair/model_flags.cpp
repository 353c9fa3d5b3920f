// SPDX-License-Identifier: MIT
#include "support/pair/model_flags.hpp"

#include <string>
#include <string_view>
#include <utility>

#include <CLI/CLI.hpp>

#include "support/flags/flag_values.hpp"
#include "support/pair/engine.hpp"
#include <specdec/core/error.hpp>
#include <specdec_engine/file/mapped_file.hpp>

namespace specdec::examples {

namespace fs = std::filesystem;

void add_model_flags(CLI::App& app, model_flags& f, program_engine& e) {
    const char* group = "Models";
    const auto option = [&](const char* flag, auto& value, const std::string& help) {
        return app.add_option(flag, value, help)->group(group);
    };
    std::string names;
    for (const named_pair& p : e.pairs())
        names += (names.empty() ? "" : ", ") + p.name;
    option("--models", f.models,
           "a known pair: " + names +
               " (default: the first; smollm2 is talked to in its chat form)");
    option("--target", f.target,
           "a target's path; without a drafter unless --drafter or --models gives one");
    option("--drafter", f.drafter,
           "a drafter's; none: what was said before is looked up; recycling: the target's "
           "likeliest successors of each token are recycled");
    option("--target-tokenizer", f.target_tokenizer,
           "where it is a file of its own: tokenizer.json, .model or .bin");
    option("--drafter-tokenizer", f.drafter_tokenizer, "the same");
    option("--equivalences", f.equivalences,
           "pairs of special tokens (default: equivalences.json in the drafter's folder)");
    app.add_option_function<std::string>(
           "--head", [&f](const std::string& asked) { f.head = head_of(asked); },
           std::string(head_help))
        ->group(group);
    app.add_option_function<std::string>(
           "--counts", [&f](const std::string& asked) { f.counts = counts_of(asked); },
           "mix the drafter's distribution with counts of what followed the same tokens before: of "
           "the output "
           "itself (own) or of all outputs, too (shared, or shared:FILE, which is read if it "
           "exists "
           "and written at the end; with slrs and merge one request at a time); none (default)")
        ->group(group);
    app.add_flag("--no-drafter", f.no_drafter, "load no drafter")->group(group);
    add_number(app, "--threads", f.threads, any_threads(), "at most one a core (default: that)")
        ->group(group);
    add_number(
        app, "--context", f.context, {0, 1 << 20},
        "most tokens of prompt and output (default: what the target was made for, at most 4096)")
        ->group(group);
    CLI::Option* const chat =
        app.add_flag("--chat", f.chat,
                     "prompts are questions, in the target's chat form (default for smollm2)")
            ->group(group);
    app.add_flag("--no-chat", f.no_chat, "prompts are continued as they are")
        ->group(group)
        ->excludes(chat);
    option("--cache", f.cache.file,
           "file of the n-gram cache of the merge rules: read if it exists, written at the end");
    option("--cache-policy", f.cache.policy, "what goes when it is full: lfu (default), lru, none")
        ->check(CLI::IsMember({"none", "lru", "lfu"}));
    add_number(app, "--cache-size", f.cache.capacity, any_count,
               "n-grams it holds at most (default: no limit)")
        ->group(group);
    e.add_flags(app);
}

counts_choice counts_of(const std::string& asked) {
    using texts = counts_choice::texts;
    for (const auto& [name, of] : {std::pair("none", texts::none), std::pair("own", texts::own),
                                   std::pair("shared", texts::shared)})
        if (asked == name)
            return {of, asked, {}};
    constexpr std::string_view with_file = "shared:";
    if (asked.starts_with(with_file) && asked.size() > with_file.size())
        return {texts::shared, asked, asked.substr(with_file.size())};
    throw error("--counts", asked, "expected none, own, shared or shared:FILE");
}

fs::path models_folder() {
#ifdef SPECDEC_MODELS_DIR
    const fs::path known = SPECDEC_MODELS_DIR;
#elif defined(SPECDEC_SOURCE_DIR)
    const fs::path known = fs::path(SPECDEC_SOURCE_DIR) / "models";
#else
    const fs::path known = "models";
#endif
    return engine::is_folder(known) ? known : fs::path("models");
}

bool wants_chat(const model_flags& flags) {
    return flags.chat || (flags.models.starts_with("smollm2") && !flags.no_chat);
}

} // namespace specdec::examples
