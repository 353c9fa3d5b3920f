// SPDX-License-Identifier: MIT
// A side of a pair whose model of several sequences scores one.
// build error: model of several sequences: expected a member .logits_rows<Id> score
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include <specdec/speculation/side.hpp>

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
struct tokenizer {
    std::size_t vocabulary_size() const { return 0; }
    std::string_view bytes(target_id) const { return {}; }
    void encode(std::string_view, encode_mode, std::vector<target_id>&) const {}
};

int main() {
    model m;
    tokenizer t;
    const speculation_side<target_id> side{m, t};
}
