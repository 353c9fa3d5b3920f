// SPDX-License-Identifier: MIT
// A stop rule that has an optional member, but does not declare it.
// build error: expected to declare the optional members that T has, and no others
#include <specdec/specdec.hpp>

using namespace specdec;

struct sure_enough : fixed_length {
    row_reading reads() const { return row_reading::sureness; }
};

int main() {
    return static_cast<int>(reading_of(sure_enough{}));
}
