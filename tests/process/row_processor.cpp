// SPDX-License-Identifier: MIT
#include <specdec/process/row_processor.hpp>

#include <vector>

#include <catch2/catch.hpp>

#include <specdec/core/error.hpp>

using namespace specdec;

namespace {

struct add_size {
    static constexpr processor_traits traits{.reserve = true};
    std::size_t* reserved;
    void reserve(std::size_t n) { *reserved += n; }
    void operator()(std::span<const target_id> tokens, std::span<float> row) const {
        row[0] += static_cast<float>(tokens.size());
    }
};
const auto twice = [](auto, std::span<float> row) { row[0] *= 2; };

static_assert(RowProcessor<add_size, target_id> && !RowProcessor<add_size, draft_id>);
static_assert(RowProcessor<chain<>, target_id> && RowProcessor<chain<>, draft_id>);
static_assert(RowProcessor<chain<add_size, decltype(twice)>, target_id>);
static_assert(!RowProcessor<chain<add_size, decltype(twice)>, draft_id>);

struct sometimes {
    static constexpr processor_traits traits{.active = true};
    bool on = false;
    [[nodiscard]] bool active() const { return on; }
    void operator()(std::span<const target_id>, std::span<float> row) const {
        if (!on)
            throw error("sometimes", "active", "expected before it is asked");
        row[0] += 1;
    }
};

} // namespace

TEST_CASE("processors of a chain work one behind the other") {
    std::size_t reserved = 0;
    const std::vector tokens{target_id{1}, target_id{2}, target_id{3}};
    const auto run = [&](auto processor) {
        std::vector<float> row{1};
        reserve_tokens(processor, 5);
        processor(std::span<const target_id>(tokens), std::span<float>(row));
        return row[0];
    };
    CHECK(run(chain()) == 1);
    CHECK(run(chain(add_size{&reserved}, twice)) == 8);
    CHECK(run(chain(twice, add_size{&reserved})) == 5);
    CHECK(run(chain(twice, chain(add_size{&reserved}, twice), twice)) == 20);
    CHECK(reserved == 15);
}

TEST_CASE("a chain asks no processor that changes nothing, and is active where one of its is") {
    const auto run = [](auto processor) {
        std::vector<float> row{1};
        processor(std::span<const target_id>(), std::span<float>(row));
        return row[0];
    };
    CHECK(run(chain(sometimes{false}, twice, sometimes{true})) == 3);
    CHECK(run(chain(sometimes{false}, chain(sometimes{false}))) == 1);
    CHECK_FALSE(is_active(chain()));
    CHECK_FALSE(is_active(chain(sometimes{false}, chain(sometimes{false}))));
    CHECK(is_active(chain(sometimes{false}, sometimes{true})));
    CHECK(is_active(chain(sometimes{false}, twice)));
}
