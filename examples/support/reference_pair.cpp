// SPDX-License-Identifier: MIT
#include "support/reference_pair.hpp"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "support/console.hpp"
#include "support/decoder_of.hpp"
#include "support/equivalences_file.hpp"
#include <specdec/reference/load.hpp>
#include <specdec/reference/model.hpp>
#include <specdec/reference/tokenizer/load_tokenizer.hpp>
#include <specdec/vocab/intersection.hpp>

namespace specdec::examples {

namespace {

namespace fs = std::filesystem;
template <class Id>
using tokenizer_type = reference::tokenizer_of<Id>;
using reference_decoder = decoder_of<reference::model<target_id>, tokenizer_type<target_id>,
                                     reference::model<draft_id>, tokenizer_type<draft_id>>;

/// Where the files of one side lie.
struct side_paths {
    fs::path model, tokenizer;
};
struct pair_paths {
    side_paths target;
    std::optional<side_paths> drafter;
};

side_paths side(const fs::path& model, const std::string& tokenizer, const std::string& flag) {
    if (!fs::exists(model))
        throw error("--" + flag, model.string(),
                    "expected a Hugging Face folder, a GGUF file or a llama2.c .bin file, found "
                    "nothing there");
    if (!tokenizer.empty()) {
        if (!fs::exists(tokenizer))
            throw error("--" + flag + "-tokenizer", tokenizer,
                        "expected a file, found nothing there");
        return {model, tokenizer};
    }
    if (!fs::is_directory(model) && model.extension() == ".bin")
        throw error("--" + flag, model.string(),
                    "a llama2.c model has its tokenizer in a file of its own: expected --" + flag +
                        "-tokenizer FILE");
    return {model, model};
}

pair_paths paths_of(const model_flags& flags) {
    if (!flags.models.empty() && flags.models != "docs" && flags.models != "smollm2")
        throw error("--models", flags.models, "expected docs or smollm2");
    const bool smollm2 = flags.models == "smollm2";
    const fs::path folder = models_folder();
    const fs::path target =
        folder / (smollm2 ? "fetched/SmolLM2-135M-Instruct.Q4_1.gguf" : "docs-target");
    if (smollm2 && flags.target.empty() && !fs::exists(target))
        throw error("--models smollm2", target.string(),
                    "expected the model there; fetch it with: python3 models/fetch_smollm2.py");
    pair_paths paths;
    paths.target = side(flags.target.empty() ? target : fs::path(flags.target),
                        flags.target_tokenizer, "target");
    // The repository's drafters know their own targets only.
    const bool own_target_alone =
        !flags.target.empty() && flags.drafter.empty() && flags.models.empty();
    if (flags.no_drafter || own_target_alone)
        return paths;
    const fs::path drafter = folder / (smollm2 ? "smollm2-drafter" : "docs-drafter");
    paths.drafter = side(flags.drafter.empty() ? drafter : fs::path(flags.drafter),
                         flags.drafter_tokenizer, "drafter");
    return paths;
}

template <class Id>
std::optional<Id> id_or_nothing(std::optional<std::int32_t> id) {
    return id ? std::optional<Id>(Id{*id}) : std::nullopt;
}

/// The given pairs, and by kind: end of text to end of text, beginning to beginning, where nothing
/// was said of either token.
equivalences with_ends(const equivalences& given, const reference::tokenizer& draft,
                       const reference::tokenizer& target) {
    equivalences result;
    std::vector<equivalences::id_pair> known = given.resolve(draft.table(), target.table());
    const auto pair = [&](std::int32_t d, std::int32_t t) {
        const auto index = [](std::int32_t id) { return static_cast<std::size_t>(id); };
        if (draft.table().is_text(index(d)) || target.table().is_text(index(t)))
            return;
        for (const auto& [kd, kt] : known)
            if (kd.value == d || kt.value == t)
                return;
        known.push_back({draft_id{d}, target_id{t}});
    };
    if (!draft.eos().empty() && !target.eos().empty())
        pair(draft.eos().front(), target.eos().front());
    if (draft.bos() && target.bos())
        pair(*draft.bos(), *target.bos());
    for (const auto& [d, t] : known)
        result.add(d, t);
    return result;
}

reference::transformer load_model(const fs::path& path, const model_flags& flags,
                                  std::size_t capacity, const reference::tokenizer& tokenizer) {
    progress_bar bar("loading " + path.filename().string());
    reference::load_options options;
    options.number_format =
        flags.precision == "f32" ? reference::precision::f32 : reference::precision::bf16;
    options.context = {.threads = flags.threads,
                       .capacity = capacity,
                       .vocabulary_size = tokenizer.vocabulary_size()};
    options.progress = [&bar](double part) { bar.show(part); };
    return reference::load_transformer(path, options);
}

model_facts facts_of(const fs::path& path, const reference::transformer& model) {
    const fs::path name = path.filename().empty() ? path.parent_path().filename() : path.filename();
    return {name.string(), model.parameters(), model.vocabulary_size()};
}

} // namespace

void add_model_flags(CLI::App& app, model_flags& f) {
    const char* group = "Models";
    const auto option = [&](const char* flag, auto& value, const char* help) {
        return app.add_option(flag, value, help)->group(group);
    };
    option("--models", f.models,
           "the repository's pairs: docs (default), or smollm2 (fetched with "
           "models/fetch_smollm2.py; talked to in its chat form)");
    option(
        "--target", f.target,
        "a target: Hugging Face folder, GGUF or llama2.c .bin; without a drafter unless --drafter "
        "or --models gives one");
    option("--drafter", f.drafter, "a drafter: the same");
    option("--target-tokenizer", f.target_tokenizer,
           "where it is a file of its own: tokenizer.json, .model or .bin");
    option("--drafter-tokenizer", f.drafter_tokenizer, "the same");
    option("--equivalences", f.equivalences,
           "pairs of special tokens (default: equivalences.json beside the drafter)");
    app.add_flag("--no-drafter", f.no_drafter, "load no drafter")->group(group);
    option("--precision", f.precision, "of products: bf16 (default) or f32")
        ->check(CLI::IsMember({"bf16", "f32"}));
    option("--threads", f.threads, "default: one a core")->check(CLI::Range(0, 1024));
    option("--context", f.context,
           "most tokens of prompt and text (default: what the target was made for, at most 4096)")
        ->check(CLI::Range(0, 1 << 20));
    app.add_flag("--chat", f.chat, "prompts are questions, in ChatML (default for smollm2)")
        ->group(group);
    app.add_flag("--no-chat", f.no_chat, "prompts are texts to continue")->group(group);
    option("--cache", f.cache.file,
           "file of the n-gram cache of the merge rules: read if it exists, written at the end");
    option("--cache-policy", f.cache.policy, "what goes when it is full: lfu (default), lru, none")
        ->check(CLI::IsMember({"none", "lru", "lfu"}));
    option("--cache-size", f.cache.capacity, "n-grams it holds at most (default: no limit)");
}

fs::path models_folder() {
#ifdef SPECDEC_MODELS_DIR
    const fs::path known = SPECDEC_MODELS_DIR;
#elif defined(SPECDEC_SOURCE_DIR)
    const fs::path known = fs::path(SPECDEC_SOURCE_DIR) / "models";
#else
    const fs::path known = "models";
#endif
    return fs::exists(known) ? known : fs::path("models");
}

bool wants_chat(const model_flags& flags) {
    return flags.chat || (flags.models == "smollm2" && !flags.no_chat);
}

std::size_t usual_draft_length(const model_flags& flags, double temperature) {
    if (flags.models == "smollm2")
        return temperature > 0 ? 1 : 4;
    return temperature > 0 ? 1 : 2;
}

std::unique_ptr<decoder> load_pair(const model_flags& flags) {
    const pair_paths paths = paths_of(flags);
    const reference::tokenizer words = reference::load_tokenizer(paths.target.tokenizer);
    std::optional<reference::tokenizer> pieces;
    id_map map;
    if (paths.drafter) { // what can be wrong here is cheap to find before any weights are read
        pieces = reference::load_tokenizer(paths.drafter->tokenizer);
        try {
            const equivalences given = flags.equivalences.empty()
                                           ? equivalences_beside(paths.drafter->model)
                                           : read_equivalences(flags.equivalences);
            map = intersect(pieces->table(), words.table(), with_ends(given, *pieces, words));
        } catch (const error& problem) { // names the token, not the file
            const std::string source =
                flags.equivalences.empty() ? paths.drafter->model.string() : flags.equivalences;
            throw error(source + ": " + problem.what());
        }
    }

    reference::transformer target = load_model(paths.target.model, flags, flags.context, words);
    pair_facts facts;
    facts.target = facts_of(paths.target.model, target);
    facts.precision = std::string(reference::name(target.number_format()));
    facts.kernel = std::string(target.kernel_name());
    facts.threads = target.threads();

    std::unique_ptr<reference_decoder::draft_type> draft;
    if (paths.drafter) {
        reference::transformer model = load_model(paths.drafter->model, flags, 0, *pieces);
        facts.drafter = facts_of(paths.drafter->model, model);
        facts.shared = map.shared();
        facts.equal_vocabularies = map.draft_fingerprint() == map.target_fingerprint();
        const auto begin =
            pieces->add_bos() ? id_or_nothing<draft_id>(pieces->bos()) : std::nullopt;
        draft = std::make_unique<reference_decoder::draft_type>(reference_decoder::draft_type{
            reference::model<draft_id>(std::move(model)), tokenizer_type<draft_id>(*pieces),
            pieces->table(), std::move(map), begin});
    }

    std::vector<target_id> ends;
    for (const std::int32_t id : words.eos())
        ends.push_back(target_id{id});
    if (wants_chat(flags))
        if (const auto turn = words.find("<|im_end|>"); turn && !is_end(ends, target_id{*turn}))
            ends.push_back(target_id{*turn});
    return std::make_unique<reference_decoder>(
        reference_decoder::target_type{
            reference::model<target_id>(std::move(target)), tokenizer_type<target_id>(words),
            words.table(), words.add_bos() ? id_or_nothing<target_id>(words.bos()) : std::nullopt,
            ends},
        std::move(draft), std::move(facts), flags.cache);
}

} // namespace specdec::examples
