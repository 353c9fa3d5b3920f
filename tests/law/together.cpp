// SPDX-License-Identifier: MIT
// Two texts whose drafts are drawn in lockstep, from rows of common passes, have together the law
// of the target alone, twice: enumerated through batch, whatever the bridge.
#include <specdec/decode/draft_together.hpp>

#include <cstdint>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include <specdec/core/model/gathered_model.hpp>
#include <specdec/core/model/one_sequence.hpp>
#include <specdec/decode/batch.hpp>
#include <specdec/decode/text_run.hpp>
#include <specdec/testing/course/course_text.hpp>
#include <specdec/verify/block_verification.hpp>
#include <specdec/verify/exact_match.hpp>
#include <specdec/verify/token_rejection.hpp>

#include "session_law.hpp"
#include "support/batch_of.hpp"
#include "toy_bridges.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace together_tests {

using drafters = batch_of<draft_id, toy_model<draft_id>>;
using gathered = gathered_model<draft_id, drafters>;
using seat = one_sequence<draft_id, gathered>;
using letters_of = toy_words::target_words;

template <class B, class V>
struct drafted_text {
    seat model;
    model_drafter<seat> drafter{model};
    session<B, V> decoder;
    confidence stop;
    coin_of_text<interval_coin> coin;
    generation_limits limits;
    silent_reader reader{};
    using run_type = text_run<session<B, V>, model_drafter<seat>, confidence,
                              coin_of_text<interval_coin>, letters_of, silent_reader>;
    run_type run;

    /// Text 0 has 2 tokens and drafts of at most one, text 1 has one more of both: one goes on
    /// where the other has stopped.
    drafted_text(const toy_words& two, gathered& rows, B bridge, V rule, interval_coin& random,
                 std::uint64_t number)
        : model(rows, number), decoder(std::move(bridge), rule, {.capacity = 16}),
          stop{0.3, 1 + number}, coin{&random, number}, limits{2 + number, {}},
          run(decoder, drafter, stop, coin, two.target, limits, reader) {
        decoder.start(std::vector{target_id{0}}, std::vector{draft_id{0}});
    }
    [[nodiscard]] sequence tokens() const { return values_of(decoder.tokens().subspan(1)); }
};

/// What happens while both draft.
enum class course {
    side_by_side,
    given_up, ///< the longer draft was begun before, and given up behind its first row
    failing,  ///< a common pass throws, and all draft again
    joining,  ///< the second text joins behind the first one's round
};

template <class Run>
void give_up_a_draft(Run& run, std::size_t capacity) {
    if (!run.begin_draft(capacity))
        return;
    if (const draft_step step = run.announce(); step.gatherer != nullptr) {
        step.gatherer->pass();
        run.draw();
        (void)run.announce();
    }
}

template <class WithBridge, class V>
void check_pair(const char* name, const toy_words& two, const WithBridge& with_bridge, V rule) {
    std::uint64_t seed = 0;
    for (const course how :
         {course::side_by_side, course::given_up, course::failing, course::joining}) {
        row_tree p(toy_rows(row_kind::random, two.target_size(), 900 + seed)),
            q(toy_rows(seed % 2 == 0 ? row_kind::random : row_kind::ties, two.draft_size(),
                       950 + seed));
        ++seed;
        std::size_t common = 0, failed = 0;
        const pair_law law = on_every_path([&](interval_coin& coin) {
            std::pair<sequence, sequence> texts;
            with_bridge(std::size_t{2}, [&](auto bridge) {
                drafters models(2, model_of<draft_id>(q));
                models.fails_at = how == course::failing ? 1 : models.fails_at;
                gathered rows(models);
                using one = drafted_text<decltype(bridge), V>;
                one a(two, rows, bridge, rule, coin, 0);
                one b(two, rows, bridge, rule, coin, 1);
                batch_of<target_id, toy_model<target_id>> target(2, model_of<target_id>(p));
                batch<decltype(target), typename one::run_type> both(target);
                both.join(a.run);
                if (how == course::joining)
                    (void)both.round();
                both.join(b.run);
                if (how == course::given_up)
                    give_up_a_draft(b.run, target.capacity());
                for (bool more = true; more;) {
                    try {
                        more = both.round();
                    } catch (const error&) {
                        ++failed;
                    }
                }
                texts = {a.tokens(), b.tokens()};
                const std::size_t drafted =
                    a.decoder.counts().draft_tokens + b.decoder.counts().draft_tokens;
                common += drafted > models.passes ? 1U : 0U;
            });
            return texts;
        });
        CAPTURE(name, static_cast<int>(how));
        CHECK(total_variation(law, both_alone(p, 2, 3)) < exact);
        CHECK((common > 0 || how != course::side_by_side));
        CHECK((failed > 0) == (how == course::failing));
    }
}

TEST_CASE("two texts that draft together have together the target's law", "[law]") {
    static const toy_words same({"b", "a"}, {"b", "a"}), two({"b", "a"}, {"a", "b", "bb"}),
        pieces({"b", "a"}, {"b", "a", "bb"}), cached({"a", "b", "aa"}, {"a", "b"});
    constexpr token_rejection rejection{.thinning = {1, 1}};
    constexpr block_verification block{.thinning = {1, 1}};
    check_pair("identity", same, same.identity(), rejection);
    check_pair("identity, block", same, same.identity(), block);
    check_pair("tli", two, two.tli(), rejection);
    check_pair("union", two, two.union_of(), rejection);
    check_pair("nested", pieces, pieces.nested(), rejection);
    check_pair("slem", two, two.slem(), exact_match{});
    check_pair("slrs", two, two.slrs(0.02), rejection);
    check_pair("merge", cached, cached.merge(0, {{{0, 0}, 2}}), rejection);
    check_pair("spelling", two, two.spelling(), exact_match{});
}

} // namespace together_tests
