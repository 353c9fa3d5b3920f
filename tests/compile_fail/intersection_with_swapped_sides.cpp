// SPDX-License-Identifier: MIT
// intersect() takes the drafter's tokenizer first.
// build error: (no matching function|constraints not satisfied)
#include <cstddef>
#include <string_view>
#include <vector>

#include <specdec/vocab/table/intersection.hpp>

using namespace specdec;

template <class Id>
struct tokenizer {
    std::size_t vocabulary_size() const { return words.size(); }
    std::string_view bytes(Id id) const { return words.text(id.index()); }
    void encode(std::string_view, encode_mode, std::vector<Id>&) const {}
    const vocabulary& table() const { return words; }
    vocabulary words;
};

int main() {
    const tokenizer<target_id> target;
    const tokenizer<draft_id> draft;
    (void)intersect(draft, target);
    (void)intersect(target, draft);
}
