// SPDX-License-Identifier: MIT
#include "support/pair/cpu_side.hpp"

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <unistd.h>

#include "support/pair/owned_feature_target.hpp"
#include "support/pair/partial_head.hpp"
#include "support/program/console.hpp"
#include "support/program/files.hpp"
#include <specdec/head/exits/confidence_exit.hpp>
#include <specdec/head/exits/early_exit_model.hpp>
#include <specdec/head/exits/sampled_token_exit.hpp>
#include <specdec/head/features/feature_model.hpp>
#include <specdec/head/features/feature_records.hpp>
#include <specdec/head/reduced_vocabulary_head.hpp>
#include <specdec/sampling/coin/philox_coin.hpp>
#include <specdec/sampling/law/parameters.hpp>
#include <specdec_engine/batch_model.hpp>
#include <specdec_engine/drafter/exit_model.hpp>
#include <specdec_engine/drafter/feature_body.hpp>
#include <specdec_engine/learn/pack_adapters.hpp>
#include <specdec_engine/learn/peft_folder.hpp>
#include <specdec_engine/learn/reverse/model_parameters.hpp>
#include <specdec_engine/load.hpp>
#include <specdec_engine/load_tokenizer.hpp>

namespace specdec::examples {

namespace fs = std::filesystem;

void add_cpu_flags(CLI::App& app, cpu_flags& f) {
    const auto option = [&](const char* flag, std::string& value, const char* help) {
        return app.add_option(flag, value, help)->group("Models");
    };
    option(
        "--precision", f.precision,
        "of weights and products: auto (default: native where the file is quantised, else bf16), "
        "bf16, f32, native (as the files are), or q8 (native, and the rest made Q8_0)")
        ->check(CLI::IsMember({"bf16", "f32", "native", "q8", "auto"}));
    option("--cache-type", f.cache_type,
           "of keys and values: auto (default: f32 with weights in F32, else bf16), f32, bf16, or "
           "q8 (8 bits, in blocks of 32)")
        ->check(CLI::IsMember({"auto", "f32", "bf16", "q8"}));
    app.add_option_function<std::string>(
           "--exits", [&f](const std::string& asked) { f.exits = exits_of(asked); },
           std::string(exits_help))
        ->group("Models");
    option("--adapter", f.adapter,
           "LoRA's adapters for the drafter, a PEFT folder, merged as it is loaded");
}

void add_target_adapters_flag(CLI::App& app, cpu_flags& f) {
    constexpr const char* flag = "--target-adapter";
    app.add_option_function<std::vector<std::string>>(
           flag,
           [&f](const std::vector<std::string>& all) {
               for (const std::string& one : all) {
                   const std::size_t end = one.find('=');
                   if (end == std::string::npos || end == 0 || end + 1 == one.size())
                       throw error(flag, one, "expected NAME=FOLDER");
                   f.target_adapters.push_back({one.substr(0, end), one.substr(end + 1)});
               }
           },
           "LoRA's adapters for the target, a PEFT folder, not merged: requests for the model NAME "
           "are answered with them; may be repeated")
        ->type_name("NAME=FOLDER")
        ->group("Models");
}

side_paths find_cpu_side(const fs::path& model, const std::string& tokenizer,
                         const std::string& flag) {
    if (const std::string why = why_missing(model); !why.empty())
        throw error("--" + flag, model.string(),
                    "expected a Hugging Face folder, a GGUF file or a llama2.c .bin file: " + why);
    if (!tokenizer.empty()) {
        if (const std::string why = why_missing(tokenizer); !why.empty())
            throw error("--" + flag + "-tokenizer", tokenizer, "expected a file: " + why);
        return {model, tokenizer};
    }
    if (!engine::is_folder(model) && model.extension() == ".bin")
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
                        paths.model.string() + " has rows for, found " + std::to_string(tokens));
}

