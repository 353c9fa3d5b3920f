// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <specdec/core/basic/on_throw.hpp>
#include <specdec/core/concepts.hpp>
#include <specdec/core/error.hpp>
#include <specdec/core/law_version.hpp>
#include <specdec/core/model/checkpointing.hpp>
#include <specdec/core/model/context_tracker.hpp>
#include <specdec/core/require.hpp>

namespace specdec {

namespace detail {

/// What the numbers of rows are, where these can be copied.
template <class Rows>
struct number_of {
    using type = float;
};
template <class Row>
struct number_of<strided_rows<Row>> {
    using type = typename strided_rows<Row>::number_type;
};

} // namespace detail

/// A model that can be truncated, made of one that cannot, of one sequence or of several: before a
/// pass whose tokens may be taken back, a sequence's state is remembered; behind it a truncation
/// restores that state, and the tokens that are kept are fed once more. They go in front of the
/// next pass, as long as they are few, so that a rejection costs a few more positions and no pass
/// of its own; where more than `longest_replay` have come together, they are fed in a pass of their
/// own, behind which the state is remembered anew.
///
///     checkpointed_model<target_id, mamba> target(model);   // a ModelOf<target_id>
///
/// A drafter's pass drafts one token: told where a round begins (begin_draft_round), the state
/// behind a drafted token is never what is remembered. A truncation to less than was remembered
/// (another text, a round abandoned behind a commit) clears the sequence and feeds the rest again.
///
/// Borrows the model, which nobody else feeds. size() and held() are what the user sees; the
/// model's own size may lag behind. Where the model dropped its context by itself, all is fed
/// again. Throws what the model throws, and is then as it was. Memory: 12 bytes a token of the
/// capacity, and where several texts share a pass in which tokens are fed again, its rows. Where
/// such rows are of a kind that cannot be copied (no strided_rows), these tokens take passes of
/// their own. Allocates at construction, and for the largest such pass.
template <class Id, class M>
    requires CheckpointingModelOf<M, Id> || CheckpointingBatchModelOf<M, Id>
class checkpointed_model {
    using engine_type = detail::checkpointing_sequences<Id, M>;
    using parts_type = std::span<const sequence_tokens<Id>>;
    using rows_type = decltype(std::declval<engine_type&>().score(parts_type{}));
    static constexpr bool one = CheckpointingModelOf<M, Id>;
    static constexpr bool copies = requires { typename rows_type::number_type; };

public:
    static constexpr model_traits traits{.begin_draft_round = true, .replays_on_reject = true};
    /// Clears the model.
    explicit checkpointed_model(M& model, std::size_t longest_replay = 8)
        : engine_(model), longest_replay_(longest_replay), states_(engine_.sequences()) {
        parts_.reserve(sequences());
        for (std::size_t s = 0; s < sequences(); ++s) {
            states_[s].held.reserve(model.capacity());
            forget(s);
        }
    }

    [[nodiscard]] std::size_t sequences() const { return states_.size(); }
    [[nodiscard]] std::size_t capacity() const { return engine_.model().capacity(); }
    [[nodiscard]] std::size_t vocabulary_size() const { return engine_.model().vocabulary_size(); }
    [[nodiscard]] std::size_t size(std::size_t s) const { return states_[s].held.size(); }
    [[nodiscard]] held_tokens<Id> held(std::size_t s) const { return states_[s].held.held(); }

    void append(std::size_t s, std::span<const Id> ids) {
        require_room(s, ids);
        context_tracker<Id>& held = states_[s].held;
        const std::size_t before = held.size();
        held.fed(ids);
        on_throw guard([&] { held.truncated(before); });
        feed(s);
        guard.done();
    }

    [[nodiscard]] rows_type score(parts_type parts) {
        for (const auto& [s, ids] : parts)
            require_room(s, ids);
        for (const auto& [s, ids] : parts)
            remember(s, copies || parts.size() == 1 ? longest_replay_ : 0);
        for (const auto& [s, ids] : parts)
            states_[s].held.fed(ids);
        on_throw guard([&] {
            for (const auto& [s, ids] : parts)
                states_[s].held.truncated(size(s) - ids.size());
        });
        parts_.clear();
        for (const auto& [s, ids] : parts)
            parts_.push_back({s, behind_state(s)});
        const rows_type rows = engine_.score(parts_);
        const std::size_t fed = count_tokens(parts_);
        require_rows(rows, fed, vocabulary_size(), "checkpointed_model");
        const rows_type wanted = without_replays(rows, parts, fed);
        guard.done();
        for (const auto& [s, ids] : parts)
            states_[s].seen = size(s);
        return wanted;
    }

