// docs/use/speculation.md, docs/adapt/block-drafters.md: any rule by its name, over toy models.
#include <iostream>
#include <span>
#include <vector>

#include <specdec/draft/block_model.hpp>
#include <specdec/speculation/speculation.hpp>

#include "tests/support/text_model.hpp"
#include "tests/support/tiny_tokenizer.hpp"

using namespace specdec;

/// Blocks of one place.
struct my_block_engine : testing::text_model<draft_id> {
    using text_model::text_model;
    std::size_t block_size() const { return 1; }
    logits_rows<draft_id> score_block(std::span<const draft_id> ids) { return score(ids).last(1); }
};

int main() {
    const testing::tiny_tokenizer<target_id> words({"a", "b", "ab"});
    const testing::tiny_tokenizer<draft_id> pieces({"b", "a"});
    testing::text_model<target_id> target(words.table());
    testing::text_model<draft_id> draft(pieces.table());
    // THE BLOCK
}
