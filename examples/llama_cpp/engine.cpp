// SPDX-License-Identifier: MIT
// What the programs `llama_generate`, `llama_compare` and so on are linked with: GGUF files in
// llama.cpp.
#include "support/pair/engine.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <llama-cpp.h>

#include "support/flags/flag_values.hpp"
#include "support/pair/cpu_side.hpp"
#include "support/program/console.hpp"
#include "support/program/files.hpp"
#include <specdec/core/model/checkpointed_model.hpp>
#include <specdec/interop/llama_cpp.hpp>

namespace specdec::examples {

namespace {

namespace fs = std::filesystem;

/// Null: all is computed here.
using shared_servers = std::shared_ptr<llama_cpp_servers>;

template <class F>
auto with(const shared_servers& servers, F f) {
    return servers ? servers->call(std::move(f)) : f();
}
/// What llama.cpp made, freed as it was made.
template <class T>
std::shared_ptr<T> own(T* made, const shared_servers& servers, void (*free)(T*)) {
    return {made, [servers, free](T* t) {
                if (servers && t != nullptr)
                    servers->release([free, t] { free(t); });
                else
                    free(t);
            }};
}

/// What an adapter borrows: a program is its own engine.
struct llama_parts {
    shared_servers servers;
    std::shared_ptr<llama_model> model; // the context goes before it
    std::shared_ptr<llama_context> context;
};
template <class Adapter>
class owned_llama_models : public Adapter {
public:
    template <class... Settings>
    explicit owned_llama_models(llama_parts parts, Settings... settings)
        : Adapter(parts.context.get(), settings...), parts_(std::move(parts)) {}

private:
    llama_parts parts_;
};
/// A model that cannot be truncated, and the view of it that can.
template <class Id>
class owned_recurrent_model : std::unique_ptr<owned_llama_models<llama_cpp_recurrent_model<Id>>>,
                              public checkpointed_model<Id, llama_cpp_recurrent_model<Id>> {
    using engine_model = owned_llama_models<llama_cpp_recurrent_model<Id>>;

public:
    explicit owned_recurrent_model(std::unique_ptr<engine_model> model)
        : std::unique_ptr<engine_model>(std::move(model)),
          checkpointed_model<Id, llama_cpp_recurrent_model<Id>>(
              *static_cast<std::unique_ptr<engine_model>&>(*this)) {}
};

template <class Id>
any_batch_model<Id> adapter_of(llama_parts parts, llama_cpp_scoring scoring, std::size_t texts) {
    const llama_model* model = parts.model.get();
    llama_cpp_servers* servers = parts.servers.get();
    if (llama_model_is_recurrent(model) || llama_model_is_hybrid(model))
        return owned_recurrent_model<Id>(
            std::make_unique<owned_llama_models<llama_cpp_recurrent_model<Id>>>(
                std::move(parts), llama_seq_id{0}, scoring, servers));
    if (llama_n_seq_max(parts.context.get()) > texts)
        return owned_llama_models<llama_cpp_tree_model<Id>>(std::move(parts), texts, scoring,
                                                            servers);
    return owned_llama_models<llama_cpp_batch_model<Id>>(std::move(parts), scoring, servers);
}
template <class Id>
class owned_llama_tokenizer : public llama_cpp_tokenizer<Id> {
public:
    explicit owned_llama_tokenizer(std::shared_ptr<llama_model> model)
        : llama_cpp_tokenizer<Id>(llama_model_get_vocab(model.get())), model_(std::move(model)) {}

private:
    std::shared_ptr<llama_model> model_;
};

void print_errors(ggml_log_level level, const char* text, void*) {
    static bool goes_on = false; // GGML_LOG_LEVEL_CONT: what the line before was
    if (level != GGML_LOG_LEVEL_CONT)
        goes_on = level == GGML_LOG_LEVEL_ERROR;
    if (!goes_on)
        return;
    const std::string_view said = text;
    const bool ends = said.ends_with('\n');
    std::fprintf(stderr, "%s%s", visible(said.substr(0, said.size() - (ends ? 1 : 0))).c_str(),
                 ends ? "\n" : "");
}

bool is_gguf(const fs::path& path) {
    return path.extension() == ".gguf";
}

class llama_engine final : public program_engine {
public:
    llama_engine() {
        llama_log_set(print_errors, nullptr);
        llama_backend_init();
    }
    ~llama_engine() override { llama_backend_free(); }

