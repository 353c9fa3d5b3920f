// SPDX-License-Identifier: MIT
// A target in OpenVINO, drafted for by a small model of another tokenizer: the whole program.
//
//     openvino_minimal models/fetched/SmolLM2-135M-Instruct.Q4_1.gguf models/smollm2-drafter
#include <chrono>
#include <iostream>
#include <string>
#include <vector>

#include <openvino/openvino.hpp>

#include <specdec/interop/openvino.hpp>
#include <specdec/interop/openvino_gguf.hpp>
#include <specdec/speculation/speculation.hpp>
#include <specdec_engine/load.hpp>
#include <specdec_engine/load_tokenizer.hpp>
#include <specdec_engine/model.hpp>

using namespace specdec;

int main(int argc, char** argv) try {
    if (argc < 3)
        return std::cerr << "usage: openvino_minimal TARGET.gguf DRAFTER_FOLDER [QUESTION]\n", 1;
    const std::string question = argc > 3 ? argv[3] : "Tell me a story about a fox.";

    // The target: from a GGUF file, or as core.read_model("openvino_model.xml") reads it.
    ov::Core core;
    const auto network = openvino_read_gguf(argv[1]);
    openvino_select_rows(*network); // a prompt needs the logits of its last token only
    openvino_model<target_id> target(core.compile_model(
        network, "CPU", ov::hint::performance_mode(ov::hint::PerformanceMode::LATENCY),
        ov::hint::enable_cpu_pinning(false))); // the drafter runs on the same cores
    const engine::tokenizer_of<target_id> words(engine::load_tokenizer(argv[1]));

    // The drafter: here a model of our own engine; another openvino_model<draft_id> would do.
    engine::model<draft_id> draft(engine::load_transformer(argv[2], {.context = {.threads = 1}}));
    const engine::tokenizer_of<draft_id> pieces(engine::load_tokenizer(argv[2]));

    // Both, for any rule. The tokenizers are matched by the bytes of their tokens.
    std::vector<target_id> ends;
    for (const std::int32_t id : words.base().eos())
        ends.push_back(target_id{id});
    speculation pair({.models = target, .tokenizer = words, .ends = ends},
                     {.models = draft, .tokenizer = pieces});

    // The question in the chat form, without drafts and with them.
    std::vector<target_id> prompt;
    words.encode_with_control("<|im_start|>user\n" + question +
                                  "<|im_end|>\n<|im_start|>assistant\n",
                              encode_mode::start, prompt);
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