/// The caches of contexts that no machine of this size can hold are refused: the system would end
/// the program, or another one, while they are filled.
void expect_memory(const engine::model_config& c, const engine::load_options& options) {
    const engine::context_options& o = options.context;
    const bool wide = options.number_format == engine::precision::f32;
    const std::size_t capacity =
        o.capacity > 0 ? o.capacity : std::min<std::size_t>(c.context, 4096);
    const double tokens = static_cast<double>(o.sequences) * static_cast<double>(capacity);
    const double needed = tokens * engine::cache_bytes(o.cache, 2 * c.layers * c.kv_size(), wide);
    const double there = static_cast<double>(::sysconf(_SC_PHYS_PAGES)) *
                         static_cast<double>(::sysconf(_SC_PAGESIZE));
    if (there <= 0 || needed < there)
        return;
    const auto gigabytes = [](double bytes) {
        return std::to_string(static_cast<long long>(bytes / 1e9)) + " GB";
    };
    throw error("--context", std::to_string(capacity),
                "expected caches that fit into the memory of " + gigabytes(there) + ": " +
                    std::to_string(o.sequences) + " of so many tokens take " + gigabytes(needed));
}

std::string name_of(const fs::path& model) {
    const std::string file = model.filename().string();
    return file.empty() ? model.parent_path().filename().string() : file;
}

std::size_t longest_context(const engine::model_config& c) {
    return std::min(c.context, c.window);
}

/// A model and its tokenizer, as their files have them.
struct loaded_files {
    std::string name;
    engine::tokenizer words;
    engine::transformer engine;
    engine::cache_type cache; ///< that was asked for

    [[nodiscard]] model_facts facts() const {
        return {.name = name,
                .parameters = engine.parameters(),
                .vocabulary = engine.vocabulary_size(),
                .forward_bytes = engine.forward_bytes(),
                .longest_context = longest_context(engine.config())};
    }
    [[nodiscard]] compute_facts computing() const {
        std::string numbers(engine.weights_name());
        if (cache != engine::cache_type::own)
            numbers += ", cache " + std::string(engine.cache_name());
        return {std::move(numbers), std::string(engine.kernel_name()), engine.threads()};
    }
    template <class Id>
    [[nodiscard]] side<Id> side_of(any_batch_model<Id> models, model_facts facts,
                                   compute_facts computing) const {
        side<Id> s{{.models = std::move(models),
                    .tokenizer = engine::tokenizer_of<Id>(words),
                    .begins_with_bos = words.add_bos()},
                   std::move(facts),
                   std::move(computing)};
        if (words.bos())
            s.loaded.bos = Id{*words.bos()};
        for (const std::int32_t id : words.eos())
            s.loaded.ends.push_back(Id{id});
        return s;
    }
};

/// `adapter`: a PEFT folder, or nothing.
loaded_files load_files(const side_paths& paths, const cpu_flags& flags,
                        const engine::context_options& context, const std::string& adapter = "") {
    engine::checkpoint weights = engine::open_checkpoint(paths.model);
    engine::tokenizer words =
        engine::load_tokenizer(paths.tokenizer, weights.config.vocabulary_size);
    const std::string name = name_of(paths.model);
    progress_bar bar("loading " + name);
    engine::load_options options;
    options.number_format = engine::precision_named(flags.precision);
    options.context = context;
    options.context.vocabulary_size = words.vocabulary_size();
    options.context.cache = engine::cache_type_named(flags.cache_type);
    options.progress = [&bar](double part) { bar.show(part); };
    expect_memory(weights.config, options);
    std::optional<engine::model_parameters<float>> adapted;
    if (!adapter.empty()) {
        adapted = engine::read_parameters(weights);
        engine::read_peft_folder(adapter, adapted->config()).merge(*adapted);
        engine::checkpoint merged = engine::view_checkpoint(*adapted, paths.model.string());
        for (const engine::tensor& norm : engine::exit_norms(weights))
            merged.add(norm);
        merged.files = weights.files; // which the norms view
        weights = std::move(merged);
    }
    engine::transformer engine = engine::make_transformer(weights, options);
    require_own_tokenizer(paths, engine.config().vocabulary_size, words.vocabulary_size());
    return {name, std::move(words), std::move(engine), options.context.cache};
}

