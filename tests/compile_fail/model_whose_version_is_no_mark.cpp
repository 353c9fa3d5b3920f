// SPDX-License-Identifier: MIT
// A side of a pair whose model has a version() that cannot be asked of a const model.
// build error: version: expected a member .law_version version.. const.
#include <specdec/speculation/side.hpp>

#include "../support/whole_model.hpp"

using namespace specdec;

struct model : testing::whole_model {
    law_version version() { return 1; }
};

int main() {
    model m;
    testing::whole_tokenizer t;
    const speculation_side<target_id> side{m, t};
}
