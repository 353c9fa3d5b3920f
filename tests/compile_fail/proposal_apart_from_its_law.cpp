// SPDX-License-Identifier: MIT
// A proposal put together from a law and a token that was not drawn from it.
// build error: (is private within this context|calling a private constructor)
#include <specdec/core/proposal.hpp>

int main() {
    using law = specdec::one_hot_law<specdec::target_id>;
    const specdec::proposal<law> x(law(specdec::target_id{1}), specdec::target_id{2});
    return x.token().value;
}