void set_adapters(engine::transformer& target, const std::vector<named_adapter>& adapters) {
    const engine::model_config& c = target.config();
    context_key key = 0;
    for (const named_adapter& one : adapters)
        target.set_adapters(++key,
                            engine::pack_adapters(engine::read_peft_folder(one.folder, c), c));
}

/// A drafter and its whole head, for with_head.
struct whole_drafter {
    explicit whole_drafter(engine::transformer engine) : model(std::move(engine)) {}
    engine::batch_model<draft_id> model;
    engine::lm_head<draft_id> head{model.engine()};
};

/// A drafter that reads features and the head that makes its rows: the target's or its own.
struct feature_drafter {
    feature_drafter(std::shared_ptr<feature_records> read, engine::feature_body made,
                    engine::lm_head<draft_id> its)
        : records(std::move(read)), body(std::move(made)), head(std::move(its)) {}
    std::shared_ptr<feature_records> records;
    engine::feature_body body;
    feature_model<engine::feature_body> model{body, *records};
    engine::lm_head<draft_id> head;
};

/// A drafter with exits, and which of them speak; coins: what draws exits, one for each sequence.
template <ExitChoice Choice>
struct exits_parts {
    engine::exit_model<draft_id> model;
    std::vector<philox_coin> coins;
    Choice choice;
};
template <ExitChoice Choice>
class owned_early_exit_model : std::unique_ptr<exits_parts<Choice>>,
                               public early_exit_model<engine::exit_model<draft_id>, Choice> {
    using owned = std::unique_ptr<exits_parts<Choice>>;

public:
    explicit owned_early_exit_model(owned parts)
        : owned(std::move(parts)), early_exit_model<engine::exit_model<draft_id>, Choice>(
                                       owned::get()->model, owned::get()->choice) {}
};

template <ExitChoice Choice>
any_batch_model<draft_id> owned_exits(std::unique_ptr<exits_parts<Choice>> parts,
                                      model_facts& facts) {
    owned_early_exit_model<Choice> drafter(std::move(parts));
    facts.exit_rows = drafter.counts();
    return drafter;
}

any_batch_model<draft_id> with_exits(const engine::transformer& engine, std::size_t sequences,
                                     const exits_choice& asked, const side_paths& paths,
                                     model_facts& facts) {
    try {
        engine::exit_model<draft_id> model(engine, {.sequences = sequences});
        std::size_t deepest = 0; // that may be asked
        while (deepest + 1 < model.exits() && asked.thresholds[deepest] > 0)
            ++deepest;
        facts.forward_bytes = model.row_bytes(deepest);
        if (!asked.drawn)
            return owned_exits(
                std::make_unique<exits_parts<confidence_exit>>(exits_parts<confidence_exit>{
                    std::move(model), {}, confidence_exit(asked.thresholds)}),
                facts);
        using choice = sampled_token_exit<philox_coin>;
        std::vector<philox_coin> coins;
        for (std::size_t s = 0; s < sequences; ++s)
            coins.emplace_back(0, s);
        const std::span<philox_coin> borrowed(coins); // a vector that moves keeps its numbers
        return owned_exits(std::make_unique<exits_parts<choice>>(exits_parts<choice>{
                               std::move(model), std::move(coins),
                               choice(asked.thresholds, sampling_parameters{}, borrowed)}),
                           facts);
    } catch (const error& problem) { // names neither flag nor file
        throw error("--exits", asked.asked, paths.model.string() + ": " + problem.what());
    }
}

/// What was asked for, or the list of tokens that lies beside the drafter.
head_choice default_head(const head_choice& asked, const side_paths& drafter) {
    const std::filesystem::path kept = drafter.model / "kept.json";
    if (!asked.asked.empty() || !why_missing(kept).empty())
        return asked;
    return {head_choice::kind::trimmed, "trimmed:" + kept.string(), kept};
}

} // namespace

