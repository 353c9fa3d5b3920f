// SPDX-License-Identifier: MIT
// A side of a pair whose model cannot forget tokens: the compiler names the member.
// build error: model: expected a member .void truncate.std::size_t n..
#include <specdec/speculation/side.hpp>

#include "../support/whole_model.hpp"

using namespace specdec;

struct model : testing::whole_model {
    void truncate(std::size_t) = delete;
};

int main() {
    model m;
    testing::whole_tokenizer t;
    const speculation_side<target_id> side{m, t};
}
