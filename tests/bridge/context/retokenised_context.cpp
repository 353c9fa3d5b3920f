// SPDX-License-Identifier: MIT
#include <specdec/bridge/context/retokenised_context.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "support/counting_tokenizer.hpp"
#include "support/holds.hpp"
#include "support/script_drafter.hpp"
#include "support/toy_pair.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace {

std::vector<draft_id> joined(std::vector<draft_id> a, const std::vector<draft_id>& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

} // namespace

// What is borrowed has a name: a temporary would be gone before use.
template <class T, class D, class Map>
constexpr bool borrows = std::is_constructible_v<words_context, T, D, Map, std::size_t>;
static_assert(borrows<target_words&, draft_words&, id_map&>);
static_assert(!borrows<target_words, draft_words&, id_map&>);
static_assert(!borrows<target_words&, draft_words, id_map&>);
static_assert(!borrows<target_words&, draft_words&, id_map>);

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

TEST_CASE("a context that nobody asks for encodes nothing, and then all at once") {
    const toy_pair two;
    const counting_tokenizer<draft_id> draft{two.draft};
    std::mt19937 random(5);
    for (int run = 0; run < 40; ++run) {
        retokenised_context context(two.target, draft, two.map, 1024);
        words_context eager(two.target, two.draft, two.map, 1024);
        for (int text = 0; text < 2; ++text) { // what was noted of the first is forgotten
            context.start(std::vector{toy_pair::bos});
            eager.start(std::vector{toy_pair::bos});
            const std::size_t before = draft.encodes;
            std::size_t bytes = 0, specials = 0;
            for (int i = 0; i < 300; ++i) {
                const auto id = target_id{static_cast<std::int32_t>(
                    random() % 40 == 0 ? 0 : 1 + random() % 8)}; // now and then the end token
                bytes += two.target.bytes(id).size();
                specials += two.target.bytes(id).empty() ? 1U : 0U;
                context.follow(std::vector{id});
                eager.follow(std::vector{id});
                (void)eager.ids();
            }
            CHECK(draft.encodes == before);
            if (text == 0)
                continue;
            REQUIRE(copy_of(context.ids()) == copy_of(eager.ids()));
            CHECK(context.unchanged() == 0);
            const std::size_t once = draft.encodes - before;
            CHECK(once > 0);
            CHECK(once < 8 * (1 + bytes / 64) + 2 * specials); // not a token at a time
            (void)context.ids();
            context.mark();
            CHECK(context.unchanged() == context.ids().size());
            CHECK(draft.encodes == before + once);
        }
    }
}

TEST_CASE("any commits: the context is the retokenised text, unchanged() is honest") {
    const toy_pair two;
    require_holds([&] {
        words_context context(two.target, two.draft, two.map, 128);
        context.start(std::vector{toy_pair::bos});
        std::string text;
        std::vector<draft_id> marked;
        // What is committed, and whether the context is marked then.
        for (const auto& [tokens, mark] :
             *up_to(30, rc::gen::pair(up_to(3, any_in(1, 8)), rc::gen::arbitrary<bool>()))) {
            std::vector<target_id> committed;
            for (const std::size_t t : tokens) {
                committed.push_back(id_at<target_id>(t));
                text += two.target.bytes(committed.back());
            }
            context.follow(committed);
            const auto ids = copy_of(context.ids());
            RC_ASSERT(ids == joined({toy_pair::bos}, two.encode_draft(text)));
            RC_ASSERT(context.unchanged() <= std::min(ids.size(), marked.size()));
            for (std::size_t i = 0; i < context.unchanged(); ++i)
                RC_ASSERT(ids[i] == marked[i]);
            if (mark) {
                context.mark();
                marked = ids;
                RC_ASSERT(context.unchanged() == ids.size());
            }
        }
    });
}
