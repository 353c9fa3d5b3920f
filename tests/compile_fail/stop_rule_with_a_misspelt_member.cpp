// SPDX-License-Identifier: MIT
// A stop rule that declares an optional member and misspells it.
// build error: expected to declare the optional members that T has, and no others
#include <specdec/specdec.hpp>

using namespace specdec;

struct sure_enough : fixed_length {
    static constexpr rule_traits traits{.reads = true};
    row_reading read() const { return row_reading::sureness; }
};

int main() {
    return static_cast<int>(reading_of(sure_enough{}));
}
