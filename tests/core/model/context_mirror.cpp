// SPDX-License-Identifier: MIT
#include <specdec/core/model/context_mirror.hpp>

#include <vector>

#include <catch2/catch.hpp>

#include <specdec/core/token_id.hpp>

#include "support/holds.hpp"

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

} // namespace

TEST_CASE("a model that does not truncate is found out where its tokens are unknown") {
    struct {
        std::size_t tokens = 7;
        [[nodiscard]] std::size_t size() const { return tokens; }
        void truncate(std::size_t) {}
    } deaf;
    context_mirror<target_id> mirror;
    CHECK_THROWS_WITH(mirror.meet(deaf),
                      Catch::Contains("truncate: expected no token to be left, got 7"));
}

TEST_CASE("any edits: the shortest, from scratch and from what is known to be unchanged") {
    require_holds([] {
        context_mirror<target_id> mirror;
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
