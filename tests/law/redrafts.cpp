// SPDX-License-Identifier: MIT
// Rounds in which something failed, and that go on when what their text shares with others has
// changed: the target's rows behind an accepted proposal, a pass of the drafter half-way, the
// target's pass. What was drawn stays, so the law is the target's; where it cannot stay, because
// the draft's law is asked for again, the round is refused. Chains, trees, lookups, batches, the
// facade.
#include <specdec/decode/session.hpp>

#include <array>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include <specdec/decode/batch.hpp>
#include <specdec/draft/lookup/lookup_beside.hpp>
#include <specdec/draft/lookup/lookup_branch.hpp>
#include <specdec/draft/lookup/suffix_lookup.hpp>
#include <specdec/draft/model_drafter.hpp>
#include <specdec/sampling/coin/text_keys.hpp>
#include <specdec/speculation/speculation.hpp>
#include <specdec/speculation/tree/tree_text_session.hpp>
#include <specdec/testing/course/course_law.hpp>
#include <specdec/testing/course/course_text.hpp>

#include "support/batch_of.hpp"
#include "toy_bridges.hpp"
#include "tree_law.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace redrafts_tests {

using act = course_step::act;
using words_type = toy_words::target_words;

constexpr token_rejection rejection{.thinning = {1, 1}};
constexpr block_verification block{.thinning = {1, 1}};

/// A drafter's toy whose rows change with a mark, as weights do.
template <template <class> class Model = weighted_model>
struct changing_rows : Model<draft_id> {
    using Model<draft_id>::Model;
    law_mark changes = 0;
    void use(const weighted_rows& rows) {
        Model<draft_id>::use(rows);
        ++changes;
    }
    [[nodiscard]] law_mark mark() const { return changes; }
};
/// The same of a model that scores no trees: its drafter is fed path by path.
template <class Id>
class path_model {
public:
    path_model(const weighted_rows& rows, std::size_t vocabulary) : model_(rows, vocabulary) {}
    [[nodiscard]] std::size_t size() const { return model_.size(); }
    [[nodiscard]] std::size_t capacity() const { return model_.capacity(); }
    [[nodiscard]] std::size_t vocabulary_size() const { return model_.vocabulary_size(); }
    void append(std::span<const Id> ids) { model_.append(ids); }
    [[nodiscard]] logits_rows<Id> score(std::span<const Id> ids) { return model_.score(ids); }
    void truncate(std::size_t n) { model_.truncate(n); }
    void fail_behind(std::size_t n) { model_.fail_behind(n); }
    void use(const weighted_rows& rows) { model_.use(rows); }

private:
    weighted_model<Id> model_;
};

/// The laws of a case: the target's, the drafters', and the drafters' once they have changed.
struct rows_of_a_case {
    weighted_rows p{{{1, 1, 2}, {3, 1, 1}}}, q{{{4, 1, 1, 2}, {1, 5, 1, 1}}},
        later{{{1, 3, 1, 1}, {2, 1, 4, 1}}};
};

/// Two texts, whose drafters' rows change together at a step of the course.
template <class Model = changing_rows<>>
class sharing_world final : public course_world {
public:
    using drafter_type = model_drafter<Model>;
    const toy_words& two;
    interval_coin& coin;
    rows_of_a_case rows;
    std::deque<weighted_model<target_id>> targets;
    std::deque<Model> models;
    std::deque<drafter_type> drafters;
    std::array<std::size_t, 2> laws_left{};
    std::vector<std::unique_ptr<course_text>> texts;
    std::function<void()> also_changes = [] {};

    sharing_world(const toy_words& words, interval_coin& c) : two(words), coin(c) {
        for (std::size_t t = 0; t < 2; ++t) {
            targets.emplace_back(rows.p, two.target_size());
            models.emplace_back(rows.q, two.draft_size());
            drafters.emplace_back(models[t]);
        }
    }
    [[nodiscard]] course_text& text(std::size_t i) override { return *texts[i]; }
    void change(const course_step&) override {
        for (Model& m : models)
            m.use(rows.later);
        also_changes();
    }
    void fault(const course_step& s) override {
        if (s.what == act::target_fault)
            laws_left[s.text] = s.drafted + 1;
        else
            models[s.text].fail_behind(s.drafted);
    }
    [[nodiscard]] coin_of_text<interval_coin> coin_of(std::size_t t) { return {&coin, t}; }
    /// Of one token, another one for each text.
    [[nodiscard]] static std::vector<target_id> prompt_of(std::size_t t) {
        return {id_at<target_id>(t)};
    }
};

