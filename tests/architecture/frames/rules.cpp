// docs/use/choosing-a-rule.md, "In code": the bridges and verifiers over two tokenizers.
#include <specdec/bridge/tree/slem_tree_bridge.hpp>
#include <specdec/bridge/tree/tree_bridge.hpp>
#include <specdec/decode/session.hpp>
#include <specdec/specdec.hpp>
#include <specdec/verify/tree/tree_exact_match.hpp>
#include <specdec/vocab/table/intersection.hpp>

#include "tests/support/tiny_tokenizer.hpp"

using namespace specdec;

int main() {
    const testing::tiny_tokenizer<target_id> words({"a", "b", "ab"});
    const testing::tiny_tokenizer<draft_id> pieces({"b", "a"});
    const id_map shared = intersect(pieces, words);
    const session_settings settings{.capacity = 1024};
    // THE BLOCK
}