    void add_flags(CLI::App& app) override {
        const char* group = "llama.cpp";
        app.add_flag("--score-alone", alone_,
                     "score every position in a decode of its own: slow, and greedy text is the "
                     "same with every drafter and none")
            ->group(group);
        app.add_option("--drafter-engine", drafter_engine_,
                       "llama, or cpu: the CPU engine of specdec, which costs a tiny drafter less "
                       "(default: llama for .gguf files, cpu for others)")
            ->check(CLI::IsMember({"llama", "cpu"}))
            ->group(group);
        app.add_option("--rpc", servers_,
                       "HOST:PORT,...: lay the target's layers onto the devices of other machines, "
                       "where rpc-server runs")
            ->delimiter(',')
            ->group(group);
        add_number(app, "--rpc-patience", patience_, {1e-3, 1e6},
                   "seconds to wait for a silent server (default: for ever)")
            ->group(group);
        constexpr number_range<std::int32_t> any_layers{0, 1 << 30};
        add_number(app, "--gpu-layers", layers_, any_layers,
                   "layers of the target that go onto devices, those of --rpc or this machine's "
                   "(default: all)")
            ->group(group);
        add_number(app, "--drafter-gpu-layers", drafter_layers_, any_layers,
                   "the same of the drafter, always on this machine (default: all)")
            ->group(group);
        add_cpu_flags(app, cpu_);
    }

    [[nodiscard]] std::vector<named_pair> pairs() const override {
        const std::string smollm2 = "fetched/SmolLM2-135M-Instruct.Q4_1.gguf";
        return {{"smollm2", smollm2, "smollm2-drafter", "python3 models/fetch_smollm2.py"},
                {"gemma3", "fetched/gemma-3-270m.Q4_K_M.gguf", smollm2,
                 "python3 models/fetch_gemma3.py && python3 models/fetch_smollm2.py"}};
    }

    [[nodiscard]] side_paths find(const fs::path& model, const std::string& tokenizer,
                                  const std::string& flag) const override {
        if (flag == "drafter" && in_cpu_engine(model))
            return find_cpu_side(model, tokenizer, flag);
        if (!tokenizer.empty())
            throw error("--" + flag + "-tokenizer", tokenizer,
                        "expected nothing: a GGUF file holds its tokenizer");
        if (const std::string why = why_missing(model); !why.empty())
            throw error("--" + flag, model.string(), "expected a GGUF file: " + why);
        if (!fs::is_regular_file(model))
            throw error("--" + flag, model.string(), "expected a GGUF file: not a regular file");
        return {model, model};
    }
    [[nodiscard]] bool learns(const side_paths& drafter) const override {
        return in_cpu_engine(drafter.model);
    }
    [[nodiscard]] loaded_sides load(const side_paths& target,
                                    const std::optional<side_paths>& drafter,
                                    const model_flags& flags) const override {
        const bool ours = drafter && in_cpu_engine(drafter->model);
        expect_use("--adapter", cpu_.adapter, ours, "a drafter in the CPU engine");
        expect_use("--exits", cpu_.exits.asked, ours, "a drafter in the CPU engine");
        expect_use("--drafter-engine", drafter_engine_, drafter.has_value(), "a drafter");
        expect_use("--drafter-gpu-layers",
                   drafter_layers_ ? std::to_string(*drafter_layers_) : std::string(),
                   drafter && !ours, "a drafter in llama.cpp");
        expect_use("--rpc-patience", patience_ ? std::to_string(*patience_) : std::string(),
                   !servers_.empty(), "--rpc");
        const shared_servers servers =
            servers_.empty()
                ? nullptr
                : std::make_shared<llama_cpp_servers>(
                      servers_,
                      std::chrono::milliseconds(std::llround(patience_.value_or(0) * 1000)));
        loaded_sides sides{.target = load_side<target_id>(target.model, flags,
                                                          alone_ ? llama_cpp_scoring::alone
                                                                 : llama_cpp_scoring::together,
                                                          flags.tree_nodes, layers_, servers)};
        if (drafter)
            sides.drafter = load_drafter(*drafter, flags);
        return sides;
    }

private:
    static void expect_use(const char* flag, const std::string& value, bool used,
                           const std::string& whose) {
        if (!value.empty() && !used)
            throw error(flag, value, "expected " + whose + " with it, found none");
    }
    [[nodiscard]] side<draft_id> load_drafter(const side_paths& paths,
                                              const model_flags& flags) const {
        if (in_cpu_engine(paths.model))
            return load_cpu_side<draft_id>(paths, cpu_,
                                           std::make_shared<engine::thread_pool>(flags.threads), 0,
                                           flags.sequences, flags.head);
        if (flags.head.partial())
            throw error("--head", flags.head.asked,
                        "expected full: llama.cpp's heads cannot be reached (with "
                        "--drafter-engine cpu they can)");
        return load_side<draft_id>(paths.model, flags, llama_cpp_scoring::together,
                                   flags.drafted_nodes, drafter_layers_, nullptr);
    }
    [[nodiscard]] bool in_cpu_engine(const fs::path& path) const {
        return drafter_engine_.empty() ? !is_gguf(path) : drafter_engine_ == "cpu";
    }

