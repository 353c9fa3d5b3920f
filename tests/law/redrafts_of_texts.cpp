// SPDX-License-Identifier: MIT
// Texts of the facade that failed and go on (redrafts.hpp): on courses, and in a batch.

#include <specdec/speculation/running_sequence.hpp>

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include <specdec/decode/batch.hpp>
#include <specdec/source/any_source.hpp>
#include <specdec/source/lookup_branch.hpp>
#include <specdec/source/lookup_or_draft.hpp>
#include <specdec/speculation/tree/any_tree_source.hpp>

#include "redrafts.hpp"
#include "support/batch_of.hpp"
#include "tree_law.hpp"

using namespace specdec;
using namespace specdec::testing;
using namespace specdec::testing::redrafts;

namespace redrafts_of_texts_tests {

using act = course_step::act;
using words_type = toy_words::target_words;

/// A text of the facade that draws from a coin which can be enumerated.
class facade_on_course final : public course_text {
public:
    using target_type = any_batch_model<target_id>;
    facade_on_course(std::unique_ptr<speculative_text> text, target_type& target, std::size_t s)
        : text_(std::move(text)), target_(target, s), prompt_(text_->tokens().size()) {}

    [[nodiscard]] speculative_text& speculative() { return *text_; }
    void draft(const course_step&) override {
        if (!text_->more(target_.capacity()))
            return;
        (void)text_->prepare(target_);
        (void)text_->draft(target_.capacity());
    }
    logits_rows<target_id> score() {
        const context_edit<target_id> edit = text_->prepare(target_);
        const logits_rows<target_id> rows = edit.nodes.empty()
                                                ? target_.score(edit.append)
                                                : target_.score_tree(edit.nodes, edit.parents);
        text_->target_fed(edit);
        return rows;
    }
    void decide() override { text_->decide(score()); }
    void commit(std::size_t) override { text_->commit(); }
    void abandon() override { text_->abandon(); }
    [[nodiscard]] std::span<const target_id> tokens() const override {
        return text_->tokens().subspan(prompt_);
    }

private:
    std::unique_ptr<speculative_text> text_;
    speculative_text::target_sequence target_;
    std::size_t prompt_;
};

/// Two of them, with models of two sequences, an index and drafters' rows that change.
class facade_world final : public course_world {
public:
    interval_coin& coin;
    rows_of_a_case rows;
    byte_index index{{.bytes = 1024, .short_ends = false}};
    acceptance_table table;
    batch_of<target_id, weighted_model<target_id>> toys;
    batch_of<draft_id, weighted_model<draft_id>> drafts;
    any_batch_model<target_id> target{toys};
    any_batch_model<draft_id> models{drafts};
    drafter_rows gathered{models};
    sequence_pool seats{2};
    any_tokenizer<target_id> words;
    any_tokenizer<draft_id> pieces;
    std::shared_ptr<learned_lengths> learned = learnt_nothing(0.5);
    std::vector<target_id> prompt;
    std::array<std::size_t, 2> laws_left{};
    std::vector<std::unique_ptr<facade_on_course>> texts;

    facade_world(const toy_words& two, interval_coin& c)
        : coin(c), toys(2, weighted_model<target_id>(rows.p, two.target_size())),
          drafts(2, weighted_model<draft_id>(rows.q, two.draft_size())), words(two.target),
          pieces(two.draft), prompt(encoded(two.target, prompt_text)) {}
    facade_world(const facade_world&) = delete;
    facade_world& operator=(const facade_world&) = delete;

