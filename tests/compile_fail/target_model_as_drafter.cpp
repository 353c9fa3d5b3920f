// SPDX-License-Identifier: MIT
// A target's model as drafter.
// build error: (constraints not satisfied|constraint failure|no viable constructor|no matching)
#include <specdec/draft/model_drafter.hpp>

#include "../support/whole_model.hpp"

using namespace specdec;

int main() {
    testing::whole_model m;
    model_drafter drafter(m);
}