    template <class Id>
    static side<Id> load_side(const fs::path& path, const model_flags& flags,
                              llama_cpp_scoring scoring, std::size_t nodes,
                              std::optional<std::int32_t> layers, const shared_servers& servers) {
        auto bar = std::make_shared<progress_bar>("loading " + path.filename().string());
        llama_model_params model_settings = llama_model_default_params();
        if (layers)
            model_settings.n_gpu_layers = *layers;
        if (servers)
            model_settings.devices = servers->device_list();
        model_settings.progress_callback_user_data = bar.get();
        model_settings.progress_callback = [](float part, void* shown) {
            static_cast<progress_bar*>(shown)->show(static_cast<double>(part));
            return true;
        };
        const std::shared_ptr<llama_model> model =
            own(with(servers,
                     [path, model_settings, bar] {
                         return llama_model_load_from_file(path.c_str(), model_settings);
                     }),
                servers, llama_model_free);
        bar.reset();
        if (!model)
            throw error(path.string(), "llama_model_load_from_file",
                        "expected a model that llama.cpp can read");

        const auto made_for = static_cast<std::size_t>(llama_model_n_ctx_train(model.get()));
        const std::size_t threads =
            flags.threads > 0 ? flags.threads : std::size_t{std::thread::hardware_concurrency()};
        llama_context_params settings = llama_context_default_params();
        const bool recurrent =
            llama_model_is_recurrent(model.get()) || llama_model_is_hybrid(model.get());
        if (recurrent && flags.sequences > 1)
            throw error(path.string(), "sequences",
                        "expected one text at a time of a recurrent or hybrid model");
        if (!recurrent && nodes > 0) { // a sequence for each text and each branch
            settings.n_seq_max = static_cast<std::uint32_t>(
                std::min(llama_max_parallel_sequences(), flags.sequences * (1 + nodes)));
            settings.kv_unified = true;
        } else {
            settings.n_seq_max = static_cast<std::uint32_t>(flags.sequences);
        }
        settings.n_ctx = static_cast<std::uint32_t>(
            flags.sequences *
            (flags.context > 0 ? flags.context : std::min<std::size_t>(made_for, 4096)));
        settings.n_threads = settings.n_threads_batch = static_cast<std::int32_t>(threads);
        settings.swa_full = true; // drafts are taken back
        std::shared_ptr<llama_context> context =
            own(with(servers,
                     [model, settings] { return llama_init_from_model(model.get(), settings); }),
                servers, llama_free);
        if (!context)
            throw error(path.string(), "llama_init_from_model",
                        "expected memory for a context of " + std::to_string(settings.n_ctx) +
                            " tokens");

        owned_llama_tokenizer<Id> tokenizer(model);
        const model_facts facts{.name = path.filename().string(),
                                .parameters =
                                    static_cast<std::size_t>(llama_model_n_params(model.get())),
                                .vocabulary = tokenizer.vocabulary_size(),
                                .longest_context = made_for};
        const bool alone = scoring == llama_cpp_scoring::alone;
        const compute_facts computing{llama_ftype_name(llama_model_ftype(model.get())),
                                      "llama.cpp " + std::string(llama_version()) +
                                          (alone ? ", positions alone" : ""),
                                      threads, !alone};
        const llama_token bos = llama_vocab_bos(tokenizer.vocab());
        std::vector<Id> ends = tokenizer.end_tokens();
        for (Id& id : ends) // the usual one first
            if (id.value == llama_vocab_eos(tokenizer.vocab()))
                std::swap(id, ends.front());
        const bool begins_with_bos = tokenizer.begin_token().has_value();
        return {{.models =
                     adapter_of<Id>({servers, model, std::move(context)}, scoring, flags.sequences),
                 .tokenizer = std::move(tokenizer), // owned: an lvalue would be borrowed
                 .bos = bos == LLAMA_TOKEN_NULL ? std::nullopt : std::optional(Id{bos}),
                 .begins_with_bos = begins_with_bos,
                 .ends = std::move(ends)},
                facts,
                computing};
    }

    bool alone_ = false;
    std::vector<std::string> servers_;
    std::optional<double> patience_;
    std::optional<std::int32_t> layers_, drafter_layers_;
    std::string drafter_engine_;
    cpu_flags cpu_;
};

} // namespace

std::unique_ptr<program_engine> make_engine() {
    return std::make_unique<llama_engine>();
}

} // namespace specdec::examples
