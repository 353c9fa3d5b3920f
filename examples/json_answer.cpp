// SPDX-License-Identifier: MIT
// A grammar on both sides: whatever the models would rather say, what is written is a JSON object.
// The mask of the target makes it so; the drafter's makes its drafts worth proposing.
#include <cstddef>
#include <cstdint>
#include <exception>
#include <iostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <specdec/reference/load.hpp>
#include <specdec/reference/model.hpp>
#include <specdec/reference/tokenizer/load_tokenizer.hpp>
#include <specdec/specdec.hpp>
#include <specdec/vocab/intersection.hpp>

#include "support/json_grammar.hpp"

using namespace specdec;

namespace {

const std::string models = SPECDEC_SOURCE_DIR "/models/";
constexpr std::size_t capacity = 1024;
constexpr std::string_view example = R"(The settings of the server as JSON:

{"host":"localhost","port":8080}

The settings of the client as JSON:

)";

struct answer {
    std::string text;
    double tokens_a_call = 0;
};

} // namespace

int main() try {
    const reference::tokenizer_of<target_id> words(
        reference::load_tokenizer(models + "docs-target"));
    const reference::tokenizer_of<draft_id> pieces(
        reference::load_tokenizer(models + "docs-drafter"));
    const id_map shared = intersect(pieces, words);
    const byte_order<target_id> word_order(words);
    const byte_order<draft_id> piece_order(pieces);
    reference::model<target_id> target(reference::load_transformer(models + "docs-target"));
    reference::model<draft_id> draft(reference::load_transformer(models + "docs-drafter"));

    std::vector<target_id> prompt;
    words.encode(example, text_position::start, prompt);
    std::size_t prompt_bytes = 0;
    for (const target_id t : prompt)
        prompt_bytes += words.bytes(t).size();
    const std::vector<target_id> ends{target_id{0}}; // <|endoftext|>

    const auto write = [&](auto bridge, auto& drafter, std::uint64_t seed) {
        session text(
            std::move(bridge), exact_match{}, {.capacity = capacity, .end_ids = ends},
            processed_rows(words.vocabulary_size(),
                           grammar_mask(json_object{}, words, word_order, prompt_bytes, ends)));
        text.start(prompt);
        philox_coin coin(seed);
        std::string written;
        generate(text, target, drafter, fixed_length{4}, coin, words, {.max_tokens = capacity},
                 text_reader([&](std::string_view bytes, token_origin) { written += bytes; }));
        return answer{written, text.counts().tokens_per_target_call()};
    };

    bool same = true;
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
        model_drafter plain(draft);
        processed_drafter masked(plain, grammar_mask(json_object{}, pieces, piece_order,
                                                     prompt_bytes, mirrored(ends, shared)));
        no_drafter none;
        const auto slem = [&] { return slem_bridge(words, pieces, shared, capacity, 4); };
        const answer both = write(slem(), masked, seed), one = write(slem(), plain, seed);
        same = same && both.text == one.text && both.text == write(no_bridge{}, none, seed).text;
        std::cout << both.text << "\n    " << both.tokens_a_call << " tokens a call, "
                  << one.tokens_a_call << " where the drafter is not masked\n";
    }
    std::cout << (same ? "The same answers without a drafter.\n" : "Different answers!\n");
    return std::cout.flush() ? 0 : (std::cerr << "standard output: cannot be written\n", 1);
} catch (const std::exception& e) {
    std::cerr << e.what() << "\n";
    return 1;
}