/// What the texts of a course have to be.
course_joint_law wanted(const course& c, const toy_words& two,
                        const std::vector<target_id>& before = {}) {
    const rows_of_a_case rows;
    return law_of_target(c, [&](std::size_t text, std::vector<target_id> tokens) {
        std::vector<target_id> all = before;
        if (before.empty())
            all.push_back(id_at<target_id>(text));
        all.insert(all.end(), tokens.begin(), tokens.end());
        return weighted_probabilities(rows.p, all, two.target_size());
    });
}

/// The round of a text fails, the drafters' rows change, and the round goes on.
std::vector<course> courses_that_fail(std::size_t drafted, std::size_t length) {
    const auto step = [&](act what, std::size_t n) { return course_step{what, 0, n, drafted + 1}; };
    const course_step mine = step(act::commit, drafted), change = step(act::change, 0),
                      again = step(act::repeat, drafted), anew = step(act::draft, drafted);
    std::vector<course> all;
    for (const act what : {act::target_fault, act::fault})
        for (std::size_t behind = 0; behind <= drafted; ++behind)
            all.push_back({1, length, {step(what, behind), mine, change, mine}});
    all.push_back({1, length, {step(act::target_fault, 1), mine, change, again, mine}});
    all.push_back({1, length, {anew, change, again, mine}}); // the target's pass fails
    if (drafted == 1) // given up, whatever was decided: many paths
        all.push_back({1, length, {step(act::decide, drafted), change, anew, mine}});
    return all;
}

/// add(world, t) makes the texts.
template <class Model = changing_rows<>, class Add>
void check_sharing(const char* name, const toy_words& two, const std::vector<course>& courses,
                   const Add& add, std::size_t most_paths = 400000) {
    for (const course& c : courses) {
        const course_law found = law_of(
            c,
            [&](interval_coin& coin, const auto& use) {
                sharing_world<Model> world(two, coin);
                add(world, std::size_t{0});
                use(world);
            },
            most_paths);
        CAPTURE(name, c.text(), found.refused, found.paths);
        CHECK(!found.too_many);
        CHECK(found.refused.empty());
        CHECK(total_variation(found.law, wanted(c, two)) < exact);
    }
}

/// A chain of the bridge under a rule.
template <class WithBridge, class Rule>
auto chains(const WithBridge& with_bridge, const Rule& rule) {
    return [&with_bridge, rule](auto& world, std::size_t t) {
        with_bridge(std::size_t{2}, [&](auto bridge) {
            session decoder(std::move(bridge), rule,
                            session_settings{.capacity = 24, .max_proposals = 2},
                            course_laws{&world.laws_left[t]});
            decoder.start(world.prompt_of(t));
            using world_type = std::remove_reference_t<decltype(world)>;
            world.texts.push_back(
                std::make_unique<session_on_course<decltype(decoder), weighted_model<target_id>,
                                                   typename world_type::drafter_type,
                                                   coin_of_text<interval_coin>>>(
                    std::move(decoder), world.targets[t], world.drafters[t], world.coin_of(t)));
        });
    };
}

const toy_words& same_words() {
    static const toy_words two({"a", "b", "ab"}, {"a", "b", "ab"});
    return two;
}

TEST_CASE("a chain that failed and goes on behind a change has the target's law", "[law]") {
    const auto check = [](const char* name, const toy_words& two, const auto& with_bridge,
                          const auto&... rules) {
        (check_sharing(name, two, courses_that_fail(2, 1), chains(with_bridge, rules)), ...);
        (check_sharing(name, two, courses_that_fail(1, 2), chains(with_bridge, rules)), ...);
    };
    const toy_words &same = same_words(), &two = permuted_words();
    check("identity", same, same.identity(), rejection, block, exact_match{});
    check("tli", two, two.tli(), rejection, block);
    check("union", two, two.union_of(), rejection);
    check("nested", two, two.nested(), rejection, block);
    check("slem", two, two.slem(), rejection, exact_match{});
    check("spelling", two, two.spelling(), rejection);
}

/// A tree session as a text on a course.
template <class Session, class Target, class D>
class trees_on_course final : public course_text {
public:
    trees_on_course(Session text, Target& target, D& drafter, coin_of_text<interval_coin> coin,
                    fixed_tree shape)
        : text_(std::move(text)), target_(target), drafter_(drafter), coin_(coin),
          shape_(std::move(shape)), prompt_(text_.tokens().size()) {}

