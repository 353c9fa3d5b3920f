// SPDX-License-Identifier: MIT
// A bridge that drafts in steps, but lacks some of them.
// build error: T::traits: expected to declare the optional members that T
#include <specdec/specdec.hpp>

using namespace specdec;

struct half_stepped : no_bridge {
    static constexpr bridge_traits traits{.in_steps = true};
    draft_step request_row(no_drafter&, const fixed_length&) { return {}; }
};

int main() {
    no_drafter nobody;
    philox_coin coin(1);
    const fixed_length stop{4};
    session decoder(half_stepped{}, exact_match{}, session_settings{});
    decoder.begin_draft(nobody, stop, coin, 8);
}
