// SPDX-License-Identifier: MIT
#include <specdec/core/model/context_tracker.hpp>

#include <vector>

#include <catch2/catch.hpp>

#include <specdec/core/token_id.hpp>

#include "support/counted_id.hpp"
#include "support/holds.hpp"
#include "support/ids.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace {

using ids = std::vector<target_id>;

/// The same by its definition.
std::size_t common_prefix(const ids& held, const ids& wanted) {
    std::size_t n = 0;
    while (n < held.size() && n + 1 < wanted.size() && held[n] == wanted[n])
        ++n;
    return n;
}

/// A context that tells what it holds, and when it was fed.
template <class Id>
struct telling {
    context_tracker<Id> tokens{};
    bool dropped = false; // by the engine: the size alone shows it

    [[nodiscard]] std::size_t size() const { return dropped ? 0 : tokens.size(); }
    [[nodiscard]] held_tokens<Id> held() const { return tokens.held(); }
    void truncate(std::size_t n) {
        tokens.truncated(n);
        dropped = false;
    }
};

} // namespace

TEST_CASE("a record that meets a context again compares what has changed, and no more") {
    telling<counted_id> model;
    context_tracker<counted_id> mirror;
    model.tokens.fed(std::vector<counted_id>(10000));
    CHECK(mirror.meet(model) == 0);
    const std::vector<counted_id> round(3);
    const auto meets = [&](std::size_t same) {
        return comparisons_of([&] { CHECK(mirror.meet(model) == same); });
    };
    CHECK(meets(10000) == 0);
    model.tokens.fed(round); // what this record was told of
    mirror.fed(round);
    CHECK(meets(10003) == 3);
    model.tokens.truncated(9990); // what it was not told of
    model.tokens.fed(std::vector(20, counted_id{1}));
    CHECK(meets(9990) == 1);
    CHECK(mirror.size() == 10010);
    mirror.truncated(5000); // the record alone
    CHECK(meets(5000) == 0);
    CHECK(meets(10010) == 0);
}

TEST_CASE("any turns of several records with a context: each sees what it does not know") {
    require_holds([] {
        telling<target_id> contexts[2];
        context_tracker<target_id> mirrors[2];
        const auto some = [] {
            std::vector<int> numbers;
            for (const std::size_t id : *up_to(4, any_in(0, 1)))
                numbers.push_back(static_cast<int>(id));
            return ids_of<target_id>(numbers);
        };
        for (std::size_t steps = *any_in(1, 30); steps > 0; --steps) {
            telling<target_id>& model = contexts[*any_in(0, 5) == 0 ? 1 : 0];
            context_tracker<target_id>& mirror = mirrors[*any_in(0, 1)];
            const std::size_t n = *any_in(0, 8);
            switch (*any_in(0, 7)) {
            case 0: // somebody else changes the context
                model.tokens.truncated(n);
                model.tokens.fed(some());
                break;
            case 1: // what the record is told does not happen
                mirror.truncated(n);
                mirror.fed(some());
                break;
            case 2:
                model.tokens = contexts[0].tokens;
                break;
            case 3:
                model.dropped = true;
                break;
            default: { // a turn of the record's
                const ids was = copy_of(mirror.held()), is = copy_of(model.held());
                const bool known = model.size() == is.size();
                const std::size_t same = mirror.meet(model);
                RC_ASSERT(same == (known ? common_prefix<target_id>(was, is) : 0));
                RC_ASSERT(copy_of(mirror.held()) == (known ? is : ids()));
                if (*any_in(0, 1) == 0)
                    break;
                model.tokens.truncated(n);
                mirror.truncated(n);
                const ids more = some();
                model.tokens.fed(more);
                mirror.fed(more);
            }
            }
        }
    });
}

TEST_CASE("a model that does not truncate is found out where its tokens are unknown") {
    struct {
        std::size_t tokens = 7;
        [[nodiscard]] std::size_t size() const { return tokens; }
        void truncate(std::size_t) {}
    } deaf;
    context_tracker<target_id> mirror;
    CHECK_THROWS_WITH(mirror.meet(deaf),
                      Catch::Contains("truncate: expected no token to be left, found 7"));
}

TEST_CASE("any edits: the shortest, from scratch and from what is known to be unchanged") {
    require_holds([] {
        context_tracker<target_id> mirror;
        mirror.reserve(16);
        ids held, last; // what the model holds; what was planned and fed last
        // What is wanted; before that the engine loses its end, or not (15).
        const auto steps = up_to(30, rc::gen::pair(up_to(12, any_in(0, 1)), any_in(0, 15)));
        for (const auto& [some, left] : *steps) {
            mirror.truncated(left);
            if (left < held.size())
                held.resize(left);
            RC_ASSERT(mirror.size() == held.size());
            ids wanted{target_id{0}};
            for (const std::size_t id : some)
                wanted.push_back(id_at<target_id>(id));
            std::size_t same = 0;
            while (same < last.size() && same < wanted.size() && last[same] == wanted[same])
                ++same;
            const auto edit = mirror.plan(wanted, *any_in(0, same));
            RC_ASSERT(edit.truncate_to == common_prefix(held, wanted));
            RC_ASSERT(
                ids(edit.append.begin(), edit.append.end()) ==
                ids(wanted.begin() + static_cast<std::ptrdiff_t>(edit.truncate_to), wanted.end()));
            mirror.truncated(edit.truncate_to);
            mirror.fed(edit.append);
            held = last = wanted;
            RC_ASSERT(mirror.size() == held.size());
        }
    });
}
