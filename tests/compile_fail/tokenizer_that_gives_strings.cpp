// SPDX-License-Identifier: MIT
// A side of a pair whose tokenizer gives strings that nobody keeps.
// build error: tokenizer: expected a member .std::string_view bytes.Id id. const.
#include <string>

#include <specdec/speculation/side.hpp>

#include "../support/whole_model.hpp"

using namespace specdec;

struct tokenizer : testing::whole_tokenizer {
    std::string bytes(target_id) const { return {}; }
};

int main() {
    testing::whole_model m;
    tokenizer t;
    const speculation_side<target_id> side{m, t};
}
