// SPDX-License-Identifier: MIT
// A side of a pair whose model declares an optional member and misspells it.
// build error: expected to declare the optional members that T has, and no others
#include <specdec/speculation/side.hpp>

#include "../support/whole_model.hpp"

using namespace specdec;

struct model : testing::whole_model {
    static constexpr model_traits traits{.begin_draft_round = true};
    void begin_round(std::size_t) {}
};

int main() {
    model m;
    testing::whole_tokenizer t;
    const speculation_side<target_id> side{m, t};
}
