// SPDX-License-Identifier: MIT
// A table that views the bytes of a tokenizer that ends with the expression.
// build error: (use of deleted function|call to deleted|deleted constructor)
#include <cstddef>
#include <string_view>
#include <vector>

#include <specdec/vocab/table/byte_order.hpp>

using namespace specdec;

struct tokenizer {
    std::size_t vocabulary_size() const { return 1; }
    std::string_view bytes(draft_id) const { return "a"; }
    void encode(std::string_view, encode_mode, std::vector<draft_id>&) const {}
};

int main() {
    const tokenizer kept;
    const byte_order<draft_id> good(kept);
    const byte_order<draft_id> gone(tokenizer{});
    const byte_order<draft_id> gone_too{tokenizer{}};
}
