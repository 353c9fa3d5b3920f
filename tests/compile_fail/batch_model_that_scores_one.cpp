// SPDX-License-Identifier: MIT
// A side of a pair whose model of several sequences scores one.
// build error: model of several sequences: expected a member .logits_rows<Id> score
#include <specdec/speculation/side.hpp>

#include "../support/whole_model.hpp"

using namespace specdec;

struct model {
    std::size_t sequences() const { return 2; }
    std::size_t size(std::size_t) const { return 0; }
    std::size_t capacity() const { return 0; }
    std::size_t vocabulary_size() const { return 0; }
    void append(std::size_t, std::span<const target_id>) {}
    logits_rows<target_id> score(std::span<const target_id>) { return {}; }
    void truncate(std::size_t, std::size_t) {}
};

int main() {
    model m;
    testing::whole_tokenizer t;
    const speculation_side<target_id> side{m, t};
}