    void truncate(std::size_t s, std::size_t n) {
        meet(s);
        state& x = states_[s];
        if (n < x.seen && x.remembered && x.checkpoint <= n) {
            engine_.restore(s);
            x.seen = x.checkpoint;
        } else if (n < x.seen) {
            forget(s);
        }
        x.held.truncated(n);
    }

    void begin_draft_round(std::size_t s, std::size_t n) { states_[s].round = n; }

    [[nodiscard]] law_version version(std::size_t s) const {
        return version_of(engine_.model(), s);
    }
    [[nodiscard]] static constexpr bool replays_on_reject() { return true; }
    void forget_learnt()
        requires LearnsFromTexts<M>
    {
        engine_.model().forget_learnt();
    }

    // clang-format off
    [[nodiscard]] std::size_t size() const requires one { return size(0); }
    [[nodiscard]] held_tokens<Id> held() const requires one { return held(0); }
    void append(std::span<const Id> ids) requires one { append(0, ids); }
    [[nodiscard]] rows_type score(std::span<const Id> ids) requires one {
        const sequence_tokens<Id> part{0, ids};
        return score(parts_type(&part, 1));
    }
    void truncate(std::size_t n) requires one { truncate(0, n); }
    void begin_draft_round(std::size_t n) requires one { begin_draft_round(0, n); }
    [[nodiscard]] law_version version() const requires one { return version(0); }
    // clang-format on

private:
    struct state {
        context_tracker<Id> held{};
        std::size_t seen = 0;       // of them, by the model's state
        std::size_t checkpoint = 0; // the same of the remembered one
        bool remembered = false;
        std::size_t round = ~std::size_t{0}; // tokens behind these are drafted
    };

    [[nodiscard]] std::span<const Id> behind_state(std::size_t s) const {
        return held(s).subspan(states_[s].seen);
    }

    /// The state behind what is held is remembered, or one at most `longest` tokens before it is.
    void remember(std::size_t s, std::size_t longest) {
        meet(s);
        state& x = states_[s];
        const std::size_t behind = x.held.size() - x.seen;
        if (behind > longest || (behind > 0 && !x.remembered))
            feed(s);
        if (x.seen < x.held.size() || (x.held.size() > x.round && x.remembered))
            return;
        engine_.checkpoint(s);
        x.checkpoint = x.seen;
        x.remembered = true;
    }
    void feed(std::size_t s) {
        meet(s);
        if (const auto ids = behind_state(s); !ids.empty())
            engine_.append(s, ids);
        states_[s].seen = size(s);
    }
    void forget(std::size_t s) {
        engine_.clear(s);
        states_[s].seen = 0;
        states_[s].remembered = false;
    }
    /// An engine that has dropped its context begins anew.
    void meet(std::size_t s) {
        if (engine_.size(s) != states_[s].seen)
            forget(s);
    }

    /// The rows of `parts`, of those of the pass, which begin with tokens fed again.
    [[nodiscard]] rows_type without_replays(const rows_type& rows, parts_type parts,
                                            std::size_t fed) {
        const std::size_t asked = count_tokens(parts);
        if (parts.size() == 1)
            return rows.middle(fed - asked, asked);
        if constexpr (copies)
            if (asked < fed) {
                rows_.resize(asked * vocabulary_size());
                auto to = rows_.begin();
                std::size_t end = 0;
                for (std::size_t i = 0; i < parts.size(); ++i) {
                    end += parts_[i].ids.size();
                    for (std::size_t k = end - parts[i].ids.size(); k < end; ++k)
                        for (const auto value : rows[k].values)
                            *to++ = value;
                }
                return {rows_.data(), asked, vocabulary_size(), vocabulary_size()};
            }
        return rows;
    }

    void require_room(std::size_t s, std::span<const Id> ids) const {
        if (ids.size() > capacity() - size(s))
            fail("checkpointed_model", "context",
                 "expected at most " + std::to_string(capacity() - size(s)) + " tokens, found " +
                     std::to_string(ids.size()));
    }

    engine_type engine_;
    std::size_t longest_replay_;
    std::vector<state> states_; // [sequences]
    std::vector<sequence_tokens<Id>> parts_;
    std::vector<typename detail::number_of<rows_type>::type> rows_; // of parts fed again
};

} // namespace specdec
