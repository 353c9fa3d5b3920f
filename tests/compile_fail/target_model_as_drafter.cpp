// SPDX-License-Identifier: MIT
// A target's model as drafter.
// build error: (constraints not satisfied|constraint failure|no viable constructor|no matching)
#include <specdec/draft/model_drafter.hpp>

using namespace specdec;

struct model {
    std::size_t size() const { return 0; }
    std::size_t capacity() const { return 0; }
    std::size_t vocabulary_size() const { return 0; }
    void append(std::span<const target_id>) {}
    logits_rows<target_id> score(std::span<const target_id>) { return {}; }
    void truncate(std::size_t) {}
};

int main() {
    model m;
    model_drafter drafter(m);
}
