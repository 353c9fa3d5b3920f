// SPDX-License-Identifier: MIT
// The programs `llama_generate`, `llama_compare`, `llama_side_by_side` and `llama_adapt`: GGUF
// files in llama.cpp.
#include "support/pair/engine.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <llama-cpp.h>

#include "support/pair/reference_side.hpp"
#include "support/program/console.hpp"
#include "support/program/files.hpp"
#include <specdec/interop/llama_cpp.hpp>

namespace specdec::examples {

namespace {

namespace fs = std::filesystem;

/// The adapter with the llama.cpp objects that it borrows: a program is its own engine.
template <class Id>
class owned_llama_models : public llama_cpp_batch_model<Id> {
public:
    owned_llama_models(std::shared_ptr<llama_model> model, llama_context_ptr context,
                       llama_cpp_scoring scoring)
        : llama_cpp_batch_model<Id>(context.get(), scoring), model_(std::move(model)),
          context_(std::move(context)) {}

private:
    std::shared_ptr<llama_model> model_; // the context goes before it
    llama_context_ptr context_;
};
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

class llama_engine final : public engine {
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
                       "llama, or reference: our own engine, which costs a tiny drafter less "
                       "(default: llama for .gguf files, reference for others)")
            ->check(CLI::IsMember({"llama", "reference"}))
            ->group(group);
        add_reference_flags(app, reference_);
    }

    [[nodiscard]] std::vector<named_pair> pairs() const override {
        const std::string smollm2 = "fetched/SmolLM2-135M-Instruct.Q4_1.gguf";
        return {{"smollm2", smollm2, "smollm2-drafter", "python3 models/fetch_smollm2.py"},
                {"gemma3", "fetched/gemma-3-270m.Q4_K_M.gguf", smollm2,
                 "python3 models/fetch_gemma3.py && python3 models/fetch_smollm2.py"}};
    }

    [[nodiscard]] side_paths find(const fs::path& model, const std::string& tokenizer,
                                  const std::string& flag) const override {
        if (flag == "drafter" && in_reference_engine(model))
            return find_reference_side(model, tokenizer, flag);
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
        return in_reference_engine(drafter.model);
    }
    [[nodiscard]] loaded_sides load(const side_paths& target,
                                    const std::optional<side_paths>& drafter,
                                    const model_flags& flags) const override {
        loaded_sides sides{.target = load_side<target_id>(target.model, flags,
                                                          alone_ ? llama_cpp_scoring::alone
                                                                 : llama_cpp_scoring::together)};
        if (drafter)
            sides.drafter = load_drafter(*drafter, flags);
        return sides;
    }

private:
    [[nodiscard]] side<draft_id> load_drafter(const side_paths& paths,
                                              const model_flags& flags) const {
        if (in_reference_engine(paths.model))
            return load_reference_side<draft_id>(paths, reference_, flags.threads, 0,
                                                 flags.sequences, flags.head);
        if (flags.head.partial())
            throw error("--head", flags.head.asked,
                        "expected full: llama.cpp's heads cannot be reached (with "
                        "--drafter-engine reference they can)");
        return load_side<draft_id>(paths.model, flags, llama_cpp_scoring::together);
    }
    [[nodiscard]] bool in_reference_engine(const fs::path& path) const {
        return drafter_engine_.empty() ? !is_gguf(path) : drafter_engine_ == "reference";
    }

    template <class Id>
    static side<Id> load_side(const fs::path& path, const model_flags& flags,
                              llama_cpp_scoring scoring) {
        progress_bar bar("loading " + path.filename().string());
        llama_model_params model_settings = llama_model_default_params();
        model_settings.progress_callback_user_data = &bar;
        model_settings.progress_callback = [](float part, void* shown) {
            static_cast<progress_bar*>(shown)->show(static_cast<double>(part));
            return true;
        };
        const std::shared_ptr<llama_model> model(
            llama_model_load_from_file(path.c_str(), model_settings), llama_model_deleter{});
        if (!model)
            throw error(path.string(), "llama_model_load_from_file",
                        "expected a model that llama.cpp can read");

        const auto made_for = static_cast<std::size_t>(llama_model_n_ctx_train(model.get()));
        const std::size_t threads =
            flags.threads > 0 ? flags.threads : std::size_t{std::thread::hardware_concurrency()};
        llama_context_params settings = llama_context_default_params();
        settings.n_seq_max = static_cast<std::uint32_t>(flags.sequences);
        settings.n_ctx = static_cast<std::uint32_t>(
            flags.sequences *
            (flags.context > 0 ? flags.context : std::min<std::size_t>(made_for, 4096)));
        settings.n_threads = settings.n_threads_batch = static_cast<std::int32_t>(threads);
        settings.swa_full = true; // drafts are taken back
        llama_context_ptr context(llama_init_from_model(model.get(), settings));
        if (!context)
            throw error(path.string(), "llama_init_from_model",
                        "expected memory for a context of " + std::to_string(settings.n_ctx) +
                            " tokens");

        owned_llama_tokenizer<Id> tokenizer(model);
        const model_facts facts{path.filename().string(),
                                static_cast<std::size_t>(llama_model_n_params(model.get())),
                                tokenizer.vocabulary_size()};
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
        return {{.models = owned_llama_models<Id>(model, std::move(context), scoring),
                 .tokenizer = std::move(tokenizer), // owned: an lvalue would be borrowed
                 .bos = bos == LLAMA_TOKEN_NULL ? std::nullopt : std::optional(Id{bos}),
                 .begins_with_bos = begins_with_bos,
                 .ends = std::move(ends)},
                facts,
                computing};
    }

    bool alone_ = false;
    std::string drafter_engine_;
    reference_flags reference_;
};

} // namespace

std::unique_ptr<engine> make_engine() {
    return std::make_unique<llama_engine>();
}

} // namespace specdec::examples