    [[nodiscard]] course_text& text(std::size_t i) override { return *texts[i]; }
    void change(const course_step& = {}) override {
        for (auto& m : drafts.models)
            m.use(rows.later);
    }
    void fault(const course_step& s) override {
        if (s.what == act::target_fault)
            laws_left[s.text] = s.drafted + 1;
        else
            drafts.models[s.text].fail_behind(s.drafted);
    }
    using coin_type = coin_of_text<interval_coin>;
    /// make(drafter): what asks the text's drafter.
    template <class Rule, class Make>
    void add(const Rule& rule, std::optional<any_tree_shape> shape, const Make& make) {
        const std::size_t t = texts.size();
        text_request request{.prompt = prompt};
        request.process = [left = &laws_left[t]](std::span<const target_id>, std::span<float>) {
            if (*left > 0 && --*left == 0)
                throw toy_fault{};
        };
        sequence_plan plan{.target = words,
                           .draft = &pieces,
                           .settings = {.capacity = 24, .max_proposals = 4},
                           .limits = {.max_tokens = 3},
                           .lengths = length_settings{.kind = length_kind::fixed, .length = 1},
                           .longest = 2,
                           .learned = learned};
        plan.tree = std::move(shape);
        auto lease =
            std::make_unique<sequence_lease>(gathered, seats, t, any_row_processor<draft_id>(), 48);
        auto source = make(lease->drafter());
        texts.push_back(std::make_unique<facade_on_course>(
            std::make_unique<running_sequence<decltype(source), Rule, coin_type>>(
                request, std::move(plan), std::move(lease), std::move(source), rule,
                coin_type{&coin, t}),
            target, t));
    }
};

/// add(world) makes one of the texts.
template <class Add>
void check_facade(const char* name, const toy_words& two, const Add& add) {
    for (const course& c : courses_that_teach(1, 1)) {
        const course_law found = law_of(c, [&](interval_coin& coin, const auto& use) {
            facade_world world(two, coin);
            add(world);
            add(world);
            use(world);
        });
        CAPTURE(name, c.text(), found.refused, found.paths);
        CHECK(!found.too_many);
        CHECK(found.refused.empty());
        CHECK(total_variation(found.law, wanted(c, two, encoded(two.target, prompt_text))) < exact);
    }
    // A round is scored, and given up: the target forgets its nodes.
    course_joint_law given_up;
    const course one_text{1, 3, {}}; // the third is of the deepest node
    enumerate<interval_coin>([&](interval_coin& coin) {
        facade_world world(two, coin);
        add(world);
        world.texts[0]->draft({});
        world.texts[0]->score();
        world.texts[0]->abandon();
        course_player(one_text, world).play();
        given_up[tokens_of(one_text, world)] += coin.probability();
    });
    CHECK(total_variation(given_up, wanted(one_text, two, encoded(two.target, prompt_text))) <
          exact);
    // In a batch: the first text fails, leaves, and joins again behind two rounds of the other.
    const course both{2, 1, {}};
    course_joint_law law;
    std::size_t failed = 0;
    enumerate<interval_coin>([&](interval_coin& coin) {
        facade_world world(two, coin);
        add(world);
        add(world);
        world.laws_left[0] = 2;
        speculative_text &one = world.texts[0]->speculative(),
                         &other = world.texts[1]->speculative();
        batch<any_batch_model<target_id>, speculative_text> side_by_side(world.target);
        side_by_side.join(one);
        side_by_side.join(other);
        std::size_t away = 0;
        while (world.texts[0]->tokens().empty() || world.texts[1]->tokens().empty()) {
            try {
                (void)side_by_side.round();
            } catch (const toy_fault&) {
                ++failed;
                world.change();
            }
            away = side_by_side.holds(one) ? 0 : away + 1;
            if (away > 2)
                side_by_side.join(one);
        }
        law[tokens_of(both, world)] += coin.probability();
    });
    CAPTURE(name);
    CHECK(failed > 0);
    CHECK(total_variation(law, wanted(both, two, encoded(two.target, prompt_text))) < exact);
}

/// A text whose TLI drafter and lookup take turns.
void add_chain(facade_world& world, const toy_words& two, const auto& rule) {
    using lookup_type = suffix_lookup<byte_index&>;
    using chains = any_source<facade_world::coin_type>;
    two.tli()(1, [&](auto bridge) {
        world.add(rule, {}, [&](auto& drafter) {
            return lookup_or_draft<chains, lookup_type, words_type, interval_number>(
                chains(std::move(bridge), drafter),
                lookup_with<lookup_type, words_type, lookup_turns>{
                    {shared_suffixes(world.index), two.target, 1},
                    lookup_turns(world.table, cheap, cheap)},
                2);
        });
    });
}

TEST_CASE("texts of the facade, one of which failed and goes on, have the target's law", "[law]") {
    using lookup_type = suffix_lookup<byte_index&>;
    using trees = any_tree_source<facade_world::coin_type>;
    static const toy_words two({"a", "b"}, {"b", "a"}), same({"a", "b"}, {"a", "b"});
    const auto chain = [&](const char* name, const auto& rule) {
        check_facade(name, two, [&](facade_world& world) { add_chain(world, two, rule); });
    };
    chain("facade, tli", by_rejection);
    chain("facade, tli, block", by_block);
    const auto tree = [&](const char* name, const auto& rule) {
        check_facade(name, same, [&](facade_world& world) {
            any_tree_shape shape({.widths = {1, 1}, .siblings = sibling_draw::independent}, 1);
            world.add(rule, shape, [&](auto& drafter) {
                return lookup_branch<trees, lookup_type, words_type, interval_number>(
                    trees(identity_tree_bridge(identity_map(2, 2), shared_context(2, 24),
                                               shape.settings()),
                          drafter),
                    lookup_with<lookup_type, words_type, lookup_length>{
                        {shared_suffixes(world.index), same.target, 2},
                        lookup_length(world.table, cheap)});
            });
        });
    };
    tree("facade, trees, recursive", recursive);
    tree("facade, trees, traversal", traversal);
}

TEST_CASE("texts of a batch whose drafters are fed in pieces have the target's law", "[law]") {
    static const toy_words two({"a", "b"}, {"b", "a"});
    const course both{2, 2, {}};
    const auto check = [&](const auto& rule) {
        course_joint_law law;
        std::size_t read = 0, drafted = 0;
        std::vector<target_id> prompt;
        enumerate<interval_coin>([&](interval_coin& coin) {
            facade_world world(two, coin);
            prompt = world.prompt = encoded(two.target, "ababbabaabb");
            add_chain(world, two, rule);
            add_chain(world, two, rule);
            speculative_text &one = world.texts[0]->speculative(),
                             &other = world.texts[1]->speculative();
            batch<any_batch_model<target_id>, speculative_text> side_by_side(world.target, {}, true,
                                                                             3);
            side_by_side.join(one);
            side_by_side.join(other);
            while (world.texts[0]->tokens().size() < 2 || world.texts[1]->tokens().size() < 2)
                REQUIRE(side_by_side.round());
            law[tokens_of(both, world)] += coin.probability();
            for (const speculative_text* text : {&one, &other}) {
                read +=
                    text->counts().without_draft[static_cast<std::size_t>(no_draft::drafter_reads)];
                drafted += text->counts().draft_tokens;
            }
        });
        CHECK(total_variation(law, wanted(both, two, prompt)) < exact);
        CHECK(read > 0);
        CHECK(drafted > 0);
    };
    check(by_rejection);
    check(by_block);
}

} // namespace redrafts_of_texts_tests