template <class Id>
side<Id> load_cpu_side(const side_paths& paths, const cpu_flags& flags,
                       std::shared_ptr<engine::thread_pool> team, std::size_t context,
                       std::size_t sequences, const head_choice& head) {
    if (reads_features(paths))
        throw error(
            paths.model.string(), "fc.weight",
            "expected a model that runs alone, this is a drafter that reads the features of "
            "a target of the CPU engine");
    loaded_files files = load_files(
        paths, flags, {.capacity = context, .sequences = sequences, .team = std::move(team)},
        std::same_as<Id, draft_id> ? flags.adapter : "");
    model_facts facts = files.facts();
    compute_facts computing = files.computing();
    if constexpr (std::same_as<Id, target_id>)
        set_adapters(files.engine, flags.target_adapters);
    if constexpr (std::same_as<Id, draft_id>) {
        if (!flags.exits.asked.empty()) {
            if (head.partial())
                throw error("--head", head.asked, "expected full with --exits");
            any_batch_model<Id> models =
                with_exits(files.engine, sequences, flags.exits, paths, facts);
            return files.side_of<Id>(std::move(models), facts, computing);
        }
        if (head.partial()) {
            auto whole = std::make_unique<whole_drafter>(std::move(files.engine));
            facts.forward_bytes -= whole->head.bytes();
            std::shared_ptr<target_topk> likely;
            any_batch_model<Id> models =
                with_head(std::move(whole), head, paths.model, facts, likely);
            side<Id> made = files.side_of<Id>(std::move(models), facts, computing);
            made.likely = std::move(likely);
            return made;
        }
    }
    return files.side_of<Id>(engine::batch_model<Id>(std::move(files.engine)), facts, computing);
}

template side<target_id> load_cpu_side(const side_paths&, const cpu_flags&,
                                       std::shared_ptr<engine::thread_pool>, std::size_t,
                                       std::size_t, const head_choice&);
template side<draft_id> load_cpu_side(const side_paths&, const cpu_flags&,
                                      std::shared_ptr<engine::thread_pool>, std::size_t,
                                      std::size_t, const head_choice&);

bool reads_features(const side_paths& drafter) {
    return engine::is_feature_drafter(drafter.model);
}

