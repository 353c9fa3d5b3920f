// SPDX-License-Identifier: MIT
// The models of this repository: a target, a drafter with its own tokenizer, one greedy output.
#include <iostream>

#include <specdec/speculation/speculation.hpp>
#include <specdec_engine/load.hpp>
#include <specdec_engine/load_tokenizer.hpp>
#include <specdec_engine/model.hpp>

using namespace specdec;

int main() {
    const engine::tokenizer_of<target_id> words(engine::load_tokenizer("models/docs-target"));
    const engine::tokenizer_of<draft_id> pieces(engine::load_tokenizer("models/docs-drafter"));
    engine::model<target_id> target(engine::load_transformer("models/docs-target"));
    engine::model<draft_id> draft(engine::load_transformer(
        "models/docs-drafter", {.context = {.team = target.engine().team()}})); // they take turns

    speculation pair({target, words}, {draft, pieces});
    const decode_settings greedy{.rule = rule_of("slem").rule, // or any other, or none
                                 .sampling = {.temperature = 0},
                                 .lengths = {.kind = length_kind::fixed, .length = 5},
                                 .limits = {.max_tokens = 60}};
    std::cout << pair.explain(greedy);
    const decode_result text = pair.generate("This module provides", greedy);
    std::cout << text.text << "\n" << text.counts.tokens_per_target_call() << " a target call\n";
    if (!std::cout.flush())
        return std::cerr << "standard output: cannot be written\n", 1;
}
