// SPDX-License-Identifier: MIT
#include <specdec/speculation/any/cancel_check.hpp>

#include <catch2/catch.hpp>

using specdec::cancel_check;

namespace cancel_check_tests {

bool yes() {
    return true;
}
struct counter {
    int asked = 0;
    bool operator()() { return ++asked > 1; }
};
struct fixed_answer {
    int operator()() const { return 1; }
};

static_assert(!std::is_constructible_v<cancel_check, counter>); // gone before use
static_assert(!std::is_constructible_v<cancel_check, int>);
static_assert(std::is_convertible_v<counter&, cancel_check>);

TEST_CASE("cancel check: nothing, a function, a lambda without a state, anything by name") {
    cancel_check check;
    CHECK_FALSE(static_cast<bool>(check));
    CHECK_FALSE(check());
    check = yes;
    CHECK(static_cast<bool>(check));
    CHECK(check());
    check = [] { return false; };
    CHECK(static_cast<bool>(check));
    CHECK_FALSE(check());
    counter state;
    check = state;
    CHECK_FALSE(check());
    const cancel_check copy = check;
    CHECK(copy());
    CHECK(state.asked == 2);
    const fixed_answer constant;
    check = constant;
    CHECK(check());
    check = nullptr;
    CHECK_FALSE(static_cast<bool>(check));
    CHECK_FALSE(check());
}

} // namespace cancel_check_tests
