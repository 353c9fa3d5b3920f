// SPDX-License-Identifier: MIT
// q must be a processed law: a row of logits is none.
// build error: (constraint|LawOf)
#include <specdec/core/proposal.hpp>
#include <specdec/core/rows.hpp>

using wrong = specdec::proposal<specdec::logits_row<specdec::target_id>>;

int main() {
    return sizeof(wrong) == 0;
}
