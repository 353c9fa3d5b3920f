// SPDX-License-Identifier: MIT
// A side of a pair whose model has an optional member, but does not declare it.
// build error: expected to declare the optional members that T has, and no others
#include <specdec/speculation/side.hpp>

#include "../support/whole_model.hpp"

using namespace specdec;

struct model : testing::whole_model {
    bool lazy_append() const { return true; }
};

int main() {
    model m;
    testing::whole_tokenizer t;
    const speculation_side<target_id> side{m, t};
}
