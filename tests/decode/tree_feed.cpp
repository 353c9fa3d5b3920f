// SPDX-License-Identifier: MIT
#include <specdec/decode/tree_feed.hpp>

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
    const context_edit<target_id> edit = feed.edit(text);
    CHECK(edit.truncate_to == 0);
    CHECK(copy_of(edit.append) == std::vector{target_id{0}, target_id{1}});
    CHECK(copy_of(edit.nodes) ==
          std::vector{target_id{2}, target_id{1}, target_id{2}, target_id{3}});
    CHECK(copy_of(edit.parents) == std::vector<std::size_t>{tree_root, 0, 0, 1});

    auto target = model();
    const context_edit<target_id> left = feed.prepare(target, text);
    CHECK(target.size() == 2);
    CHECK(left.append.empty());
    CHECK(tree_feed::score(target, left).size() == 4);
    (void)feed.prepare(target, text);
    CHECK(tree_feed::score(target, left).size() == 4); // an abandoned round leaves no node
    feed.fed(left, text.size());
    const std::vector<std::size_t> path{0, 2};
    text.insert(text.end(), {target_id{1}, target_id{3}, target_id{0}});
    feed.commit(path, text, 3); // 1, 3 and the target's own
    CHECK(copy_of(feed.nodes_to_keep()) == std::vector<std::size_t>{0, 1, 3});
    feed.draft(text.back(), nullptr);
    CHECK(feed.edit(text).truncate_to == 5);
    CHECK(feed.edit(text).append.empty());
    (void)feed.prepare(target, text);
    CHECK(target.held() == std::vector(text.begin(), text.end() - 1));
    CHECK(feed.nodes_to_keep().empty());
    feed.lost();
    CHECK(feed.edit(text).truncate_to == 0);
    feed.commit(path, text, 3); // of a round that is committed after the loss
    CHECK(feed.nodes_to_keep().empty());
    CHECK(feed.edit(text).truncate_to == 0);
}

TEST_CASE("nothing is kept of another tree than the one that was scored") {
    tree_feed feed;
    feed.reserve(16, 8, 4);
    auto target = model();
    std::vector text{target_id{0}, target_id{1}};
    feed.start();
    feed.draft(text.back(), nullptr);
    feed.fed(feed.prepare(target, text), text.size());
    text.push_back(target_id{2});
    feed.commit({}, text, 1);
    CHECK(feed.nodes_to_keep().size() == 1);
    target.truncate(0); // somebody else uses it, and leaves as many tokens
    target.append(std::vector{target_id{3}});
    const context_edit<target_id> edit = feed.prepare(target, text);
    CHECK(edit.append.empty());
    CHECK(target.held() == std::vector(text.begin(), text.end() - 1));
}

TEST_CASE("nothing is kept where nothing is committed") {
    tree_feed feed;
    feed.commit({}, {}, 0);
    CHECK(feed.nodes_to_keep().empty());
}

} // namespace tree_feed_tests