    void draft(const course_step& how) override {
        text_.prepare(target_);
        text_.draft(drafter_, how.drafted > 0 ? shape_ : no_tree(), coin_, 8, 8);
    }
    void decide() override { tokens_ = text_.verify(text_.score(target_), coin_).tokens.size(); }
    void commit(std::size_t n) override {
        text_.commit(n < tokens_ ? n : tokens_, target_, drafter_);
    }
    void abandon() override { text_.abandon(); }
    [[nodiscard]] std::span<const target_id> tokens() const override {
        return text_.tokens().subspan(prompt_);
    }

private:
    Session text_;
    Target& target_;
    D& drafter_;
    coin_of_text<interval_coin> coin_;
    fixed_tree shape_;
    std::size_t prompt_, tokens_ = 0;
};

template <class MakeBridge, class Rule>
auto trees(const MakeBridge& make_bridge, const Rule& rule, const fixed_tree& shape,
           sibling_draw siblings, std::vector<target_id> prompt = {}) {
    return [=, &make_bridge](auto& world, std::size_t t) {
        tree_session text(
            make_bridge(tree_settings{.max_nodes = 6, .max_depth = 4, .siblings = siblings}), rule,
            session_settings{.capacity = 24}, course_laws{&world.laws_left[t]});
        text.start(prompt.empty() ? world.prompt_of(t) : prompt);
        using world_type = std::remove_reference_t<decltype(world)>;
        world.texts.push_back(
            std::make_unique<trees_on_course<decltype(text), weighted_model<target_id>,
                                             typename world_type::drafter_type>>(
                std::move(text), world.targets[t], world.drafters[t], world.coin_of(t), shape));
    };
}

TEST_CASE("a tree that failed and goes on behind a change has the target's law", "[law]") {
    const toy_words &same = same_words(), &two = permuted_words();
    const auto identity = [](const tree_settings& settings) {
        return identity_tree_bridge(identity_map(3, 3), shared_context(3, 24), settings);
    };
    const auto slem = [&](const tree_settings& settings) {
        return slem_tree_bridge(two.target, two.draft, two.map, 16, settings);
    };
    const std::vector<course> courses = courses_that_fail(2, 1);
    for (const sibling_draw siblings : sibling_draws)
        for (const fixed_tree& shape : {tree_of({2}), tree_of({1, 1}), tree_of({2, 1})}) {
            CAPTURE(static_cast<int>(siblings), shape.size());
            check_sharing("identity, recursive", same, courses,
                          trees(identity, recursive, shape, siblings));
            check_sharing<changing_rows<path_model>>("identity, traversal, by paths", same, courses,
                                                     trees(identity, traversal, shape, siblings));
        }
    check_sharing("tli", two, courses,
                  trees(two.tli_trees(), traversal, tree_of({1, 2}), sibling_draw::independent));
    check_sharing("slem", two, courses,
                  trees(slem, recursive, tree_of({2, 1}), sibling_draw::independent));
    check_sharing("slem, exact", two, courses,
                  trees(slem, tree_exact_match{}, tree_of({2, 1}), sibling_draw::independent));
}

/// Texts of one prompt that look up in one index: what the second one commits is found by the
/// first one's next search.
const std::string prompt_text = "abbabaab";

template <class Model = changing_rows<>, class Add>
void check_lookups(const char* name, const toy_words& two, const std::vector<course>& courses,
                   const Add& add) {
    for (const course& c : courses) {
        const course_law found = law_of(c, [&](interval_coin& coin, const auto& use) {
            byte_index index({.bytes = 1024, .short_ends = false});
            acceptance_table table;
            sharing_world<Model> world(two, coin);
            for (std::size_t t = 0; t < 2; ++t)
                add(world, t, index, table);
            use(world);
        });
        CAPTURE(name, c.text(), found.refused, found.paths);
        CHECK(!found.too_many);
        CHECK(found.refused.empty());
        CHECK(total_variation(found.law, wanted(c, two, encoded(two.target, prompt_text))) < exact);
    }
}

