// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <specdec/core/error.hpp>

#include "support/course/course.hpp"
#include "support/course/course_text.hpp"
#include "support/enumeration/interval_coin.hpp"
#include "support/toys/weighted_model.hpp"

namespace specdec {

/// The texts of a course and what they share.
class course_world {
public:
    virtual ~course_world() = default;
    [[nodiscard]] virtual course_text& text(std::size_t i) = 0;
    virtual void change(const course_step&) {}
    virtual void fault(const course_step&) {} ///< of a drafter, or a target: toy_fault, once
};

/// Takes the steps of a course, then commits what is on its way and goes on without drafts, text by
/// text, until each has its tokens; a text that has them takes no more steps. A step in which a toy
/// fails is taken to its end before the text's next one: other texts take theirs in between. So
/// what becomes of a round does not depend on whether something failed, which may depend on what
/// was drawn.
class course_player {
public:
    course_player(const course& c, course_world& world)
        : course_(c), world_(world), rounds_(c.texts) {}

    void play() {
        using act = course_step::act;
        for (const course_step& s : course_.steps) {
            if (!open(s.text % course_.texts))
                continue;
            if (s.what == act::change)
                world_.change(s);
            else if (s.what == act::fault || s.what == act::target_fault)
                world_.fault(s);
            else
                take(s);
        }
        for (std::size_t t = 0; t < course_.texts; ++t)
            while (open(t))
                take({.text = t, .drafted = 0, .room = 1});
    }

private:
    enum class phase : unsigned char { none, begun, drafted, decided };
    struct round {
        phase reached = phase::none;
        course_step how{};
        course_step failed{}; // has to be taken to its end, if `fails`
        bool fails = false;
    };

    [[nodiscard]] bool open(std::size_t t) const {
        return world_.text(t).tokens().size() < course_.length;
    }

    void take(const course_step& s) {
        round& now = rounds_[s.text % course_.texts];
        while (now.fails) // a toy fails once for each time that it is told to
            (void)finished(course_step(now.failed), now);
        using act = course_step::act;
        if (!open(s.text % course_.texts))
            return;
        if (s.what == act::draft && now.reached != phase::none) {
            world_.text(s.text % course_.texts).abandon();
            now = {};
        }
        if (now.reached == phase::none)
            now = {.reached = phase::begun, .how = s};
        (void)finished(s, now);
    }

    /// Takes the step to its end, or notes that something failed in it.
    [[nodiscard]] bool finished(const course_step& s, round& now) {
        using act = course_step::act;
        course_text& text = world_.text(s.text % course_.texts);
        now.failed = s;
        now.fails = true;
        try {
            if (now.reached == phase::begun || s.what == act::repeat) {
                text.draft(now.how);
                now.reached = phase::drafted;
            }
            if (now.reached == phase::drafted && s.what != act::draft && s.what != act::repeat) {
                text.decide();
                now.reached = phase::decided;
            }
        } catch (const toy_fault&) {
            return false;
        }
        now.fails = false;
        if (s.what == act::commit) {
            text.commit(s.kept);
            now = {};
        }
        return true;
    }

    const course& course_;
    course_world& world_;
    std::vector<round> rounds_;
};

/// The first tokens of each text, one text behind the other, and their law.
using course_tokens = std::vector<std::int32_t>;
using course_joint_law = std::map<course_tokens, double>;

[[nodiscard]] inline course_tokens tokens_of(const course& c, course_world& played) {
    course_tokens all;
    for (std::size_t t = 0; t < c.texts; ++t)
        for (const target_id id : played.text(t).tokens().first(c.length))
            all.push_back(id.value);
    return all;
}

/// What came of all paths of a course.
struct course_law {
    course_joint_law law;
    std::string refused; ///< the specdec::error that a path met, where one did; the rest is open
    std::size_t paths = 0;
    bool too_many = false; ///< paths, or so it looked by the part of the law behind them: given up
};

/// The joint law of the texts of a course, through the decisions that ship. with_world(coin, use)
/// makes a fresh course_world that draws from the coin and calls use(world). Given up behind
/// most_paths, and before where the paths so far are an eighth of them and so little of the law
/// that twice as many would not do.
template <class C = interval_coin, class WithWorld>
[[nodiscard]] course_law law_of(const course& c, const WithWorld& with_world,
                                std::size_t most_paths = 100000) {
    struct enough {};
    course_law result;
    double reached = 0; // of the law
    const auto most = static_cast<double>(most_paths);
    try {
        enumerate<C>([&](C& coin) {
            const auto before = static_cast<double>(result.paths);
            if (before >= most || (before >= most / 8 && before > 2 * most * reached))
                throw enough{};
            ++result.paths;
            with_world(coin, [&](course_world& world) {
                course_player(c, world).play();
                result.law[tokens_of(c, world)] += coin.probability();
                reached += coin.probability();
            });
        });
    } catch (const enough&) {
        result.too_many = true;
    } catch (const error& problem) {
        if (std::string_view(problem.what()).starts_with("interval coin"))
            throw;
        result.refused = problem.what();
    }
    return result;
}

/// The law that it must be: each text follows the target by itself. law_at(text, tokens) gives the
/// target's probabilities behind the text's first tokens.
template <class LawAt>
[[nodiscard]] course_joint_law law_of_target(const course& c, const LawAt& law_at) {
    course_joint_law law;
    const auto grow = [&](const auto& self, const course_tokens& all, double probability) -> void {
        if (all.size() == c.texts * c.length) {
            law[all] += probability;
            return;
        }
        const std::size_t text = all.size() / c.length;
        const auto begin = all.begin() + static_cast<std::ptrdiff_t>(text * c.length);
        std::vector<target_id> tokens;
        for (auto id = begin; id != all.end(); ++id)
            tokens.push_back(target_id{*id});
        const std::vector<double> p = law_at(text, tokens);
        for (std::size_t v = 0; v < p.size(); ++v)
            if (const double step = p[v]; step > 0) {
                course_tokens longer = all;
                longer.push_back(static_cast<std::int32_t>(v));
                self(self, longer, probability * step);
            }
    };
    grow(grow, {}, 1.0);
    return law;
}

} // namespace specdec
