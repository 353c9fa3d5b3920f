// SPDX-License-Identifier: MIT
// Settings with a question whose state ends with the expression.
// build error: (use of deleted function|invokes a deleted function)
#include <specdec/speculation/text.hpp>

using namespace specdec;

int main() {
    int rounds = 0;
    const auto late = [&] { return ++rounds > 10; };
    decode_settings settings;
    settings.cancelled = [] { return false; };
    settings.cancelled = late;
    settings.cancelled = [&] { return ++rounds > 10; };
}
