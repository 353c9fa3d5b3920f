// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace specdec {

/// A course of sessions: what their driver does, step by step, whatever comes of it. Each step is
/// carried out with what it lacks, a commit with the draft and the decision before it, so that
/// every list of steps is a course and a course with a step less is one, too. A step in which
/// something fails is taken to its end before the next one of its text, whatever others have done
/// in between.
struct course_step {
    enum class act : unsigned char {
        commit,       ///< the first `kept` tokens of the round
        decide,       ///< the round, and leaves it at that
        draft,        ///< a new round: what was drafted or decided and not committed is abandoned
        repeat,       ///< the draft of the round that is on its way, as if its pass had failed
        change,       ///< what the drafter draws from is to change as soon as it may
        fault,        ///< a pass of the drafter fails, after `drafted` more
        target_fault, ///< of the target's rows one fails in a decision, after `drafted` more
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

    /// Whether something happens elsewhere between a text's draft and its decision, or may where a
    /// step fails.
    [[nodiscard]] bool overlaps() const {
        using act = course_step::act;
        for (std::size_t t = 0; t < texts; ++t) {
            bool drafted = false, fails = false;
            for (const course_step& s : steps) {
                fails = fails || s.what == act::fault || s.what == act::target_fault;
                if (s.text % texts == t && s.what <= act::repeat)
                    drafted = fails || s.what == act::draft || s.what == act::repeat;
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
            case act::repeat:
                all_steps += "repeat";
                break;
            case act::change:
                all_steps += "change";
                break;
            case act::fault:
                all_steps += "fault behind " + std::to_string(s.drafted);
                break;
            case act::target_fault:
                all_steps += "fault of the target behind " + std::to_string(s.drafted);
                break;
            }
        }
        return all_steps + "; the first " + std::to_string(length);
    }
};

} // namespace specdec