/// The second text makes two plain rounds between the first one's fault and its next step.
std::vector<course> courses_that_teach(std::size_t drafted) {
    const course_step others{.text = 1, .drafted = 0, .room = 1};
    std::vector<course> all;
    for (course c : courses_that_fail(drafted, 2)) {
        c.texts = 2;
        for (std::size_t i = 0; i < c.steps.size(); ++i)
            if (c.steps[i].what == act::change) {
                c.steps.insert(c.steps.begin() + static_cast<std::ptrdiff_t>(i), 2, others);
                break;
            }
        all.push_back(std::move(c));
    }
    return all;
}

const cost_table cheap{{1, 1.01, 1.02, 1.03, 1.04, 1.05}, 0.3, 0};

TEST_CASE("a round beside which is looked up, that failed and goes on, has the target's law",
          "[law]") {
    using lookup_type = suffix_lookup<byte_index&>;
    static const toy_words two({"a", "b"}, {"b", "a"});
    const auto check = [&](const char* name, const auto& with_bridge, const auto& rule) {
        check_lookups(
            name, two, courses_that_teach(1),
            [&](auto& world, std::size_t t, byte_index& index, acceptance_table& table) {
                const auto beside = [&](std::size_t n, const auto& use) {
                    with_bridge(n, [&](auto bridge) {
                        use(lookup_beside<decltype(bridge), lookup_type, words_type>(
                            std::move(bridge),
                            speaking_lookup<lookup_type, words_type>{
                                {shared_suffixes(index), two.target, 1},
                                lookup_turns(table, cheap, cheap)},
                            2));
                    });
                };
                beside(std::size_t{1}, [&](auto bridge) {
                    session decoder(std::move(bridge), rule, session_settings{.capacity = 24},
                                    course_laws{&world.laws_left[t]});
                    decoder.start(encoded(two.target, prompt_text));
                    using world_type = std::remove_reference_t<decltype(world)>;
                    world.texts.push_back(
                        std::make_unique<session_on_course<
                            decltype(decoder), weighted_model<target_id>,
                            typename world_type::drafter_type, coin_of_text<interval_coin>>>(
                            std::move(decoder), world.targets[t], world.drafters[t],
                            world.coin_of(t)));
                });
            });
    };
    check("tli, lookup", two.tli(), rejection);
    check("tli, lookup", two.tli(), block);
    check("slem, lookup", two.slem(), rejection);
}

TEST_CASE("a tree with a looked-up branch that failed and goes on has the target's law", "[law]") {
    using lookup_type = suffix_lookup<byte_index&>;
    static const toy_words two({"a", "b"}, {"a", "b"});
    const auto check = [&](const char* name, const auto& rule, sibling_draw siblings) {
        check_lookups(
            name, two, courses_that_teach(1),
            [&](auto& world, std::size_t t, byte_index& index, acceptance_table& table) {
                const auto branches = [&](const tree_settings& settings) {
                    return lookup_branch<identity_tree_bridge, lookup_type, words_type>(
                        identity_tree_bridge(identity_map(2, 2), shared_context(2, 24), settings),
                        branching_lookup<lookup_type, words_type>{
                            {shared_suffixes(index), two.target, 2}, lookup_length(table, cheap)});
                };
                trees(branches, rule, tree_of({1, 1}), siblings,
                      encoded(two.target, prompt_text))(world, t);
            });
    };
    for (const sibling_draw siblings :
         {sibling_draw::independent, sibling_draw::without_replacement}) {
        check("branch, recursive", recursive, siblings);
        check("branch, traversal", traversal, siblings);
    }
}

/// A text whose refused rounds the driver lets go, or gives up.
template <class Base>
struct refusing_text final : Base {
    using Base::Base;
    bool gives_up = false;
    std::size_t refused = 0;
    void decide() override {
        try {
            Base::decide();
        } catch (const error&) {
            ++refused;
            if (gives_up)
                Base::abandon();
            throw toy_fault{};
        }
    }
};

enum class driver { lets_go, gives_up };

struct refusals {
    course_law found;
    std::size_t refused = 0;
};
template <class WithBridge>
refusals refused_law(const toy_words& two, const WithBridge& with_bridge, const course& c,
                     driver how) {
    refusals all;
    all.found = law_of(
        c,
        [&](interval_coin& coin, const auto& use) {
            using world_type = sharing_world<>;
            world_type world(two, coin);
            std::vector<const std::size_t*> refused;
            for (std::size_t t = 0; t < 2; ++t)
                with_bridge(std::size_t{2}, [&](auto bridge) {
                    session decoder(std::move(bridge), rejection,
                                    session_settings{.capacity = 24, .max_proposals = 2},
                                    course_laws{&world.laws_left[t]});
                    decoder.start(world.prompt_of(t));
                    using base =
                        session_on_course<decltype(decoder), weighted_model<target_id>,
                                          world_type::drafter_type, coin_of_text<interval_coin>>;
                    auto text = std::make_unique<refusing_text<base>>(
                        std::move(decoder), world.targets[t], world.drafters[t], world.coin_of(t));
                    text->gives_up = how == driver::gives_up;
                    refused.push_back(&text->refused);
                    world.texts.push_back(std::move(text));
                });
            use(world);
            for (const std::size_t* n : refused)
                all.refused += *n;
        },
        400000);
    return all;
}

