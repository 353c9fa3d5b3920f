// SPDX-License-Identifier: MIT
// A tokenizer that ends with the expression, though the text asks it for every token's bytes.
// build error: (use of deleted function|call to deleted constructor)
#include <specdec/specdec.hpp>

using namespace specdec;

struct letters {
    std::size_t vocabulary_size() const { return 2; }
    std::string_view bytes(target_id) const { return "a"; }
    void encode(std::string_view, encode_mode, std::vector<target_id>&) const {}
};

int main() {
    no_drafter nobody;
    philox_coin coin(1);
    const fixed_length four{4};
    silent_reader reader;
    session decoder(no_bridge{}, exact_match{}, session_settings{});
    text_run text(decoder, nobody, four, coin, letters{}, {}, reader);
    (void)text;
}
