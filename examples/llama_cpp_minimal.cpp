// SPDX-License-Identifier: MIT
// A target in llama.cpp, drafted for by a small model of another tokenizer: the whole program.
//
//     llama_cpp_minimal models/fetched/SmolLM2-135M-Instruct.Q4_1.gguf models/smollm2-drafter
#include <chrono>
#include <iostream>
#include <string>
#include <vector>

#include <llama-cpp.h>

#include <specdec/interop/llama_cpp.hpp>
#include <specdec/speculation/speculation.hpp>
#include <specdec_engine/load.hpp>
#include <specdec_engine/load_tokenizer.hpp>
#include <specdec_engine/model.hpp>

using namespace specdec;

int main(int argc, char** argv) try {
    if (argc < 3)
        return std::cerr << "usage: llama_cpp_minimal TARGET.gguf DRAFTER_FOLDER [QUESTION]\n", 1;
    const std::string question = argc > 3 ? argv[3] : "Tell me a story about a fox.";

    // The target: llama.cpp's model and context, which stay yours.
    llama_log_set([](ggml_log_level, const char*, void*) {}, nullptr);
    const llama_model_ptr weights(
        llama_model_load_from_file(argv[1], llama_model_default_params()));
    if (!weights)
        throw error(argv[1], "file", "expected a model that llama.cpp can read");
    llama_context_params room = llama_context_default_params();
    room.n_ctx = 2048;
    const llama_context_ptr context(llama_init_from_model(weights.get(), room));
    if (!context)
        throw error(argv[1], "context", "expected memory for 2048 tokens");
    llama_cpp_model<target_id> target(context.get());
    const llama_cpp_tokenizer<target_id> words(llama_model_get_vocab(weights.get()));

    // The drafter: here a model of our own engine; another llama_cpp_model<draft_id> would do.
    engine::model<draft_id> draft(engine::load_transformer(argv[2]));
    const engine::tokenizer_of<draft_id> pieces(engine::load_tokenizer(argv[2]));

    // Both, for any rule. The tokenizers are matched by the bytes of their tokens.
    speculation pair({.models = target, .tokenizer = words, .ends = words.end_tokens()},
                     {.models = draft, .tokenizer = pieces});

    // The question in the chat form, without drafts and with them.
    std::vector<target_id> prompt;
    words.encode_prompt("<|im_start|>user\n" + question + "<|im_end|>\n<|im_start|>assistant\n",
                        prompt);
    for (const char* name : {"autoregressive", "slem", "autoregressive", "slem"}) {
        const decode_settings settings{.rule = rule_of(name).rule,
                                       .sampling = {.temperature = 0},
                                       .limits = {.max_tokens = 128}};
        const text_request request{.prompt = prompt};
        const auto begin = std::chrono::steady_clock::now();
        const decode_result text = pair.run({&request, 1}, settings).texts.front();
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
        std::cout << name << ": " << static_cast<double>(text.tokens.size()) / took.count()
                  << " tokens a second, " << text.counts.tokens_per_target_call()
                  << " a target pass\n"
                  << text.text << "\n\n";
    }
} catch (const std::exception& problem) {
    std::cerr << problem.what() << "\n";
    return 1;
}
