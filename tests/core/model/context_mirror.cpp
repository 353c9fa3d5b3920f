// SPDX-License-Identifier: MIT
#include <specdec/core/model/context_mirror.hpp>

#include <random>
#include <vector>

#include <catch2/catch.hpp>

#include <specdec/core/token_id.hpp>

using namespace specdec;

namespace {

using ids = std::vector<target_id>;

ids random_ids(std::mt19937& random, std::size_t most) {
    ids result(random() % (most + 1));
    for (target_id& id : result)
        id = target_id{static_cast<std::int32_t>(random() % 2)};
    return result;
}

/// The same by its definition.
std::size_t common_prefix(const ids& held, const ids& wanted) {
    std::size_t n = 0;
    while (n < held.size() && n + 1 < wanted.size() && held[n] == wanted[n])
        ++n;
    return n;
}

} // namespace

TEST_CASE("an empty context is fed everything") {
    const context_mirror<target_id> mirror;
    const ids wanted{target_id{4}, target_id{5}};
    const auto edit = mirror.plan(wanted, 0);
    CHECK(edit.truncate_to == 0);
    CHECK(edit.append.size() == 2);
    CHECK(edit.append.data() == wanted.data()); // a view, not a copy
}

TEST_CASE(
    "the last token is fed again when nothing else is new, for only a fed token yields a row") {
    context_mirror<target_id> mirror;
    const ids wanted{target_id{4}, target_id{5}, target_id{6}};
    mirror.fed(wanted);
    const auto edit = mirror.plan(wanted, 3);
    CHECK(edit.truncate_to == 2);
    CHECK(edit.append.size() == 1);
}

TEST_CASE("a context longer than wanted is cut") {
    context_mirror<target_id> mirror;
    mirror.fed(ids{target_id{1}, target_id{2}, target_id{3}, target_id{4}});
    const ids wanted{target_id{1}, target_id{2}};
    CHECK(mirror.plan(wanted, 0).truncate_to == 1);
    CHECK(mirror.plan(wanted, 2).truncate_to == 1);
}

TEST_CASE("random edits: the shortest, from scratch and from what is known to be unchanged") {
    std::mt19937 random(1);
    for (int run = 0; run < 200; ++run) {
        context_mirror<target_id> mirror;
        mirror.reserve(16);
        ids held, last; // what the model holds; what was planned and fed last
        for (int step = 0; step < 30; ++step) {
            switch (random() % 4) {
            case 0: { // the engine loses its end
                const std::size_t n = random() % (held.size() + 3);
                mirror.truncated(n);
                if (n < held.size())
                    held.resize(n);
                break;
            }
            default: {
                ids wanted = random_ids(random, 12);
                if (wanted.empty())
                    wanted.push_back(target_id{0});
                std::size_t same = 0;
                while (same < last.size() && same < wanted.size() && last[same] == wanted[same])
                    ++same;
                const std::size_t known = random() % (same + 1);
                const auto edit = mirror.plan(wanted, known);
                REQUIRE(edit.truncate_to == common_prefix(held, wanted));
                REQUIRE(ids(edit.append.begin(), edit.append.end()) ==
                        ids(wanted.begin() + static_cast<std::ptrdiff_t>(edit.truncate_to),
                            wanted.end()));
                mirror.truncated(edit.truncate_to);
                mirror.fed(edit.append);
                held.resize(edit.truncate_to);
                held.insert(held.end(), edit.append.begin(), edit.append.end());
                REQUIRE(held == wanted);
                last = wanted;
            }
            }
            REQUIRE(mirror.size() == held.size());
        }
    }
}
