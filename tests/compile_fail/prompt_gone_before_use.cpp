// SPDX-License-Identifier: MIT
// A request for a text whose prompt ends with the expression.
// build error: (use of deleted function|deleted constructor|deleted function)
#include <vector>

#include <specdec/speculation/text.hpp>

using namespace specdec;

std::vector<target_id> encode() {
    return {target_id{1}};
}

int main() {
    const std::vector<target_id> kept = encode();
    const text_request good{.prompt = kept};
    const text_request gone{.prompt = encode()};
}