TEST_CASE("a refused round is given up where nothing failed before, and else by its driver",
          "[law]") {
    const toy_words joined({"a", "b", "ab"}, {"a", "b"});
    const course_step draft{.what = act::draft, .drafted = 2, .room = 3},
        mine{.drafted = 2, .room = 3}, change{.what = act::change},
        again{.what = act::repeat, .drafted = 2, .room = 3};
    const auto law_of_refused = [&](const auto& with_bridge, std::vector<course_step> steps,
                                    driver how) {
        const course c{2, 1, std::move(steps)};
        const refusals all = refused_law(joined, with_bridge, c, how);
        CHECK_FALSE(all.found.too_many);
        CHECK(all.found.refused.empty());
        CHECK(all.refused > 0);
        return total_variation(all.found.law, wanted(c, joined));
    };
    const auto check = [&](const auto& with_bridge) {
        // Refused once, whatever was drawn: the next draft has another name.
        CHECK(law_of_refused(with_bridge, {draft, change, mine, mine}, driver::lets_go) < exact);
        // A step was repeated, for a reason of its own: the driver may give the round up,
        CHECK(law_of_refused(with_bridge, {draft, again, change, mine, mine}, driver::gives_up) <
              exact);
        // but not where it was the draw that made something fail.
        const course_step failing{.what = act::target_fault, .drafted = 1};
        CHECK(law_of_refused(with_bridge, {failing, mine, change, mine, mine}, driver::gives_up) >
              0.001);
    };
    check(joined.slrs(0));
    check(joined.merge(0, {{{0, 1}, 2}}));
}

TEST_CASE("a round that failed by what was drawn is refused for good where its law has changed",
          "[law]") {
    const toy_words joined({"a", "b", "ab"}, {"a", "b"});
    const auto check = [&](const auto& with_bridge) {
        for (const act what : {act::target_fault, act::fault}) {
            std::size_t rounds = 0, refused = 0;
            enumerate<interval_coin>([&](interval_coin& coin) {
                sharing_world<> world(joined, coin);
                with_bridge(std::size_t{2}, [&](auto bridge) {
                    session decoder(std::move(bridge), rejection,
                                    session_settings{.capacity = 24, .max_proposals = 2},
                                    course_laws{&world.laws_left[0]});
                    decoder.start(world.prompt_of(0));
                    session_on_course<decltype(decoder), weighted_model<target_id>,
                                      sharing_world<>::drafter_type, coin_of_text<interval_coin>>
                        text(std::move(decoder), world.targets[0], world.drafters[0],
                             world.coin_of(0));
                    const course_step two{.drafted = 2, .room = 3};
                    world.fault({.what = what, .drafted = 1});
                    try {
                        text.draft(two);
                        text.decide();
                        return; // it did not come to that
                    } catch (const toy_fault&) {
                        ++rounds;
                    }
                    world.change({});
                    for (int i = 0; i < 3; ++i)
                        try {
                            text.draft(two);
                            text.decide();
                        } catch (const error&) {
                            ++refused;
                        }
                });
            });
            CHECK(rounds > 0);
            CHECK(refused == 3 * rounds);
        }
    };
    check(joined.slrs(0));
    check(joined.merge(0, {{{0, 1}, 2}}));
}

