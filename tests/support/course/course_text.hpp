// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include <specdec/core/coin.hpp>
#include <specdec/core/token_id.hpp>
#include <specdec/decode/round_result.hpp>
#include <specdec/decode/session_settings.hpp>
#include <specdec/draft/stop_rule.hpp>
#include <specdec/process/law_factory.hpp>

#include "support/course/course.hpp"
#include "support/toys/weighted_model.hpp"

namespace specdec {

/// A text on a course.
class course_text {
public:
    virtual ~course_text() = default;
    virtual void draft(const course_step& how) = 0;
    virtual void decide() = 0;              ///< what was drafted
    virtual void commit(std::size_t n) = 0; ///< the decided round's first n tokens, or all of them
    virtual void abandon() = 0;             ///< what was drafted or decided
    /// The committed tokens behind the prompt.
    [[nodiscard]] virtual std::span<const target_id> tokens() const = 0;
};

/// Texts that share a coin of one seed draw at the same positions: each has sites of its own.
template <class C>
struct coin_of_text {
    C* coin;
    std::uint64_t text;

    bool flip(draw_site site, double p) { return coin->flip(moved(site), p); }
    auto uniform(draw_site site) { return coin->uniform(moved(site)); }
    template <class L>
    auto pick(draw_site site, const L& law) {
        return coin->pick(moved(site), law);
    }

private:
    [[nodiscard]] draw_site moved(draw_site site) const {
        site.position += 100000 * text;
        return site;
    }
};

/// How long the drafts of a session on a course are: as its steps say. Another one has the same two
/// functions; the rule that stop_of returns lives until it is called again.
struct course_lengths {
    fixed_length now{};
    [[nodiscard]] const fixed_length& stop_of(const course_step& how) {
        now.length = how.drafted;
        return now;
    }
    void learn(const round_result&) {} ///< a round that is committed now
};

/// The target's laws of a text on a course, of which one can be told to fail, once. A law factory.
struct course_laws {
    std::size_t* left; ///< to the one that throws toy_fault; 0: none does
    void reserve(std::size_t, std::size_t) {}
    [[nodiscard]] softmax_law<target_id> operator()(logits_row<target_id> row, std::size_t i,
                                                    std::span<const target_id> tokens,
                                                    const sampling_parameters& sampling) const {
        if (*left > 0 && --*left == 0)
            throw toy_fault{};
        return softmax_rows{}(row, i, tokens, sampling);
    }
};

/// A session that was started, as a text on a course. Borrows target and drafter.
template <class Session, class Target, class D, class C, class Lengths = course_lengths>
class session_on_course : public course_text {
public:
    session_on_course(Session decoder, Target& target, D& drafter, C coin, Lengths lengths = {})
        : decoder_(std::move(decoder)), target_(target), drafter_(drafter), coin_(coin),
          lengths_(std::move(lengths)), prompt_(decoder_.tokens().size()) {}

    void draft(const course_step& how) override {
        (void)decoder_.prepare(target_);
        const auto& stop = lengths_.stop_of(how);
        decoder_.draft(drafter_, stop, coin_,
                       room_within(decoder_.tokens().size(), target_.capacity(), how.room));
    }
    void decide() override { round_ = decoder_.verify(decoder_.score(target_), coin_); }
    void commit(std::size_t n) override {
        lengths_.learn(round_);
        decoder_.commit(n < round_.tokens.size() ? n : round_.tokens.size());
    }
    void abandon() override { decoder_.abandon(); }
    [[nodiscard]] std::span<const target_id> tokens() const override {
        return decoder_.tokens().subspan(prompt_);
    }
    [[nodiscard]] const Session& decoder() const { return decoder_; }

private:
    Session decoder_;
    Target& target_;
    D& drafter_;
    C coin_;
    Lengths lengths_;
    std::size_t prompt_; // tokens
    round_result round_{};
};

} // namespace specdec
