// SPDX-License-Identifier: MIT
// A drafter made of a model of the target: the compiler names what takes the other ids.
// build error: model: expected a member .void append.std::span<const Id> ids.., Id as the side
#include <cstddef>
#include <span>

#include <specdec/speculation/any/any_model.hpp>

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
    const any_batch_model<draft_id> drafter(m);
}
