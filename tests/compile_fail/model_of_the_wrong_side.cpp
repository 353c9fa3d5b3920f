// SPDX-License-Identifier: MIT
// A drafter's model as the target of a session.
// build error: (no matching (member )?function|constraints not satisfied)
#include <cstddef>
#include <span>

#include <specdec/bridge/no_bridge.hpp>
#include <specdec/decode/session.hpp>
#include <specdec/draft/no_drafter.hpp>
#include <specdec/draft/stop_rule.hpp>
#include <specdec/sampling/coin/philox_coin.hpp>
#include <specdec/verify/exact_match.hpp>

using namespace specdec;

template <class Id>
struct model {
    std::size_t size() const { return 0; }
    std::size_t capacity() const { return 0; }
    std::size_t vocabulary_size() const { return 0; }
    void append(std::span<const Id>) {}
    logits_rows<Id> score(std::span<const Id>) { return {}; }
    void truncate(std::size_t) {}
};

int main() {
    static_assert(ModelOf<model<draft_id>, draft_id>);
    session decoder(no_bridge{}, exact_match{}, {});
    model<draft_id> target;
    no_drafter drafter;
    philox_coin coin(1);
    (void)decoder.round(target, drafter, fixed_length{}, coin, 8);
}
