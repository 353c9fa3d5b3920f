// SPDX-License-Identifier: MIT
#include "support/course/course.hpp"

#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "support/course/course_law.hpp"

using namespace specdec;

namespace course_tests {

using act = course_step::act;

/// Writes down what is asked of it; a pass can be told to fail.
struct noting_text final : course_text {
    std::string& notes;
    std::vector<target_id> held{};
    std::size_t faults = 0;

    explicit noting_text(std::string& to) : notes(to) {}
    void fault() {
        if (faults > 0) {
            --faults;
            throw toy_fault{};
        }
    }
    void draft(const course_step& how) override {
        notes += " draft" + std::to_string(how.drafted);
        fault();
    }
    void decide() override {
        notes += " decide";
        fault();
    }
    void commit(std::size_t n) override {
        notes += " commit" + std::to_string(n);
        held.resize(held.size() + (n < 2 ? n : 2));
    }
    void abandon() override { notes += " abandon"; }
    [[nodiscard]] std::span<const target_id> tokens() const override { return held; }
};

struct noting_world final : course_world {
    std::string notes;
    noting_text only{notes};
    [[nodiscard]] course_text& text(std::size_t) override { return only; }
    void change(const course_step&) override { notes += " change"; }
    void fault(const course_step&) override { only.faults = 1; }
};

std::string played(const course& c) {
    noting_world world;
    course_player(c, world).play();
    return world.notes;
}

TEST_CASE("a step of a course is carried out with what it lacks") {
    CHECK(played({.length = 2, .steps = {{.drafted = 2}}}) == " draft2 decide commit9");
    CHECK(played({.length = 2, .steps = {{.what = act::draft}, {.drafted = 3}}}) ==
          " draft1 decide commit9");
    CHECK(played({.length = 2,
                  .steps = {{.what = act::decide}, {.what = act::draft, .drafted = 2}}}) ==
          " draft1 decide abandon draft2 decide commit9");
    CHECK(played({.length = 2,
                  .steps = {{.what = act::decide}, {.what = act::repeat, .drafted = 2}, {}}}) ==
          " draft1 decide draft1 decide commit9");
    CHECK(played({.length = 1, .steps = {{.kept = 0}, {.what = act::change}}}) ==
          " draft1 decide commit0 change draft0 decide commit9");
}

TEST_CASE("a text that has its tokens takes no more steps") {
    CHECK(played({.length = 1, .steps = {{}, {}, {.what = act::change}}}) ==
          " draft1 decide commit9");
}

TEST_CASE("where a toy fails the step is taken to its end before the text's next one") {
    CHECK(played({.length = 1, .steps = {{.what = act::fault}, {.drafted = 2}}}) ==
          " draft2 draft2 decide commit9");
    CHECK(
        played({.length = 1,
                .steps = {{.what = act::draft, .drafted = 2}, {.what = act::target_fault}, {}}}) ==
        " draft2 decide decide commit9");
    CHECK(played({.length = 1,
                  .steps = {{.what = act::fault}, {.drafted = 2}, {.what = act::draft}}}) ==
          " draft2 draft2 decide commit9");
}

TEST_CASE("courses overlap where another text's step falls between draft and decision") {
    const course_step draft{.what = act::draft}, own{}, other{.text = 1};
    CHECK(course{.texts = 2, .steps = {draft, other}}.overlaps());
    CHECK_FALSE(course{.texts = 2, .steps = {draft, own, other}}.overlaps());
    CHECK_FALSE(course{.texts = 1, .steps = {draft, other}}.overlaps());
    // A text that is left drafted is decided when the texts before it have come to their ends.
    CHECK(course{.texts = 2, .steps = {{.what = act::draft, .text = 1}}}.overlaps());
    // One of which a step fails is decided later.
    CHECK(course{.texts = 2, .steps = {{.what = act::target_fault}, own, other}}.overlaps());
    CHECK_FALSE(course{.texts = 2, .steps = {own, other}}.overlaps());
}

TEST_CASE("courses in words") {
    CHECK(course{.length = 2, .steps = {{.what = act::draft, .drafted = 2}, {.kept = 0}}}.text() ==
          "draft 2 room 2; commit 0 of draft 1 room 2; the first 2");
    CHECK(course{.texts = 2, .steps = {{.what = act::change, .text = 1}}}.text() ==
          "text 1: change; the first 1");
}

} // namespace course_tests