namespace {

/// Errors: flags that such a drafter cannot follow.
void expect_feature_flags(const cpu_flags& flags, const side_paths& drafter) {
    if (!flags.adapter.empty())
        throw error("--adapter", flags.adapter,
                    "expected nothing: a drafter that reads features takes no adapters");
    if (drafter.tokenizer != drafter.model)
        throw error("--drafter-tokenizer", drafter.tokenizer.string(),
                    "expected nothing: a drafter that reads features has its target's");
    if (!flags.exits.asked.empty())
        throw error("--exits", flags.exits.asked,
                    "expected nothing: a drafter that reads features has one exit");
}

/// The drafter `own`, for the target of those files, which holds `capacity` tokens a sequence.
feature_drafter_side make_feature_drafter(const side_paths& drafter,
                                          const engine::feature_checkpoint& own,
                                          const loaded_files& files, std::size_t capacity,
                                          std::size_t sequences, const head_choice& asked_head) {
    engine::feature_body body(
        own, files.engine,
        {.sequences = sequences,
         .capacity = engine::feature_body::default_capacity(own.files.config, capacity)});
    model_facts facts{.name = name_of(drafter.model),
                      .parameters = body.parameters(),
                      .vocabulary = files.engine.vocabulary_size(),
                      .forward_bytes = body.forward_bytes(),
                      .longest_context = longest_context(own.files.config)};
    const bool own_head = body.kept() != nullptr;
    const head_choice head = own_head ? asked_head : default_head(asked_head, drafter);
    facts.default_head = head.partial() && !asked_head.partial();
    if (own_head && head.partial())
        throw error("--head", head.asked,
                    "expected full: " + drafter.model.string() + " has a head of its own, of " +
                        std::to_string(body.kept()->size()) + " tokens");
    engine::lm_head<draft_id> products =
        own_head ? engine::lm_head<draft_id>(body) : engine::lm_head<draft_id>(files.engine);
    const auto records =
        std::make_shared<feature_records>(sequences, capacity, body.feature_width());
    auto whole = std::make_unique<feature_drafter>(records, std::move(body), std::move(products));
    std::optional<token_list<draft_id>> listed;
    if (!head.list.empty())
        listed = engine::read_token_list<draft_id>(head.list, files.engine.vocabulary_size());
    const auto parts = std::make_shared<feature_parts>(
        feature_parts{&whole->body, &whole->model, records.get(), nullptr, std::move(listed)});
    std::shared_ptr<target_topk> likely;
    any_batch_model<draft_id> models = [&]() -> any_batch_model<draft_id> {
        if (!own_head)
            return with_head(std::move(whole), head, drafter.model, facts, likely);
        const token_list<draft_id> kept = *whole->body.kept();
        facts.head_tokens = kept.size();
        facts.forward_bytes += whole->head.bytes();
        return owned_headed_model<feature_drafter,
                                  reduced_vocabulary_head<draft_id, engine::lm_head<draft_id>>>(
            std::move(whole), [&](engine::lm_head<draft_id>& rows) {
                return reduced_vocabulary_head<draft_id, engine::lm_head<draft_id>>(rows, kept);
            });
    }();
    side<draft_id> made = files.side_of<draft_id>(std::move(models), facts, files.computing());
    made.likely = std::move(likely);
    return {std::move(made), parts, records};
}

} // namespace

loaded_sides load_feature_sides(const side_paths& target, const side_paths& drafter,
                                const cpu_flags& flags, std::shared_ptr<engine::thread_pool> team,
                                std::size_t context, std::size_t sequences,
                                const head_choice& head) {
    expect_feature_flags(flags, drafter);
    const engine::feature_checkpoint own = engine::open_feature_drafter(drafter.model);
    loaded_files files = load_files(target, flags,
                                    {.capacity = context,
                                     .sequences = sequences,
                                     .features = own.kind,
                                     .team = std::move(team)});
    feature_drafter_side made =
        make_feature_drafter(drafter, own, files, files.engine.capacity(), sequences, head);
    const model_facts facts = files.facts();
    const compute_facts computing = files.computing();
    set_adapters(files.engine, flags.target_adapters);
    owned_feature_target<engine::batch_model<target_id>> recorded(
        engine::batch_model<target_id>(std::move(files.engine)), made.records);
    auto parts = std::make_shared<feature_parts>(*made.parts);
    parts->target = &recorded.model().engine();
    return {files.side_of<target_id>(std::move(recorded), facts, computing),
            std::move(made.drafter), std::move(parts)};
}

feature_drafter_side load_feature_drafter(const side_paths& target, const side_paths& drafter,
                                          const cpu_flags& flags,
                                          std::shared_ptr<engine::thread_pool> team,
                                          std::size_t capacity, std::size_t sequences,
                                          const head_choice& head) {
    expect_feature_flags(flags, drafter);
    const engine::feature_checkpoint own = engine::open_feature_drafter(drafter.model);
    if (own.kind != engine::feature_kind::head_input)
        throw error("--drafter", drafter.model.string(),
                    "expected a drafter that reads the states that the target's head is "
                    "multiplied with; this one reads states of several layers");
    // Only the embedding and the head of this transformer are used: it holds no texts.
    const loaded_files files =
        load_files(target, flags,
                   {.capacity = 2, .sequences = 1, .features = own.kind, .team = std::move(team)});
    return make_feature_drafter(drafter, own, files, capacity, sequences, head);
}

} // namespace specdec::examples
