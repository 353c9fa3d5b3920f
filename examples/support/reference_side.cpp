// SPDX-License-Identifier: MIT
#include "support/reference_side.hpp"

#include <string>
#include <utility>

#include <CLI/CLI.hpp>

#include "support/console.hpp"
#include "support/files.hpp"
#include "support/partial_head.hpp"
#include <specdec/reference/load.hpp>
#include <specdec/reference/tokenizer/load_tokenizer.hpp>

namespace specdec::examples {

namespace fs = std::filesystem;

void add_reference_flags(CLI::App& app, reference_flags& f) {
    const auto option = [&](const char* flag, std::string& value, const char* help) {
        return app.add_option(flag, value, help)->group("Models");
    };
    option("--precision", f.precision, "of products: bf16 (default) or f32")
        ->check(CLI::IsMember({"bf16", "f32"}));
}

side_paths find_reference_side(const fs::path& model, const std::string& tokenizer,
                               const std::string& flag) {
    if (const std::string why = why_missing(model); !why.empty())
        throw error("--" + flag, model.string(),
                    "expected a Hugging Face folder, a GGUF file or a llama2.c .bin file: " + why);
    if (!tokenizer.empty()) {
        if (const std::string why = why_missing(tokenizer); !why.empty())
            throw error("--" + flag + "-tokenizer", tokenizer, "expected a file: " + why);
        return {model, tokenizer};
    }
    if (!reference::is_folder(model) && model.extension() == ".bin")
        throw error("--" + flag, model.string(),
                    "a llama2.c model has its tokenizer in a file of its own: expected --" + flag +
                        "-tokenizer FILE");
    return {model, model};
}

namespace {

/// Heads are padded by a little; one that is much longer belongs to another tokenizer. (One that is
/// shorter than its tokenizer does not load.)
void require_own_tokenizer(const side_paths& paths, std::size_t rows, std::size_t tokens) {
    if (tokens < rows - rows / 8)
        throw error(paths.tokenizer.string(), "vocabulary",
                    "expected about the " + std::to_string(rows) + " tokens that " +
                        paths.model.string() + " has rows for, got " + std::to_string(tokens));
}

} // namespace

template <class Id>
side<Id> load_reference_side(const side_paths& paths, const reference_flags& flags,
                             std::size_t threads, std::size_t context, std::size_t sequences,
                             const head_choice& head) {
    const reference::tokenizer words = reference::load_tokenizer(paths.tokenizer);
    const std::string file = paths.model.filename().string();
    const std::string name = file.empty() ? paths.model.parent_path().filename().string() : file;
    progress_bar bar("loading " + name);
    reference::load_options options;
    options.number_format =
        flags.precision == "f32" ? reference::precision::f32 : reference::precision::bf16;
    options.context = {.threads = threads,
                       .capacity = context,
                       .sequences = sequences,
                       .vocabulary_size = words.vocabulary_size()};
    options.progress = [&bar](double part) { bar.show(part); };
    reference::transformer loaded = reference::load_transformer(paths.model, options);

    require_own_tokenizer(paths, loaded.config().vocabulary_size, words.vocabulary_size());
    model_facts facts{name, loaded.parameters(), loaded.vocabulary_size(), loaded.forward_bytes()};
    const compute_facts computing{std::string(reference::name(loaded.number_format())),
                                  std::string(loaded.kernel_name()), loaded.threads()};
    any_batch_model<Id> models = model_with_head<Id>(std::move(loaded), head, facts);
    side<Id> s{{.models = std::move(models),
                .tokenizer = reference::tokenizer_of<Id>(words),
                .begins_with_bos = words.add_bos()},
               facts,
               computing};
    if (words.bos())
        s.loaded.bos = Id{*words.bos()};
    for (const std::int32_t id : words.eos())
        s.loaded.ends.push_back(Id{id});
    return s;
}

template side<target_id> load_reference_side(const side_paths&, const reference_flags&, std::size_t,
                                             std::size_t, std::size_t, const head_choice&);
template side<draft_id> load_reference_side(const side_paths&, const reference_flags&, std::size_t,
                                            std::size_t, std::size_t, const head_choice&);

} // namespace specdec::examples
