// SPDX-License-Identifier: MIT
// A bridge whose traits promise a member that it has under another name.
// build error: T::traits: expected to declare the optional members that T
#include <specdec/specdec.hpp>

using namespace specdec;

struct sharing : no_bridge {
    static constexpr bridge_traits traits{.shares_pass = true};
    void share_passes(std::size_t) {}
};

int main() {
    session decoder(sharing{}, exact_match{}, session_settings{});
    decoder.share_pass(2);
}
