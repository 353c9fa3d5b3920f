// SPDX-License-Identifier: MIT
// A grammar on both sides: whatever the models would rather say, what is written is a JSON object.
// The mask of the target makes it so; the drafter's makes its drafts worth proposing.
#include <cstddef>
#include <exception>
#include <iostream>
#include <string_view>
#include <vector>

#include "support/pair/engine.hpp"
#include "support/pair/loaded_pair.hpp"
#include "support/text/json_grammar.hpp"
#include <specdec/process/grammar_mask.hpp>
#include <specdec/process/token_bias.hpp>
#include <specdec/vocab/table/byte_order.hpp>

using namespace specdec;

namespace {

constexpr std::string_view example = R"(The settings of the server as JSON:

{"host":"localhost","port":8080}

The settings of the client as JSON:

)";

} // namespace

int main() try {
    const examples::loaded_pair pair = examples::load_pair(*examples::make_engine(), {});
    const auto& words = pair->target_tokenizer();
    const auto& pieces = *pair->draft_tokenizer();
    const byte_order<target_id> word_order(words);
    const byte_order<draft_id> piece_order(pieces);
    const std::vector<target_id> ends(pair->end_tokens().begin(), pair->end_tokens().end());
    std::vector<target_id> prompt;
    pair->encode(example, encode_mode::start, prompt);
    std::size_t prompt_bytes = 0;
    for (const target_id t : prompt)
        prompt_bytes += words.bytes(t).size();

    text_request plain{.prompt = prompt};
    plain.process = grammar_mask(json_object{}, words, word_order, prompt_bytes, ends);
    text_request masked = plain;
    masked.process_draft = grammar_mask(json_object{}, pieces, piece_order, prompt_bytes,
                                        mirrored(ends, *pair->map()));
    decode_settings s{.rule = rule::slem,
                      .lengths = {.kind = length_kind::fixed, .length = 4},
                      .limits = {.max_tokens = 1024}};
    const auto write = [&](const text_request& text) {
        return pair->run({&text, 1}, s).texts.front();
    };
    bool same = true;
    for (s.seed = 1; s.seed <= 4; ++s.seed) {
        s.rule = rule::slem;
        const decode_result both = write(masked), one = write(plain);
        s.rule = rule::autoregressive;
        same = same && both.text == one.text && both.text == write(plain).text;
        std::cout << both.text << "\n    " << both.counts.tokens_per_target_call()
                  << " tokens a call, " << one.counts.tokens_per_target_call()
                  << " where the drafter is not masked\n";
    }
    std::cout << (same ? "The same answers without a drafter.\n" : "Different answers!\n");
    return std::cout.flush() ? 0 : (std::cerr << "standard output: cannot be written\n", 1);
} catch (const std::exception& e) {
    std::cerr << e.what() << "\n";
    return 1;
}
