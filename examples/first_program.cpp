#include <iostream>

#include <specdec/reference/load.hpp>
#include <specdec/reference/model.hpp>
#include <specdec/reference/tokenizer/load_tokenizer.hpp>
#include <specdec/specdec.hpp>
#include <specdec/vocab/intersection.hpp>

using namespace specdec;

int main() {
    const reference::tokenizer_of<target_id> words(reference::load_tokenizer("models/docs-target"));
    const reference::tokenizer_of<draft_id> pieces(
        reference::load_tokenizer("models/docs-drafter"));
    const id_map shared = intersect(pieces, words);
    reference::model<target_id> target(reference::load_transformer("models/docs-target"));
    reference::model<draft_id> draft(reference::load_transformer("models/docs-drafter"));

    model_drafter drafter(draft);
    session text(slem_bridge(words, pieces, shared, 1024, 5), exact_match{},
                 {.target = {.temperature = 0}, .draft = {.temperature = 0}, .capacity = 1024});
    std::vector<target_id> prompt;
    words.encode("This module provides", text_position::start, prompt);
    text.start(prompt);

    philox_coin coin(42);
    generate(text, target, drafter, fixed_length{5}, coin, words, {.max_tokens = 60},
             text_reader([](std::string_view bytes, token_origin) { std::cout << bytes; }));
    std::cout << "\n" << text.counts().tokens_per_target_call() << " tokens a target call\n";
    if (!std::cout.flush())
        return std::cerr << "standard output: cannot be written\n", 1;
}
