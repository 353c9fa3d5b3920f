// SPDX-License-Identifier: MIT
// A rule of chains with a bridge whose drafts branch.
// build error: a bridge of trees goes with a verifier of trees, one of chains with one of chains
#include <specdec/bridge/tree/tree_bridge.hpp>
#include <specdec/specdec.hpp>

using namespace specdec;

int main() {
    session decoder(identity_tree_bridge(identity_map(4, 4), shared_context(4, 16), {}),
                    token_rejection{}, session_settings{});
}
