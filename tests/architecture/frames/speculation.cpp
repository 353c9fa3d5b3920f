// docs/use/speculation.md: any rule by its name, over two toy models.
#include <iostream>
#include <vector>

#include <specdec/speculation/speculation.hpp>

#include "tests/support/text_model.hpp"
#include "tests/support/tiny_tokenizer.hpp"

using namespace specdec;

int main() {
    const testing::tiny_tokenizer<target_id> words({"a", "b", "ab"});
    const testing::tiny_tokenizer<draft_id> pieces({"b", "a"});
    testing::text_model<target_id> target(words.table());
    testing::text_model<draft_id> draft(pieces.table());
    // THE BLOCK
}
