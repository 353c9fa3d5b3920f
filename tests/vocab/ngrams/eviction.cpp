// SPDX-License-Identifier: MIT
#include <specdec/vocab/ngrams/eviction.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "support/holds.hpp"

namespace {

using namespace specdec;

static_assert(EvictionPolicy<no_eviction> && !EvictingPolicy<no_eviction>);
static_assert(EvictingPolicy<lru> && EvictingPolicy<lfu>);

constexpr std::uint32_t most = std::numeric_limits<std::uint32_t>::max();

template <class Policy>
std::vector<std::uint32_t> order(const Policy& policy) {
    std::vector<std::uint32_t> slots;
    for (std::uint32_t s = policy.victim(); s != Policy::none; s = policy.after(s))
        slots.push_back(s);
    return slots;
}

using slots = std::vector<std::uint32_t>;

TEST_CASE("frequencies saturate, and order by recency goes on there") {
    SECTION("none") {
        no_eviction policy;
        policy.reserve(1);
        policy.restore(0, most - 1);
        policy.touch(0);
        policy.touch(0);
        CHECK(policy.frequency(0) == most);
    }
    SECTION("lru") {
        lru policy;
        policy.reserve(1);
        policy.restore(0, most);
        policy.touch(0);
        CHECK(policy.frequency(0) == most);
    }
    SECTION("lfu") {
        lfu policy;
        policy.reserve(4);
        policy.restore(3, 7);
        for (std::uint32_t s : {0u, 1u, 2u})
            policy.restore(s, most);
        policy.touch(1);
        CHECK(order(policy) == slots{3, 0, 2, 1});
        policy.touch(1); // the last of its group
        CHECK(order(policy) == slots{3, 0, 2, 1});
        policy.remove(0);
        policy.remove(2);
        policy.touch(1); // alone
        policy.add(0);
        CHECK(order(policy) == slots{0, 3, 1});
        CHECK(policy.frequency(1) == most);
    }
}

/// What a policy should do, by search: the order is that of a stable sort.
class naive_policy {
public:
    explicit naive_policy(bool by_frequency) : by_frequency_(by_frequency) {}
    void add(std::uint32_t s) { used_.push_back({s, 1, ++now_}); }
    void touch(std::uint32_t s) {
        ++at(s).frequency;
        at(s).time = ++now_;
    }
    void remove(std::uint32_t s) { used_.erase(used_.begin() + (&at(s) - used_.data())); }
    bool holds(std::uint32_t s) const {
        return std::any_of(used_.begin(), used_.end(), [s](const use& u) { return u.slot == s; });
    }
    std::uint32_t frequency(std::uint32_t s) { return at(s).frequency; }
    slots in_order() {
        std::sort(used_.begin(), used_.end(), [this](const use& a, const use& b) {
            if (by_frequency_ && a.frequency != b.frequency)
                return a.frequency < b.frequency;
            return a.time < b.time;
        });
        slots found;
        for (const use& u : used_)
            found.push_back(u.slot);
        return found;
    }

private:
    struct use {
        std::uint32_t slot, frequency;
        std::size_t time;
    };
    use& at(std::uint32_t s) {
        return *std::find_if(used_.begin(), used_.end(), [s](const use& u) { return u.slot == s; });
    }
    bool by_frequency_;
    std::size_t now_ = 0;
    std::vector<use> used_;
};

TEMPLATE_TEST_CASE("policies do what naive ones do, whatever the use", "", lru, lfu) {
    const auto follow = [](const std::vector<std::pair<std::size_t, std::size_t>>& uses) {
        TestType policy;
        naive_policy naive(TestType::by_frequency);
        std::uint32_t room = 0;
        for (const auto& [slot, what] : uses) {
            const auto s = static_cast<std::uint32_t>(slot);
            if (s >= room)
                policy.reserve(room = s + 1); // grows while in use
            if (what == 10) {
                policy.clear();
                naive = naive_policy(TestType::by_frequency);
            } else if (!naive.holds(s)) {
                naive.add(s);
                policy.add(s);
            } else if (what == 9) {
                naive.remove(s);
                policy.remove(s);
            } else {
                naive.touch(s);
                policy.touch(s);
                RC_ASSERT(policy.frequency(s) == naive.frequency(s));
            }
            const slots expected = naive.in_order();
            RC_ASSERT(order(policy) == expected);
            if (what == 0) { // restore() in the order of eviction makes an equal one
                TestType again;
                again.reserve(room);
                for (const std::uint32_t t : expected)
                    again.restore(t, policy.frequency(t));
                policy = again;
                RC_ASSERT(order(policy) == expected);
            }
        }
    };
    for (const std::size_t size : {1U, 2U, 3U, 9U})
        testing::require_holds(
            [&] { follow(*up_to(400, rc::gen::pair(any_in(0, size - 1), any_in(0, 10)))); });
}

} // namespace
