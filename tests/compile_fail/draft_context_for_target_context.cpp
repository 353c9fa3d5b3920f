// SPDX-License-Identifier: MIT
// The drafter's tokens fed to the target.
// build error: (could not convert|cannot convert|no viable conversion|no matching)
#include <span>

#include <specdec/bridge/no_bridge.hpp>
#include <specdec/decode/session.hpp>
#include <specdec/verify/exact_match.hpp>

int main() {
    specdec::session session(specdec::no_bridge{}, specdec::exact_match{}, {});
    const specdec::draft_id prompt[1] = {specdec::draft_id{1}};
    session.start(std::span<const specdec::draft_id>(prompt));
}
