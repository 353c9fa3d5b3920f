// SPDX-License-Identifier: MIT
#include <specdec/speculation/any/any_row_processor.hpp>

#include <cstddef>
#include <span>

#include <catch2/catch.hpp>

#include <specdec/core/token_id.hpp>

using namespace specdec;

namespace any_row_processor_tests {

struct counts {
    std::size_t reserved = 0, calls = 0;
    bool active = false;
};
struct processor {
    static constexpr processor_traits traits{.reserve = true, .active = true};
    counts* c;
    [[nodiscard]] bool active() const { return c->active; }
    void reserve(std::size_t tokens) const { c->reserved = tokens; }
    void operator()(std::span<const target_id> tokens, std::span<float> row) const {
        ++c->calls;
        row[0] = static_cast<float>(tokens.size());
    }
};

TEST_CASE("any row processor is active and reserves as what it holds, or is none") {
    counts c;
    any_row_processor<target_id> any = processor{&c};
    CHECK_FALSE(any.active());
    any.reserve(9);
    CHECK(c.reserved == 9);
    c.active = true;
    CHECK(any.active());
    CHECK(c.calls == 0);
    float row[] = {7, 8};
    const target_id tokens[] = {target_id{1}, target_id{2}, target_id{3}};
    any(tokens, row);
    CHECK(c.calls == 1);
    CHECK(row[0] == 3);

    any = [](std::span<const target_id>, std::span<float> of) { of[1] = 1; };
    CHECK(any.active());
    any.reserve(9);
    any({}, row);
    CHECK(row[1] == 1);

    any_row_processor<target_id> none;
    CHECK_FALSE(none.active());
    none.reserve(9);
}

} // namespace any_row_processor_tests
