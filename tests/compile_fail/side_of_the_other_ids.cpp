// SPDX-License-Identifier: MIT
// A drafter made of a model of the target: the compiler names what takes the other ids.
// build error: model: expected a member .void append.std::span<const Id> ids.., Id as the side
#include <specdec/speculation/any/any_model.hpp>

#include "../support/whole_model.hpp"

using namespace specdec;

int main() {
    testing::whole_model m;
    const any_batch_model<draft_id> drafter(m);
}
