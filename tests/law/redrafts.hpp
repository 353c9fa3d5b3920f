// SPDX-License-Identifier: MIT
// Rounds in which something failed, and that go on when what their text shares with others has
// changed: the target's rows behind an accepted proposal, a pass of the drafter half-way, the
// target's pass. What was drawn stays, so the law is the target's.
#pragma once

#include <array>
#include <cstddef>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include <specdec/draft/lookup/suffix_lookup.hpp>
#include <specdec/draft/model_drafter.hpp>

#include "support/course/course_law.hpp"
#include "support/course/course_text.hpp"
#include "toy_bridges.hpp"

namespace specdec::testing::redrafts {

/// A drafter's toy whose rows change with a mark, as weights do.
template <template <class> class Model = weighted_model>
struct changing_rows : Model<draft_id> {
    using Model<draft_id>::Model;
    law_version changes = 0;
    void use(const weighted_rows& rows) {
        Model<draft_id>::use(rows);
        ++changes;
    }
    [[nodiscard]] law_version version() const { return changes; }
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
    }
    void fault(const course_step& s) override {
        if (s.what == course_step::act::target_fault)
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
inline course_joint_law wanted(const course& c, const toy_words& two,
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
inline std::vector<course> courses_that_fail(std::size_t drafted, std::size_t length) {
    const auto step = [&](course_step::act what, std::size_t n) {
        return course_step{what, 0, n, drafted + 1};
    };
    const course_step mine = step(course_step::act::commit, drafted),
                      change = step(course_step::act::change, 0),
                      again = step(course_step::act::repeat, drafted),
                      anew = step(course_step::act::draft, drafted);
    std::vector<course> all;
    for (const course_step::act what : {course_step::act::target_fault, course_step::act::fault})
        for (std::size_t behind = 0; behind <= drafted; ++behind)
            all.push_back({1, length, {step(what, behind), mine, change, mine}});
    all.push_back(
        {1, length, {step(course_step::act::target_fault, 1), mine, change, again, mine}});
    all.push_back({1, length, {anew, change, again, mine}}); // the target's pass fails
    if (drafted == 1) // given up, whatever was decided: many paths
        all.push_back({1, length, {step(course_step::act::decide, drafted), change, anew, mine}});
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

inline const toy_words& same_words() {
    static const toy_words two({"a", "b", "ab"}, {"a", "b", "ab"});
    return two;
}

/// Texts of one prompt that look up in one index: what the second one commits is found by the
/// first one's next search.
inline const std::string prompt_text = "abbabaab";

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
inline std::vector<course> courses_that_teach(std::size_t drafted, std::size_t length = 2) {
    const course_step others{.text = 1, .drafted = 0, .room = 1};
    std::vector<course> all;
    for (course c : courses_that_fail(drafted, length)) {
        c.texts = 2;
        for (std::size_t i = 0; i < c.steps.size(); ++i)
            if (c.steps[i].what == course_step::act::change) {
                c.steps.insert(c.steps.begin() + static_cast<std::ptrdiff_t>(i), 2, others);
                break;
            }
        all.push_back(std::move(c));
    }
    return all;
}

inline const cost_table cheap{{1, 1.01, 1.02, 1.03, 1.04, 1.05}, 0.3, 0};

} // namespace specdec::testing::redrafts