TEST_CASE("a round that was decided without a draft is drafted no more", "[law]") {
    // The plain token's number was used where its log-probability failed, say.
    const toy_words& two = same_words();
    const fixed_length two_tokens{2};
    const course c{1, 1, {}};
    course_joint_law law;
    enumerate<interval_coin>([&](interval_coin& coin) {
        sharing_world<> world(two, coin);
        two.identity()(std::size_t{2}, [&](auto bridge) {
            session decoder(std::move(bridge), rejection, session_settings{.capacity = 24});
            decoder.start(world.prompt_of(0));
            coin_of_text<interval_coin> own = world.coin_of(0);
            const auto plain = decoder.verify(decoder.score(world.targets[0]), own);
            // A driver that does not like a token drafts, which must not give it another chance.
            if (plain.tokens[0] == target_id{0}) {
                decoder.draft(world.drafters[0], two_tokens, own, 3);
                (void)decoder.verify(decoder.score(world.targets[0]), own);
            }
            decoder.commit(1);
            law[{decoder.tokens().back().value}] += coin.probability();
        });
    });
    CHECK(total_variation(law, wanted(c, two)) < exact);
}

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
    drafter_seats seats{2};
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
    template <class Bridge, class Rule>
    void add(Bridge bridge, const Rule& rule, std::optional<any_tree_shape> shape) {
        const std::size_t t = texts.size();
        text_request request{.prompt = prompt};
        request.process = [left = &laws_left[t]](std::span<const target_id>, std::span<float>) {
            if (*left > 0 && --*left == 0)
                throw toy_fault{};
        };
        text_parts parts{.target = words,
                         .draft = &pieces,
                         .settings = {.capacity = 24, .max_proposals = 4},
                         .draft_prefix = {},
                         .limits = {.max_tokens = 5},
                         .lengths = length_settings{.kind = length_kind::fixed, .length = 1},
                         .longest = 2,
                         .learned = learned,
                         .texts = 2,
                         .cancelled = {}};
        parts.tree = std::move(shape);
        using coin_type = coin_of_text<interval_coin>;
        texts.push_back(std::make_unique<facade_on_course>(
            std::make_unique<text_under_rule<Bridge, Rule, drafter_seat, coin_type>>(
                request, std::move(parts), std::move(bridge), rule, coin_type{&coin, t}, gathered,
                seats, t, any_row_processor<draft_id>(), std::size_t{48}),
            target, t));
    }
};

/// add(world) makes one of the texts.
template <class Add>
void check_facade(const char* name, const toy_words& two, const Add& add) {
    for (const course& c : courses_that_teach(1)) {
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
    const course one_text{1, 2, {}};
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
    const course both{2, 2, {}};
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
        for (std::size_t away = 0, done = 0; done < 2 || away > 0;) {
            try {
                done = side_by_side.round() ? 0 : 2;
            } catch (const toy_fault&) {
                ++failed;
                world.change();
                done = 0;
            }
            const bool out = !side_by_side.holds(one) && one.finish() == finish_reason::none;
            away = out ? away + 1 : 0;
            if (away > 2 || (out && !side_by_side.holds(other)))
                side_by_side.join(one);
        }
        law[tokens_of(both, world)] += coin.probability();
    });
    CAPTURE(name);
    CHECK(failed > 0);
    CHECK(total_variation(law, wanted(both, two, encoded(two.target, prompt_text))) < exact);
}

TEST_CASE("texts of the facade, one of which failed and goes on, have the target's law", "[law]") {
    using lookup_type = suffix_lookup<byte_index&>;
    static const toy_words two({"a", "b"}, {"b", "a"}), same({"a", "b"}, {"a", "b"});
    const auto chain = [&](const char* name, const auto& rule) {
        check_facade(name, two, [&](facade_world& world) {
            two.tli()(1, [&](auto bridge) {
                world.add(lookup_beside<decltype(bridge), lookup_type, words_type>(
                              std::move(bridge),
                              speaking_lookup<lookup_type, words_type>{
                                  {shared_suffixes(world.index), two.target, 1},
                                  lookup_turns(world.table, cheap, cheap)},
                              2),
                          rule, {});
            });
        });
    };
    chain("facade, tli", rejection);
    chain("facade, tli, block", block);
    const auto tree = [&](const char* name, const auto& rule) {
        check_facade(name, same, [&](facade_world& world) {
            any_tree_shape shape({.widths = {1, 1}, .siblings = sibling_draw::independent}, 1);
            world.add(lookup_branch<identity_tree_bridge, lookup_type, words_type>(
                          identity_tree_bridge(identity_map(2, 2), shared_context(2, 24),
                                               shape.settings()),
                          branching_lookup<lookup_type, words_type>{
                              {shared_suffixes(world.index), same.target, 2},
                              lookup_length(world.table, cheap)}),
                      rule, shape);
        });
    };
    tree("facade, trees, recursive", recursive);
    tree("facade, trees, traversal", traversal);
}

} // namespace redrafts_tests
