// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <specdec/core/error.hpp>
#include <specdec/core/model/best_sequence.hpp>
#include <specdec/core/model/context_tracker.hpp>
#include <specdec/core/model/one_sequence.hpp>
#include <specdec/core/model/row_batching_model.hpp>
#include <specdec/core/token_id.hpp>
#include <specdec/draft/model_drafter.hpp>
#include <specdec/draft/processed_drafter.hpp>
#include <specdec/draft/windowed_drafter.hpp>
#include <specdec/speculation/any/any_model.hpp>
#include <specdec/speculation/any/any_row_processor.hpp>

namespace specdec {

/// Which sequences of a drafter's model are texts', and which text each had last: a new text takes
/// the free one that costs least (best_sequence), in tokens of the texts, since where two texts
/// begin alike, their contexts do so, too, however the bridge cuts them into tokens. A sequence is
/// chosen by this alone; what it holds, the drafter sees.
/// Allocates where a text is longer than ever.
class sequence_pool {
public:
    explicit sequence_pool(std::size_t sequences) : seats_(sequences) {}

    [[nodiscard]] std::size_t size() const { return seats_.size(); }
    [[nodiscard]] bool any_taken() const {
        for (const seat& x : seats_)
            if (x.taken)
                return true;
        return false;
    }

    /// The free sequence for a text; has_key(s): whether sequence s has the text's context key.
    /// Errors: specdec::error where all are taken.
    template <class HasKey>
    [[nodiscard]] std::size_t free_for(std::span<const target_id> prompt,
                                       const HasKey& has_key) const {
        const std::size_t best = best_sequence(
            size(), [&](std::size_t s) { return !seats_[s].taken; },
            [&](std::size_t s) {
                return cost_of_reuse<target_id>(seats_[s].text, prompt, has_key(s));
            },
            [&](std::size_t s) { return seats_[s].used; });
        if (best == size())
            fail("speculation", "text",
                 "expected a free sequence of the drafter, all " + std::to_string(size()) +
                     " are taken");
        return best;
    }

    void take(std::size_t s) {
        seats_[s].taken = true;
        seats_[s].used = ++uses_;
        seats_[s].text.clear();
    }
    /// The text of sequence s has come to these tokens: those of before, and more.
    void follow(std::size_t s, std::span<const target_id> tokens) {
        std::vector<target_id>& text = seats_[s].text;
        text.insert(text.end(), tokens.begin() + static_cast<std::ptrdiff_t>(text.size()),
                    tokens.end());
    }
    void leave(std::size_t s) {
        seats_[s].taken = false;
        seats_[s].used = ++uses_;
    }

private:
    struct seat {
        bool taken = false;
        std::uint64_t used = 0; // greater for one that was taken or left later
        std::vector<target_id> text{};
    };
    std::vector<seat> seats_; // [sequences of the model]
    std::uint64_t uses_ = 0;
};

/// The drafter's model, whose rows may be requested. A common pass that throws makes no row: each
/// sequence then asks for its own, so that only those whose row cannot be made go without a draft.
class drafter_rows final : public row_batching_model<draft_id, any_batch_model<draft_id>> {
    using base = row_batching_model<draft_id, any_batch_model<draft_id>>;

public:
    using base::base;
    void pass() override {
#if defined(__cpp_exceptions)
        try {
            base::pass();
        } catch (...) { // thrown again to whom it concerns
        }
#else
        base::pass();
#endif
    }
};

/// The window of contexts that are longer than the drafter was trained on: one that reads features
/// has its own (feature_model).
[[nodiscard]] inline window_settings window_of(const drafter_rows& drafter) {
    const std::size_t trained = drafter.trained_context(), most = drafter.capacity();
    return {.length = drafter.reads_features() || trained > most ? 0 : trained};
}

/// A sequence of the drafter's model for as long as a text needs it, which may grow longer than the
/// drafter's context or training. Models Drafter by drafter().
class sequence_lease {
public:
    sequence_lease(drafter_rows& models, sequence_pool& seats, std::size_t sequence,
                   any_row_processor<draft_id> process, std::size_t tokens,
                   const window_settings& window = {})
        : seats_(seats), sequence_(sequence), model_(models, sequence),
          full_(model_, left_context::reused), windowed_(full_, window),
          processed_(windowed_, std::move(process), tokens) {
        seats_.take(sequence);
    }
    sequence_lease(const sequence_lease&) = delete;
    sequence_lease& operator=(const sequence_lease&) = delete;
    ~sequence_lease() { seats_.leave(sequence_); }

    [[nodiscard]] auto& drafter() { return processed_; }
    /// Tokens of the text were committed.
    void follow(std::span<const target_id> text) {
        seats_.follow(sequence_, text);
        full_.unsync();
    }
    /// Once a draft has begun: where the drafter has to be fed more than `most` tokens before its
    /// first row, feeds it so many, or `least`, with which it catches up with what rounds commit.
    /// Returns whether that leaves some.
    [[nodiscard]] bool reads_on(std::size_t most) {
        constexpr std::size_t least = 8;
        const std::size_t now = most < least ? least : most;
        const std::size_t missing = full_.pending().append.size();
        if (missing == 0 || missing - 1 <= now)
            return false;
        full_.feed_some(now);
        return true;
    }

private:
    using model_type = one_sequence<draft_id, drafter_rows>;
    sequence_pool& seats_;
    std::size_t sequence_;
    model_type model_;
    model_drafter<model_type> full_;
    windowed_drafter<model_drafter<model_type>> windowed_;
    processed_drafter<decltype(windowed_), any_row_processor<draft_id>> processed_;
};

} // namespace specdec
