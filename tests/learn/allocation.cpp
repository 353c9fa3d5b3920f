// SPDX-License-Identifier: MIT
// No loss allocates; following a text for lessons and an acceptance head that learns do not either.
#include <vector>

#include <specdec/learn/acceptance/acceptance_learner.hpp>
#include <specdec/learn/acceptance/acceptance_loss.hpp>
#include <specdec/learn/distillation_recorder.hpp>
#include <specdec/learn/loss/forward_kl_loss.hpp>
#include <specdec/learn/loss/ngram_kl_loss.hpp>
#include <specdec/learn/loss/nll_loss.hpp>
#include <specdec/learn/loss/reverse_kl_loss.hpp>
#include <specdec/learn/loss/total_variation_loss.hpp>
#include <specdec/learn/replay_buffer.hpp>

#include <specdec/vocab/table/intersection.hpp>

#include "loss_toys.hpp"
#include "support/count_allocations.hpp"
#include "support/ids.hpp"
#include "support/tiny_tokenizer.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace learn_allocation_tests {

TEST_CASE("losses allocate nothing") {
    std::mt19937 random(1);
    constexpr std::size_t size = 3000;
    const id_map map = toy_map(size, size, random);
    std::vector<float> rows = toy_logits(size, random);
    const auto second = toy_logits(size, random), target = toy_logits(size, random);
    rows.insert(rows.end(), second.begin(), second.end());
    rows[0] = rows[1] = rows[size] = rows[size + 1] = 1;
    target_id merged{0};
    while (map.to_draft(merged).valid())
        ++merged.value;
    std::vector<float> dz(2 * size), labels(size, 0.5F), logits(size, 2);
    const std::vector<draft_id> ids{draft_id{0}, draft_id{1}};
    const logits_rows<draft_id> view(rows.data(), 2, size, size);
    const std::span<float> one = std::span(dz).first(size);

    double sum = 0;
    const long before = allocations;
    {
        const auto p = make_law(logits_row<target_id>{target}, {});
        const shared_softmax q(view[0], map);
        sum += forward_kl_loss(p, q, one) + reverse_kl_loss(p, q, one) +
               total_variation_loss(p, q, one) + nll_loss(row_softmax(view[0]), ids[0], one) +
               ngram_nll_loss(view, ids, dz, 0.2) +
               ngram_kl_loss(p, merged, q, view.last(1), ids, dz) +
               acceptance_loss(logits, labels, one);
    }
    const long after = allocations;
    CHECK(after == before);
    CHECK(sum > 0);
}

TEST_CASE("following a text for lessons allocates nothing, nor does a text like the last") {
    const tiny_tokenizer<target_id> target({"a", "b", "ab", "c"});
    const tiny_tokenizer<draft_id> draft({"a", "b", "bc", "c"});
    const id_map map = intersect(draft, target);
    distillation_recorder lessons(target, draft, map, {.keep = 3, .tokens = 400, .window = 100});
    const auto prompt = ids_of<target_id>({0, 3}), round = ids_of<target_id>({2, 1, 3, 0, 1});
    const std::vector<float> logits{0, 1, 2, 3, 2, 0, 1, 2, 1, 1, 0, 2, 3, 1, 1, 1, 0, 0, 2, 1};
    const logits_rows<target_id> rows(logits.data(), 5, 4, 4);
    distillation_sample text;
    replay_buffer buffer(500);
    std::size_t taught = 0;
    const auto a_text = [&] {
        lessons.start(prompt);
        for (int i = 0; i < 70; ++i)
            lessons.follow(rows, round);
        const long followed = allocations;
        while (lessons.finish(text)) {
            buffer.add(text);
            taught += text.rows.size();
        }
        return followed;
    };
    const long before = allocations, followed = a_text();
    CHECK(followed == before);
    for (int i = 0; i < 5; ++i) // fills the buffer's ring
        a_text();
    const long full = allocations;
    a_text();
    const long after = allocations;
    CHECK(after == full);
    CHECK(taught > 1000);
}

TEST_CASE("an acceptance head and its learner allocate at construction only") {
    const std::vector<float> row{1, 2};
    const auto embedding = [&](draft_id) { return std::span<const float>(row); };
    const acceptance_shape shape{.embedding = 2, .width = 4};
    acceptance_learner learner(shape, [] { return 0.3; });
    acceptance_head head(embedding, shape, learner.parameters());
    acceptance_examples examples(8);
    const std::vector<draft_progress> steps{{.drafted = 1, .token = draft_id{0}}};
    const std::vector<float> labels{1};
    double sum = 0;
    const long before = allocations;
    for (int i = 0; i < 9; ++i) {
        examples.add(steps, labels);
        sum += learner.step(
            1, [&](std::size_t) -> const acceptance_example& { return examples[0]; }, embedding);
        head.take(learner.parameters());
        head.learn({});
        sum += head.accept(steps[0]) + head.next({});
    }
    const long after = allocations;
    CHECK(after == before);
    CHECK(sum > 0);
}

} // namespace learn_allocation_tests
