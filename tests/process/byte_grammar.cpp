// SPDX-License-Identifier: MIT
#include <specdec/process/byte_grammar.hpp>

#include <catch2/catch.hpp>

using namespace specdec;

namespace byte_grammar_tests {

/// Allows the bytes from `first` to `last`, and may end in state 1.
struct range {
    using state_type = int;
    unsigned first, last;
    [[nodiscard]] static constexpr int begin() { return 0; }
    [[nodiscard]] static constexpr bool complete(int state) { return state == 1; }
    constexpr bool step(int& state, char byte) const {
        state = 9; // a refused byte may leave any state
        const auto value = static_cast<unsigned char>(byte);
        return value >= first && value <= last;
    }
};
static_assert(ByteGrammar<range>);

TEST_CASE("a byte is forced if it is the only one and the text may not end") {
    const auto forced = [](const range& g, int state = 0) { return find_forced_byte(g, state); };
    CHECK(forced({65, 65}).any);
    CHECK(forced({65, 65}).byte == 'A');
    CHECK(forced({0, 0}).any);
    CHECK(forced({0, 0}).byte == '\0');
    CHECK(forced({255, 255}).any);
    CHECK(forced({255, 255}).byte == '\xff');
    CHECK_FALSE(forced({65, 66}).any);
    CHECK_FALSE(forced({254, 255}).any);
    CHECK_FALSE(forced({66, 65}).any); // none
    CHECK_FALSE(forced({65, 65}, 1).any);
    static_assert(find_forced_byte(range{65, 65}, 0).byte == 'A');
}

} // namespace byte_grammar_tests
