// SPDX-License-Identifier: MIT
// Texts side by side that learn into one n-gram cache: their joint law is the target's, enumerated,
// and a cache that changes between a draft and its decision is refused.
#include <specdec/decode/batch.hpp>

#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include <specdec/bridge/ngram_merge.hpp>
#include <specdec/decode/text_run.hpp>
#include <specdec/sampling/coin/philox_coin.hpp>
#include <specdec/verify/token_rejection.hpp>
#include <specdec/vocab/ngrams/ngram_cache.hpp>
#include <specdec/vocab/table/intersection.hpp>

#include "session_law.hpp"
#include "support/batch_of.hpp"
#include "support/course/course_text.hpp"
#include "support/tiny_tokenizer.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace {

using cache_type = ngram_cache<no_eviction>;
using target_words = tiny_tokenizer<target_id>;
using draft_words = tiny_tokenizer<draft_id>;

/// The target's "ab" is none of the drafter's tokens: a text that commits it teaches the cache.
struct cache_words {
    target_words target{{"a", "b", "ab"}};
    draft_words draft{{"a", "b"}};
    id_map map = intersect(draft.table(), target.table());
    byte_order<draft_id> order{draft};

    [[nodiscard]] auto merge_bridge(cache_type& cache, std::size_t max_draft) const {
        return make_ngram_merge_bridge(cache, target, draft, map, order, 16, {max_draft, 0});
    }
};

struct text {
    toy_model<draft_id> draft;
    model_drafter<toy_model<draft_id>> drafter{draft};
    using bridge_type = decltype(cache_words{}.merge_bridge(std::declval<cache_type&>(), 2));
    session<bridge_type, token_rejection> decoder;
    confidence stop{0, 2};
    coin_of_text<interval_coin> coin;
    generation_limits limits;
    silent_reader reader{};
    text_run<decltype(decoder), decltype(drafter), confidence, coin_of_text<interval_coin>,
             target_words, silent_reader>
        run;

    text(const cache_words& two, cache_type& cache, row_tree& q, std::size_t length,
         interval_coin& random, std::uint64_t number)
        : draft(model_of<draft_id>(q)),
          decoder(two.merge_bridge(cache, 2), token_rejection{.thinning = {1, 1}},
                  {.capacity = 16}),
          coin{&random, number}, limits{length, {}},
          run(decoder, drafter, stop, coin, two.target, limits, reader) {
        const auto first = static_cast<std::int32_t>(number); // so that the texts differ
        decoder.start(std::vector{target_id{first}}, std::vector{draft_id{0}});
    }

    [[nodiscard]] sequence tokens() const { return values_of(decoder.tokens().subspan(1)); }
};

} // namespace

TEST_CASE("two texts that share a cache have together the target's law") {
    const cache_words two;
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
        constexpr std::size_t length = 2;
        row_tree p(toy_rows(row_kind::random, 3, 700 + seed)),
            q(toy_rows(row_kind::random, 2, 800 + seed));
        const pair_law law = on_every_path([&](interval_coin& coin) {
            cache_type cache;
            text a(two, cache, q, length, coin, 0), b(two, cache, q, length, coin, 1);
            batch_of<target_id, toy_model<target_id>> target(2, model_of<target_id>(p));
            batch<decltype(target), decltype(a.run)> side_by_side(target);
            side_by_side.join(a.run);
            side_by_side.join(b.run);
            while (side_by_side.round()) {
            }
            return std::pair{a.tokens(), b.tokens()};
        });
        CHECK(total_variation(law, both_alone(p, length)) < 1e-12);
    }
}

TEST_CASE("a cache that changes between a draft and its decision is refused") {
    const cache_words two;
    row_tree p([](const sequence&) { return std::vector{0.5F, 0.4F, 0.6F}; });
    row_tree q([](const sequence&) { return std::vector{0.7F, 0.3F}; });
    struct run_of {
        toy_model<target_id> target;
        toy_model<draft_id> draft;
        model_drafter<toy_model<draft_id>> drafter{draft};
        session<text::bridge_type, token_rejection> decoder;
        philox_coin coin{3};
        run_of(const cache_words& w, cache_type& cache, row_tree& target_rows, row_tree& rows)
            : target(model_of<target_id>(target_rows)), draft(model_of<draft_id>(rows)),
              decoder(w.merge_bridge(cache, 2), token_rejection{}, {.capacity = 16}) {
            decoder.start(std::vector{target_id{0}}, std::vector{draft_id{0}});
        }
        [[nodiscard]] sequence round() {
            const fixed_length two_tokens{2};
            decoder.draft(drafter, two_tokens, coin, 10);
            return decide();
        }
        [[nodiscard]] sequence decide() {
            return values_of(decoder.verify(decoder.score(target), coin).tokens);
        }
    };
    const std::vector ab{draft_id{0}, draft_id{1}};
    std::size_t refused = 0;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        cache_type cache;
        run_of one(two, cache, p, q);
        one.coin = philox_coin(seed);
        const fixed_length two_tokens{2};
        one.decoder.draft(one.drafter, two_tokens, one.coin, 10);
        REQUIRE(cache.insert(ab, target_id{2}) == ngram_insertion::inserted); // another's commit
        try {
            (void)one.decide();
        } catch (const error& problem) {
            ++refused;
            CHECK(
                std::string(problem.what()) ==
                "round: translation: expected no change between a round's draft and its "
                "verification: "
                "verify all sequences that share it before one of them drafts, learns or commits");
        }
        CHECK_FALSE(one.round().empty());
    }
    CHECK(refused == 20); // whatever was drawn
}
