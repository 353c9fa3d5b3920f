// SPDX-License-Identifier: MIT
// Two texts that share something, an index or a table: what one of them does while the other is
// between its draft and its decision, and their joint law.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "rule_law.hpp"
#include "support/course/course_law.hpp"
#include "support/course/course_text.hpp"

namespace specdec::testing {

/// Courses whose drafts have so many tokens.
inline std::vector<course> courses_of_two(std::size_t drafted) {
    using act = course_step::act;
    const auto step = [&](act what, std::size_t text, std::size_t kept = course_step::all) {
        return course_step{what, text, drafted, drafted + 1, kept};
    };
    const course_step draft = step(act::draft, 0), decide = step(act::decide, 0),
                      commit = step(act::commit, 0), other = step(act::commit, 1);
    return {
        // The other's whole round between draft and decision,
        {2, 2, {draft, other, commit, other}},
        // the round given up before it is decided,
        {2, 2, {draft, other, draft, other, commit}},
        // or behind its decision, of which nothing is used.
        {2, 2, {draft, decide, other, draft, commit, commit}},
        // Both drafted, both decided, one token of each used.
        {2,
         2,
         {draft, step(act::draft, 1), decide, step(act::decide, 1), step(act::commit, 1, 1),
          step(act::commit, 0, 1), commit}},
    };
}

/// The texts of a path. see(session) is what a round would do: `turned` counts the rounds that were
/// drafted again and would do something else.
template <class See>
class two_texts final : public course_world {
public:
    two_texts(See see, std::size_t& turned) : see_(std::move(see)), turned_(turned) {}

    template <class Session, class Target, class D, Coin C>
    void add(Session decoder, Target& target, D& drafter, C& coin) {
        struct seen_text final : session_on_course<Session, Target, D, coin_of_text<C>> {
            using base = session_on_course<Session, Target, D, coin_of_text<C>>;
            two_texts& world;
            decltype(std::declval<See&>()(std::declval<const Session&>())) seen{};
            std::size_t behind = 0; // tokens

            seen_text(Session d, Target& t, D& by, coin_of_text<C> c, two_texts& w)
                : base(std::move(d), t, by, c), world(w) {}
            void draft(const course_step& how) override {
                base::draft(how);
                auto now = world.see_(this->decoder());
                const std::size_t tokens = this->tokens().size() + 1;
                world.turned_ += behind == tokens && now != seen ? 1U : 0U;
                behind = how.drafted > 0 ? tokens : 0;
                seen = std::move(now);
            }
            void commit(std::size_t n) override {
                const std::size_t before = this->decoder().counts().accepted;
                base::commit(n);
                world.accepted_ += this->decoder().counts().accepted - before;
            }
        };
        texts_.push_back(std::make_unique<seen_text>(std::move(decoder), target, drafter,
                                                     coin_of_text<C>{&coin, texts_.size()}, *this));
    }
    [[nodiscard]] course_text& text(std::size_t i) override { return *texts_[i]; }
    /// Proposals that were kept.
    [[nodiscard]] std::size_t accepted() const { return accepted_; }

private:
    See see_;
    std::size_t& turned_;
    std::size_t accepted_ = 0;
    std::vector<std::unique_ptr<course_text>> texts_;
};

/// Both follow p. make(coin, use) makes the texts of a path and calls use(world).
template <class Make>
void check_two_texts(row_tree& p, const course& c, const Make& make) {
    const course_law found = law_of(c, make);
    CAPTURE(c.text(), found.refused);
    CHECK(!found.too_many);
    joint_law wanted;
    for (const auto& [texts, probability] : both_alone(p, c.length)) {
        sequence all = texts.first;
        all.insert(all.end(), texts.second.begin(), texts.second.end());
        wanted[all] = probability;
    }
    CHECK(total_variation(found.law, wanted) < exact);
}

} // namespace specdec::testing
