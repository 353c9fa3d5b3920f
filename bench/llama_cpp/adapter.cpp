// SPDX-License-Identifier: MIT
// What does a round with llama.cpp cost that llama.cpp itself does not take? llama_decode is
// replaced by one that does nothing, so what is left of a score is the adapter; the vocabulary has
// Gemma 3's size. Beside it what the rules ask of the tokenizer, with Gemma 3's own vocabulary if
// it was fetched (models/fetch_gemma3.py).
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "llama_cpp/tiny_model.hpp"
#include <specdec/core/token_id.hpp>
#include <specdec/interop/llama_cpp.hpp>

using namespace specdec;

namespace {

constexpr std::size_t vocabulary_size = 262144;

std::vector<float> decoded; // what llama_get_logits returns

} // namespace

// These two come before libllama's.
extern "C" {
int32_t llama_decode(llama_context*, llama_batch batch) {
    benchmark::DoNotOptimize(batch.token[0]);
    return 0;
}
float* llama_get_logits(llama_context*) {
    return decoded.data();
}
}

namespace {

tiny::vocabulary_parts large_vocabulary() {
    tiny::vocabulary_parts v = tiny::sentencepiece();
    while (v.tokens.size() < vocabulary_size)
        v.add("token " + std::to_string(v.tokens.size()), LLAMA_TOKEN_TYPE_NORMAL, -100);
    return v;
}

void score(benchmark::State& state, llama_cpp_scoring scoring) {
    static const tiny::model_file file(tiny::architecture::llama, large_vocabulary());
    static const tiny::loaded_model engine(file);
    const auto n = static_cast<std::size_t>(state.range(0));
    decoded.assign(n * vocabulary_size, 0);
    const llama_context_ptr context = engine.context(tiny::loaded_model::parameters(4096));
    llama_cpp_model<target_id> model(context.get(), 0, scoring);
    const std::vector<target_id> ids(n, target_id{300});
    for (auto _ : state)
        benchmark::DoNotOptimize(model.score(ids));
}
void score_together(benchmark::State& state) {
    score(state, llama_cpp_scoring::together);
}
/// Each decode overwrites the rows before, so they are copied.
void score_alone(benchmark::State& state) {
    score(state, llama_cpp_scoring::alone);
}
BENCHMARK(score_together)->Arg(1)->Arg(5)->Unit(benchmark::kMicrosecond);
BENCHMARK(score_alone)->Arg(1)->Arg(5)->Unit(benchmark::kMicrosecond);

/// Gemma 3's vocabulary, without weights.
const llama_cpp_tokenizer<target_id>* gemma() {
    static const llama_model_ptr model = [] {
        const std::filesystem::path path =
            std::filesystem::path(SPECDEC_SOURCE_DIR) / "models/fetched/gemma-3-270m.Q4_K_M.gguf";
        llama_log_set([](ggml_log_level, const char*, void*) {}, nullptr);
        llama_model_params settings = llama_model_default_params();
        settings.vocab_only = true;
        return llama_model_ptr(std::filesystem::exists(path)
                                   ? llama_model_load_from_file(path.c_str(), settings)
                                   : nullptr);
    }();
    static const auto tokenizer =
        model ? std::make_unique<llama_cpp_tokenizer<target_id>>(llama_model_get_vocab(model.get()))
              : nullptr;
    return tokenizer.get();
}

/// A retokenised context encodes one to three look-behinds of 64 bytes a round.
void encode(benchmark::State& state) {
    if (gemma() == nullptr)
        return state.SkipWithError("models/fetch_gemma3.py has not been run");
    const std::string text =
        std::string("The quick brown fox jumps over the lazy dog, and nobody knows why it does so. "
                    "Return a list of all the items that are in the list, or an empty one, and ")
            .substr(0, static_cast<std::size_t>(state.range(0)));
    std::vector<target_id> ids;
    for (auto _ : state) {
        ids.clear();
        gemma()->encode(text, encode_mode::continuation, ids);
        benchmark::DoNotOptimize(ids.data());
    }
}
BENCHMARK(encode)->Arg(16)->Arg(64)->Arg(150)->Unit(benchmark::kMicrosecond);

void bytes(benchmark::State& state) {
    if (gemma() == nullptr)
        return state.SkipWithError("models/fetch_gemma3.py has not been run");
    std::int32_t id = 0;
    for (auto _ : state)
        benchmark::DoNotOptimize(gemma()->bytes(target_id{++id % 262144}).data());
}
BENCHMARK(bytes)->Unit(benchmark::kMicrosecond);

} // namespace
