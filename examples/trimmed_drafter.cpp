// SPDX-License-Identifier: MIT
// A drafter with a part of its LM head: the target writes a text, the drafter keeps the tokens that
// occur in it (VocabTrim), and drafts with these alone.
#include <exception>
#include <iostream>
#include <vector>

#include "support/pair/model_flags.hpp"
#include <specdec/head/adaptive/token_frequencies.hpp>
#include <specdec/head/headed_model.hpp>
#include <specdec/head/trimmed_head.hpp>
#include <specdec/speculation/speculation.hpp>
#include <specdec_engine/drafter/lm_head.hpp>
#include <specdec_engine/load.hpp>
#include <specdec_engine/load_tokenizer.hpp>
#include <specdec_engine/model.hpp>

using namespace specdec;

int main() try {
    const auto big = examples::models_folder() / "docs-target";
    const auto small = examples::models_folder() / "docs-drafter";
    const engine::tokenizer_of<target_id> words(engine::load_tokenizer(big));
    const engine::tokenizer_of<draft_id> pieces(engine::load_tokenizer(small));
    engine::model<target_id> target(engine::load_transformer(big));
    engine::model<draft_id> model(
        engine::load_transformer(small, {.context = {.team = target.engine().team()}}));
    decode_settings settings{.rule = rule::slem,
                             .sampling = {.temperature = 0},
                             .lengths = {.kind = length_kind::fixed, .length = 4},
                             .limits = {.max_tokens = 200}};

    speculation whole({target, words}, {model, pieces});
    const decode_result text = whole.generate("This module provides", settings);
    std::cout << "all " << pieces.vocabulary_size()
              << " rows: " << text.counts.tokens_per_target_call() << " tokens a target call\n";

    token_frequencies<draft_id> counts(pieces.vocabulary_size());
    std::vector<draft_id> written;
    pieces.encode(text.text, encode_mode::start, written);
    counts.add(written);
    for (const double share : {1.0, 0.9, 0.7}) {
        const token_list<draft_id> list = counts.covering(share);
        engine::lm_head<draft_id> head(model.engine());
        trimmed_head few(head, list, head_rows::copied);
        headed_model trimmed(model, few);
        speculation pair({target, words}, {trimmed, pieces});
        const decode_result again = pair.generate("This module provides", settings);
        std::cout << list.size() << " rows, " << 100 * counts.coverage(list)
                  << " % of the text: " << again.counts.tokens_per_target_call()
                  << " tokens a target call\n";
        if (again.text != text.text)
            return std::cerr << "another text\n", 1;
    }
    if (!std::cout.flush())
        return std::cerr << "standard output: cannot be written\n", 1;
} catch (const std::exception& e) {
    std::cerr << e.what() << "\n";
    return 1;
}
