// SPDX-License-Identifier: MIT
// A bridge with a member that its traits do not name: nobody would call it.
// build error: T::traits: expected to declare the optional members that T
#include <specdec/specdec.hpp>

using namespace specdec;

struct sharing : no_bridge {
    void share_pass(std::size_t) {}
};

int main() {
    session decoder(sharing{}, exact_match{}, session_settings{});
}
