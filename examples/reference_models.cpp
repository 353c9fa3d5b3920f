// SPDX-License-Identifier: MIT
// The models of this repository on the reference transformer, which computes with Eigen: whatever
// an engine of yours does, its logits should be these.
#include <iostream>

#include <specdec/reference/load_weights.hpp>
#include <specdec/reference/transformer_model.hpp>
#include <specdec/speculation/speculation.hpp>
#include <specdec_engine/load_tokenizer.hpp>

using namespace specdec;

int main() {
    const engine::tokenizer_of<target_id> words(engine::load_tokenizer("models/docs-target"));
    const engine::tokenizer_of<draft_id> pieces(engine::load_tokenizer("models/docs-drafter"));
    reference::transformer_model<target_id> target(reference::load_weights("models/docs-target"));
    reference::transformer_model<draft_id> draft(reference::load_weights("models/docs-drafter"));

    speculation pair({target, words}, {draft, pieces});
    const decode_settings greedy{.rule = rule_of("slem").rule,
                                 .sampling = {.temperature = 0},
                                 .lengths = {.kind = length_kind::fixed, .length = 5},
                                 .limits = {.max_tokens = 60}};
    const decode_result output = pair.generate("This module provides", greedy);
    std::cout << output.text << "\n"
              << output.counts.tokens_per_target_call() << " tokens per target pass\n";
    if (!std::cout.flush())
        return std::cerr << "standard output: cannot be written\n", 1;
}
