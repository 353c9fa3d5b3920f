// SPDX-License-Identifier: MIT
// A stop rule that ends with the call, though request_row() asks it.
// build error: (use of deleted function|call to deleted member function)
#include <specdec/specdec.hpp>

using namespace specdec;

int main() {
    no_drafter nobody;
    philox_coin coin(1);
    session decoder(no_bridge{}, exact_match{}, session_settings{});
    decoder.begin_draft(nobody, fixed_length{4}, coin, 8);
}
