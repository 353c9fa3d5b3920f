// SPDX-License-Identifier: MIT
#include <specdec/bridge/retokenised_context.hpp>

#include <random>
#include <vector>

#include <catch2/catch.hpp>

#include "../support/script_drafter.hpp"
#include "../support/toy_pair.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace {

std::vector<draft_id> joined(std::vector<draft_id> a, const std::vector<draft_id>& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

} // namespace

TEST_CASE("a target token that the drafter lacks becomes several draft tokens") {
    const toy_pair two;
    words_context context(two.target, two.draft, two.map, 64);
    context.start({});
    context.follow(std::vector{target_id{8}}); // abc
    CHECK(copy_of(context.ids()) == two.encode_draft("abc"));
    CHECK(context.ids().size() == 3);
}

TEST_CASE("tokens of the drafter reach over the target's") {
    const toy_pair two;
    words_context context(two.target, two.draft, two.map, 64);
    context.start({});
    context.follow(two.encode("b"));
    context.mark();
    context.follow(two.encode("a")); // b a became ba
    CHECK(copy_of(context.ids()) == std::vector{draft_id{3}});
    CHECK(context.unchanged() == 0);
}

TEST_CASE("a control token becomes its equivalent, or nothing, never UNK") {
    const toy_pair two;
    words_context context(two.target, two.draft, two.map, 64);
    context.start(std::vector{toy_pair::bos});
    context.follow(two.encode("ab"));
    context.follow(std::vector{toy_pair::mark});
    CHECK(copy_of(context.ids()) == joined({toy_pair::bos}, two.encode_draft("ab")));
    context.follow(std::vector{toy_pair::end});
    context.follow(two.encode("a"));
    CHECK(copy_of(context.ids()) ==
          joined(joined(joined({toy_pair::bos}, two.encode_draft("ab")), {toy_pair::stop}),
                 two.encode_draft("a")));
}

TEST_CASE("no draft token reaches over a control token that both have") {
    const toy_pair two;
    words_context context(two.target, two.draft, two.map, 64);
    context.start({});
    context.follow(two.encode("b"));
    context.follow(std::vector{toy_pair::end});
    context.follow(two.encode("a"));
    CHECK(copy_of(context.ids()) == std::vector{draft_id{5}, toy_pair::stop, draft_id{1}});
}

TEST_CASE("random commits: the context is the retokenised text, unchanged() is honest") {
    const toy_pair two;
    std::mt19937 random(4);
    for (int run = 0; run < 100; ++run) {
        words_context context(two.target, two.draft, two.map, 64);
        context.start(std::vector{toy_pair::bos});
        std::string text;
        std::vector<draft_id> marked;
        for (int step = 0; step < 30; ++step) {
            std::vector<target_id> committed;
            for (std::size_t n = random() % 4; n > 0; --n) {
                const auto id = target_id{static_cast<std::int32_t>(1 + random() % 8)};
                committed.push_back(id);
                text += two.target.bytes(id);
            }
            context.follow(committed);
            const auto ids = copy_of(context.ids());
            REQUIRE(ids == joined({toy_pair::bos}, two.encode_draft(text)));
            REQUIRE(context.unchanged() <= ids.size());
            REQUIRE(context.unchanged() <= marked.size());
            for (std::size_t i = 0; i < context.unchanged(); ++i)
                REQUIRE(ids[i] == marked[i]);
            if (random() % 2 == 0) {
                context.mark();
                marked = ids;
                REQUIRE(context.unchanged() == ids.size());
            }
        }
    }
}
