// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <specdec/core/error.hpp>
#include <specdec/core/model/context_mirror.hpp>
#include <specdec/core/token_id.hpp>

namespace specdec {

/// Which sequences of a drafter's model are texts', and which text each had last: a new text takes
/// the free one whose last text begins as it does, since its context does so, too, however the
/// bridge cuts it into tokens. A sequence is chosen by this alone; what it holds, the drafter sees.
/// Allocates where a text is longer than ever.
class drafter_seats {
public:
    explicit drafter_seats(std::size_t sequences) : seats_(sequences) {}

    [[nodiscard]] std::size_t size() const { return seats_.size(); }
    [[nodiscard]] bool any_taken() const {
        for (const seat& x : seats_)
            if (x.taken)
                return true;
        return false;
    }

    /// The free sequence for a text; of those that agree as far, the one whose text was shortest.
    /// Errors: specdec::error where all are taken.
    [[nodiscard]] std::size_t free_for(std::span<const target_id> prompt) const {
        std::size_t best = size(), most = 0;
        for (std::size_t s = 0; s < size(); ++s) {
            if (seats_[s].taken)
                continue;
            const std::size_t common = common_prefix<target_id>(seats_[s].text, prompt);
            if (best == size() || common > most ||
                (common == most && seats_[s].text.size() < seats_[best].text.size())) {
                best = s;
                most = common;
            }
        }
        if (best == size())
            fail("speculation", "text",
                 "expected a free sequence of the drafter, all " + std::to_string(size()) +
                     " are taken by texts");
        return best;
    }

    void take(std::size_t s) {
        seats_[s].taken = true;
        seats_[s].text.clear();
    }
    /// The text of sequence s has come to these tokens: those of before, and more.
    void follow(std::size_t s, std::span<const target_id> tokens) {
        std::vector<target_id>& text = seats_[s].text;
        text.insert(text.end(), tokens.begin() + static_cast<std::ptrdiff_t>(text.size()),
                    tokens.end());
    }
    void leave(std::size_t s) { seats_[s].taken = false; }

private:
    struct seat {
        bool taken = false;
        std::vector<target_id> text{};
    };
    std::vector<seat> seats_; // [sequences of the model]
};

} // namespace specdec
