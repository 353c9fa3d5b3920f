// SPDX-License-Identifier: MIT
// A constant stop rule that is handed over, though request_row() asks it.
// build error: (use of deleted function|call to deleted member function)
#include <utility>

#include <specdec/specdec.hpp>

using namespace specdec;

int main() {
    no_drafter nobody;
    philox_coin coin(1);
    const fixed_length four{4};
    session decoder(no_bridge{}, exact_match{}, session_settings{});
    decoder.begin_draft(nobody, std::move(four), coin, 8);
}
