// SPDX-License-Identifier: MIT
#include <specdec/decode/tree/tree_feed.hpp>

#include <vector>

#include <catch2/catch.hpp>

#include "support/ids.hpp"
#include "support/toy_tree_model.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace tree_feed_tests {

toy_tree_model<target_id> model() {
    return {4, [](const std::vector<target_id>& context) {
                return std::vector<float>(4, static_cast<float>(context.size()));
            }};
}

TEST_CASE("a target is fed the text, then the last token and the tree behind it") {
    tree_feed feed;
    feed.reserve(16, 8, 4);
    token_tree<target_id> tree;
    tree.add(tree_root, target_id{1});
    tree.add(tree_root, target_id{2});
    tree.add(0, target_id{3});
    std::vector text{target_id{0}, target_id{1}, target_id{2}};
    feed.start();
    feed.draft(text.back(), &tree);
    const tree_edit edit = feed.edit(text);
    CHECK(edit.truncate_to == 0);
    CHECK(copy_of(edit.append) == std::vector{target_id{0}, target_id{1}});
    CHECK(copy_of(edit.ids) == std::vector{target_id{2}, target_id{1}, target_id{2}, target_id{3}});
    CHECK(copy_of(edit.parents) == std::vector<std::size_t>{tree_root, 0, 0, 1});

    auto target = model();
    feed.prepare(target, text);
    CHECK(target.size() == 2);
    CHECK(feed.score(target).size() == 4);
    CHECK(feed.score(target).size() == 4); // a round that was abandoned leaves no node
    const std::vector<std::size_t> path{0, 2};
    const auto keep = feed.to_keep(path, 3); // 1, 3 and the target's own
    CHECK(copy_of(keep) == std::vector<std::size_t>{0, 1, 3});
    target.keep_path(keep);
    text.insert(text.end(), {target_id{1}, target_id{3}, target_id{0}});
    feed.kept(text, 3);
    feed.draft(text.back(), nullptr);
    CHECK(feed.edit(text).truncate_to == 5);
    CHECK(feed.edit(text).append.empty());
    CHECK(target.held() == std::vector(text.begin(), text.end() - 1));
    feed.lost();
    CHECK(feed.edit(text).truncate_to == 0);
    CHECK(feed.to_keep(path, 3).empty()); // of a round that is committed behind the loss
    feed.kept(text, 3);
    CHECK(feed.edit(text).truncate_to == 0);
}

TEST_CASE("nothing is kept where nothing is committed") {
    tree_feed feed;
    CHECK(feed.to_keep({}, 0).empty());
}

} // namespace tree_feed_tests
