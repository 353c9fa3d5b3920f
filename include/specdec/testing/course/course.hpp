// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace specdec {

/// A course of sessions: what their driver does, step by step, whatever comes of it. Each step is
/// carried out with what it lacks, a commit with the draft and the decision before it, so that
/// every list of steps is a course and a course with a step less is one, too.
struct course_step {
    enum class act : unsigned char {
        commit, ///< the first `kept` tokens of the round
        decide, ///< the round, and leaves it at that
        draft,  ///< a round, whatever was drafted or decided and not committed
        change, ///< what the drafter draws from is to change as soon as it may
        fault,  ///< a pass of the drafter fails, behind `drafted` more; the driver tries again
    };
    static constexpr std::size_t all = 9;

    act what = act::commit;
    std::size_t text = 0;    ///< the one whose turn it is
    std::size_t drafted = 1; ///< draft tokens of the round, at most
    std::size_t room = 2;    ///< target tokens that the round may commit
    std::size_t kept = all;
};

struct course {
    std::size_t texts = 1;
    std::size_t length = 1; ///< tokens of each text whose law is looked at
    std::vector<course_step> steps{};

    /// Whether something happens elsewhere between a text's draft and its decision.
    [[nodiscard]] bool overlaps() const {
        for (std::size_t t = 0; t < texts; ++t) {
            bool drafted = false;
            for (const course_step& s : steps) {
                if (s.text % texts == t && s.what <= course_step::act::draft)
                    drafted = s.what == course_step::act::draft;
                else if (s.text % texts != t && drafted)
                    return true;
            }
            if (drafted && t > 0) // the texts before it are brought to their end first
                return true;
        }
        return false;
    }

    /// In words: "draft 2 room 3; text 1: commit 0 of draft 1 room 2".
    [[nodiscard]] std::string text() const {
        std::string all_steps;
        for (const course_step& s : steps) {
            using act = course_step::act;
            all_steps += all_steps.empty() ? "" : "; ";
            if (texts > 1)
                all_steps += "text " + std::to_string(s.text % texts) + ": ";
            const std::string round =
                "draft " + std::to_string(s.drafted) + " room " + std::to_string(s.room);
            switch (s.what) {
            case act::commit:
                all_steps += "commit " +
                             (s.kept >= course_step::all ? "all" : std::to_string(s.kept)) +
                             " of " + round;
                break;
            case act::decide:
                all_steps += "decide " + round;
                break;
            case act::draft:
                all_steps += round;
                break;
            case act::change:
                all_steps += "change";
                break;
            case act::fault:
                all_steps += "fault behind " + std::to_string(s.drafted);
                break;
            }
        }
        return all_steps + "; the first " + std::to_string(length);
    }
};

} // namespace specdec
