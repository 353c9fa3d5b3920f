// SPDX-License-Identifier: MIT
// An id of the drafter where one of the target is expected.
// build error: (could not convert|no viable conversion|no matching function|cannot convert)
#include <specdec/core/proposal.hpp>

int main() {
    return specdec::certain(specdec::draft_id{1}).token().value;
}
