// SPDX-License-Identifier: MIT
// Texts side by side are the texts alone, whatever bridge, rule, draft length and limits they have
// and whoever comes and goes beside them.
#include <specdec/decode/batch.hpp>

#include <deque>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include <catch2/catch.hpp>

#include "support/batch_of.hpp"
#include "support/decoding.hpp"
#include <specdec/core/model/shared_model.hpp>
#include <specdec/decode/text_run.hpp>
#include <specdec/process/processed_rows.hpp>

using namespace specdec;
using namespace specdec::testing;

namespace {

using batched = batch_of<target_id, target_text_model>;

struct failing_reader : recorder {
    std::size_t throw_in_round = ~std::size_t{0};
    bool round(const round_result& r) {
        if (rounds + 1 == throw_in_round)
            throw std::runtime_error("reader");
        return recorder::round(r);
    }
};

/// What one text needs; number i differs from the others in prompt, seed, drafts and limits.
template <class B, class V>
struct text {
    draft_text_model draft;
    model_drafter<draft_text_model> drafter{draft};
    session<B, V> decoder;
    fixed_length stop;
    philox_coin coin;
    generation_limits limits;
    failing_reader reader{};
    using run_type = text_run<session<B, V>, model_drafter<draft_text_model>, fixed_length,
                              philox_coin, tiny_tokenizer<target_id>, failing_reader>;
    std::optional<run_type> run{};

    text(const toy_world& world, B bridge, V rule, std::size_t i)
        : draft(world.draft_model()), decoder(std::move(bridge), rule, world.settings(1)),
          stop{i % 5}, coin(7, i), limits{i == 2 ? 0 : 20 + 7 * i, {}} {
        if (i == 3)
            limits.stop_strings = {"a"};
        if (i == 4)
            reader.cancel_after_rounds = 5;
        const std::string prompts[] = {"ab c a", "c", "b a b", "a c c b a", "ab"};
        decoder.start(world.two.encode(prompts[i % 5]), world.prefix);
        run.emplace(decoder, drafter, stop, coin, world.two.target, limits, reader);
    }

    void run_alone(const toy_world& world) {
        target_text_model target = world.target_model();
        (void)generate(decoder, target, drafter, stop, coin, world.two.target, limits, reader);
    }
};

template <class Text>
std::vector<target_id> tokens_of(const Text& t) {
    return {t.decoder.tokens().begin(), t.decoder.tokens().end()};
}

constexpr std::size_t texts = 9;

/// A float by another name, and a target of several sequences whose rows are made of them.
struct wide {
    float value;
    explicit operator float() const { return value; }
};
struct wide_batch : batch_of<target_id, target_text_model> {
    using batch_of::batch_of;
    std::vector<wide> widened{};
    [[nodiscard]] logits_rows<target_id, wide>
    score(std::span<const sequence_tokens<target_id>> parts) {
        const std::size_t n = batch_of::score(parts).size();
        widened.clear();
        for (const float x : rows)
            widened.push_back({x});
        return {widened.data(), n, vocabulary_size(), vocabulary_size()};
    }
};
static_assert(ScoringBatchModelOf<wide_batch, target_id> && !BatchModelOf<wide_batch, target_id>);

/// A target that tells what its sequences hold, and what each call of append() fed.
struct telling : batched {
    using batched::batched;
    std::vector<sequence_tokens<target_id>> appended{};
    [[nodiscard]] std::span<const target_id> held(std::size_t s) const { return models[s].held(); }
    void append(std::size_t s, std::span<const target_id> ids) {
        batched::append(s, ids);
        appended.push_back({s, ids});
    }
};

/// All texts through `seats` sequences of the target: the next one joins when one has left.
template <class Texts, class Batch>
void serve(Texts& all, Batch& side_by_side) {
    std::size_t next = 0;
    do
        while (side_by_side.room() && next < all.size())
            side_by_side.join(*all[next++].run);
    while (side_by_side.round() || next < all.size());
}

struct counting_rounds : draft_text_model { // a round that began changes its rows, it says
    static constexpr model_traits traits{.begin_draft_round = true};
    law_version rounds = 0;
    void begin_draft_round(std::size_t) { ++rounds; }
    [[nodiscard]] law_version version() const { return rounds; }
};

} // namespace

TEST_CASE("a text side by side with others is the text alone") {
    const toy_world world;
    const auto check = [&](const char* name, auto bridge, auto rule) {
        using one = text<decltype(bridge), decltype(rule)>;
        for (const std::size_t seats : {1U, 3U, 16U}) {
            CAPTURE(name, seats);
            batched target(seats, world.target_model());
            std::deque<one> all;
            for (std::size_t i = 0; i < texts; ++i)
                all.emplace_back(world, bridge, rule, i);
            batch<batched, typename one::run_type> side_by_side(target);
            serve(all, side_by_side);
            CHECK(side_by_side.texts() == 0);
            std::uint64_t rounds = 0, rows = 0;
            for (std::size_t i = 0; i < texts; ++i) {
                CAPTURE(i);
                one alone(world, bridge, rule, i);
                alone.run_alone(world);
                CHECK(tokens_of(all[i]) == tokens_of(alone));
                CHECK(all[i].reader.text == alone.reader.text);
                CHECK(all[i].reader.origins == alone.reader.origins);
                const statistics& c = all[i].decoder.counts();
                CHECK(c.proposed == alone.decoder.counts().proposed);
                CHECK(c.accepted == alone.decoder.counts().accepted);
                CHECK(c.discarded == alone.decoder.counts().discarded);
                REQUIRE(all[i].run->finish() != finish_reason::none);
                rounds += c.rounds;
                rows += c.rounds + c.proposed;
            }
            const batch_counts& c = side_by_side.counts();
            CHECK(c.passes == target.passes);
            CHECK(c.sequences == rounds);
            CHECK(c.rows <= rows); // a token that T has not ends a draft without a row
            CHECK(c.rows > rounds);
            if (seats > 1)
                CHECK(c.passes < rounds);
            CHECK(c.rows_per_pass() ==
                  static_cast<double>(c.rows) / static_cast<double>(target.passes));
        }
    };
    for_every_bridge(
        world, 4, [&](const char* name, auto bridge) { check(name, bridge, token_rejection{}); });
    check("exact match", world.two.slem(4, world.capacity), exact_match{});
    check("block verification", world.two.tli(4, world.capacity), block_verification{});
}

TEST_CASE("drafters side by side may take turns with one model") {
    const toy_world world;
    using model_type = shared_model<draft_id, counting_rounds>;
    const auto check = [&](const char* name, const auto& bridge, const auto& rule) {
        using session_type = session<std::decay_t<decltype(bridge)>, std::decay_t<decltype(rule)>>;
        struct sharing_text {
            model_drafter<model_type> drafter;
            session_type decoder;
            fixed_length stop{3};
            philox_coin coin;
            recorder reader{};
            using run_type = text_run<session_type, model_drafter<model_type>, fixed_length,
                                      philox_coin, tiny_tokenizer<target_id>, recorder>;
            std::optional<run_type> run{};
        };
        const auto tokens_of_two = [&](bool share, bool together) {
            batched target(2, world.target_model());
            counting_rounds first{world.draft_model()}, second{world.draft_model()};
            model_type one(first), other(second);
            std::deque<sharing_text> all;
            for (std::uint64_t i = 0; i < 2; ++i) {
                sharing_text& x = all.emplace_back(model_drafter(share || i == 0 ? one : other),
                                                   session_type(bridge, rule, world.settings(1)),
                                                   fixed_length{3}, philox_coin(7, i));
                x.decoder.start(world.two.encode(i == 0 ? "ab c a" : "b"), world.prefix);
                x.run.emplace(x.decoder, x.drafter, x.stop, x.coin, world.two.target,
                              generation_limits{40, {}}, x.reader);
            }
            batch<batched, typename sharing_text::run_type> side_by_side(target, {}, together);
            serve(all, side_by_side);
            std::vector<std::vector<target_id>> tokens;
            std::vector<std::uint64_t> kept;
            for (const sharing_text& x : all) {
                REQUIRE(x.run->finish() == finish_reason::max_tokens);
                tokens.push_back(tokens_of(x));
                kept.push_back(x.decoder.counts().accepted);
            }
            return std::pair(tokens, kept);
        };
        CAPTURE(name);
        const auto apart = tokens_of_two(false, true);
        CHECK(tokens_of_two(true, true) == apart);
        CHECK(tokens_of_two(true, false) == apart);
    };
    for_every_bridge(world, 4, [&](const char* name, const auto& bridge) {
        check(name, bridge, token_rejection{});
    });
    check("exact match", world.two.slem(4, world.capacity), exact_match{});
}

TEST_CASE("why a text left a batch") {
    const toy_world world;
    batched target(2, world.target_model());
    using one = text<decltype(world.two.tli(4, 512)), token_rejection>;
    std::deque<one> all;
    for (std::size_t i = 0; i < 5; ++i)
        all.emplace_back(world, world.two.tli(4, 512), token_rejection{}, i);
    batch<batched, one::run_type> side_by_side(target);
    CHECK_FALSE(side_by_side.round()); // nobody there
    serve(all, side_by_side);
    CHECK(all[2].run->finish() == finish_reason::max_tokens); // of 0 tokens
    CHECK(all[2].decoder.counts().rounds == 0);
    CHECK(all[3].run->finish() == finish_reason::stop_string);
    CHECK(all[4].run->finish() == finish_reason::cancelled);
    CHECK_FALSE(side_by_side.round());
}

TEST_CASE("a failing pass, prompt or reader costs nobody else a token") {
    const toy_world world;
    using one = text<decltype(world.two.tli(4, 512)), token_rejection>;
    for (std::size_t failing_pass = 0; failing_pass < 12; ++failing_pass) {
        batched target(2, world.target_model());
        target.fails_at = failing_pass;
        std::deque<one> all;
        for (const std::size_t i : {0U, 1U, 5U})
            all.emplace_back(world, world.two.tli(4, 512), token_rejection{}, i);
        all[1].reader.throw_in_round = 3;
        batch<batched, one::run_type> side_by_side(target);
        side_by_side.join(*all[0].run);
        side_by_side.join(*all[1].run);
        CHECK_FALSE(side_by_side.room());
        std::size_t failed = 0;
        for (bool more = true; more;) {
            const std::size_t before = side_by_side.texts();
            try {
                more = side_by_side.round();
            } catch (const error&) {
                ++failed; // the pass: everybody stays
                CHECK(side_by_side.texts() == before);
                CHECK(side_by_side.thrower() == nullptr);
            } catch (const std::runtime_error&) {
                ++failed; // the reader's text has left, another takes its place
                CHECK(side_by_side.thrower() == &*all[1].run);
                CHECK(side_by_side.texts() == 1);
                CHECK_FALSE(side_by_side.holds(*all[1].run));
                CHECK(side_by_side.holds(*all[0].run));
                CHECK(all[1].run->finish() == finish_reason::none);
                side_by_side.join(*all[2].run);
            }
        }
        CHECK(failed == 2);
        CHECK(side_by_side.thrower() == nullptr); // the last round threw nothing
        for (const std::size_t i : {0U, 2U}) {
            one alone(world, world.two.tli(4, 512), token_rejection{}, i == 0 ? 0 : 5);
            alone.run_alone(world);
            CHECK(tokens_of(all[i]) == tokens_of(alone));
            CHECK(all[i].reader.text == alone.reader.text);
        }
    }

    batched narrow(2, target_text_model(world.two.target.table(), {.capacity = 4}));
    one too_long(world, world.two.tli(4, 512), token_rejection{}, 3),
        fits(world, world.two.tli(4, 512), token_rejection{}, 1);
    batch<batched, one::run_type> side_by_side(narrow);
    side_by_side.join(*too_long.run);
    side_by_side.join(*fits.run);
    while (side_by_side.round()) {
    }
    CHECK(too_long.run->finish() == finish_reason::context_full);
    CHECK(fits.run->finish() == finish_reason::context_full);
    CHECK(fits.decoder.tokens().size() == 5); // the last one is never fed
}

TEST_CASE("a text that has left keeps nothing of the target's memory") {
    const toy_world world;
    using one = text<decltype(world.two.tli(4, 512)), token_rejection>;
    batched target(2, world.target_model());
    one brief(world, world.two.tli(4, 512), token_rejection{}, 0);
    one longer(world, world.two.tli(4, 512), token_rejection{}, 8);
    batch<batched, one::run_type> side_by_side(target);
    side_by_side.join(*brief.run);
    side_by_side.join(*longer.run);
    while (brief.run->finish() == finish_reason::none)
        REQUIRE(side_by_side.round());
    CHECK(target.size(0) > 0);
    REQUIRE(side_by_side.round());
    CHECK(target.size(0) == 0);
    CHECK(target.size(1) > 0);
}

TEST_CASE("a pass's time is shared by its rows") {
    const toy_world world;
    batched target(2, world.target_model());
    using one = text<decltype(world.two.tli(4, 512)), token_rejection>;
    one first(world, world.two.tli(4, 512), token_rejection{}, 0);  // one row a pass
    one second(world, world.two.tli(4, 512), token_rejection{}, 4); // more
    double now = 0;
    const auto clock = [&now] { return now += 1.0; };
    batch<batched, one::run_type, decltype(clock)> side_by_side(target, clock);
    side_by_side.join(*first.run);
    side_by_side.join(*second.run);
    side_by_side.round();
    const double a = first.decoder.counts().target_seconds,
                 b = second.decoder.counts().target_seconds;
    const auto rows = static_cast<double>(second.decoder.counts().proposed + 1);
    REQUIRE(rows > 1);
    // A tick of its prompt and one of what is fed behind the draft, and its share of the pass.
    CHECK(a - 2 == Approx(1 / (rows + 1)));
    CHECK(a + b == Approx(5));
}

TEST_CASE("texts side by side over rows of another kind are those of one alone") {
    const toy_world world;
    struct {
        std::vector<target_id> tokens;
        bool round(const round_result& r) {
            tokens.insert(tokens.end(), r.tokens.begin(), r.tokens.end());
            return true;
        }
        bool bytes(std::string_view, token_origin) { return true; }
    } plain, first, second;
    const std::size_t size = world.two.target.vocabulary_size();
    const auto decode = [&](auto& reader, auto laws, const auto& drive) {
        draft_text_model draft = world.draft_model();
        model_drafter drafter(draft);
        const fixed_length stop{3};
        philox_coin coin(7);
        session decoder(world.two.tli(4), token_rejection{}, world.settings(1), std::move(laws));
        decoder.start(world.prompt, world.prefix);
        text_run run(decoder, drafter, stop, coin, world.two.target, {30, {}}, reader);
        drive(run);
    };
    decode(plain, softmax_rows{}, [&](auto& run) {
        target_text_model target = world.target_model();
        (void)generate(run, target);
    });
    decode(first, processed_rows(size), [&](auto& one) {
        decode(second, processed_rows(size), [&](auto& two) {
            wide_batch target(2, world.target_model());
            batch<wide_batch, std::remove_reference_t<decltype(one)>> side_by_side(target);
            side_by_side.join(one);
            side_by_side.join(two);
            while (side_by_side.round()) {
            }
        });
    });
    CHECK(first.tokens == plain.tokens);
    CHECK(second.tokens == plain.tokens);
}

TEST_CASE("a target that tells what it holds keeps it, and texts join where they begin") {
    const toy_world world;
    using one = text<words_tli, token_rejection>;
    const auto serve_all = [&](auto& target, std::size_t first, left_context left) {
        std::deque<one> all;
        batch<std::remove_reference_t<decltype(target)>, one::run_type> side_by_side(target);
        for (std::size_t i = 0; i < 2; ++i) { // the second time the other way round
            all.emplace_back(world, world.two.tli(4, world.capacity), token_rejection{},
                             (i + first) % 2 * 3);
            side_by_side.join(*all.back().run, left);
        }
        target.fed = 0;
        while (side_by_side.round()) {
        }
        std::vector<std::vector<target_id>> texts{tokens_of(all[0]), tokens_of(all[1])};
        if (first == 1)
            std::swap(texts[0], texts[1]);
        return std::pair{texts, target.fed};
    };
    telling target(2, world.target_model());
    const auto once = serve_all(target, 0, left_context::reused);
    CHECK(target.size(0) > 0);
    const auto again = serve_all(target, 1, left_context::reused);
    CHECK(again.first == once.first);
    CHECK(again.second < once.second);
    const auto anew = serve_all(target, 1, left_context::dropped);
    CHECK(anew.first == once.first);
    CHECK(anew.second == once.second);
    batched silent(2, world.target_model());
    CHECK(serve_all(silent, 0, left_context::reused).second == once.second);
    CHECK(serve_all(silent, 1, left_context::reused).second == once.second);
}

TEST_CASE("a text that joins is told its sequence, and how much of it is there") {
    const toy_world world;
    using one = text<words_tli, token_rejection>;
    const auto made = [&](std::size_t i) {
        return std::make_unique<one>(world, world.two.tli(4, world.capacity), token_rejection{}, i);
    };
    telling target(2, world.target_model());
    batch<telling, one::run_type> side_by_side(target);
    const auto first = made(0), second = made(1), again = made(0);
    const joined_sequence a = side_by_side.join(*first->run), b = side_by_side.join(*second->run);
    CHECK((a.sequence == 0 && a.reused == 0));
    CHECK((b.sequence == 1 && b.reused == 0));
    while (side_by_side.round()) {
    }
    REQUIRE(target.size(1) > 0);
    const std::vector<target_id> prompt = tokens_of(*again);
    const joined_sequence c = side_by_side.join(*again->run);
    CHECK(c.sequence == 0);               // which began as it does
    CHECK(c.reused == prompt.size() - 1); // the last one is fed, for its row
    side_by_side.leave(*again->run);      // between rounds
    CHECK_FALSE(side_by_side.holds(*again->run));
    CHECK(side_by_side.texts() == 0);
    side_by_side.leave(*again->run); // is not there
    CHECK(side_by_side.texts() == 0);
    CHECK(side_by_side.join(*again->run, left_context::dropped).reused == 0);

    batched silent(1, world.target_model());
    batch<batched, one::run_type> alone(silent);
    const auto last = made(0);
    CHECK(alone.join(*last->run).reused == 0);
}

namespace {

/// A target that copies prefixes, unless it is told that it cannot.
struct copying : telling {
    using telling::telling;
    static constexpr model_traits traits{.copies_prefix = true};
    std::size_t copied = 0;
    bool can = true;
    bool copy_prefix(std::size_t to, std::size_t from, std::size_t n) {
        if (!can)
            return false;
        const auto all = held(from);
        const std::vector<target_id> ids(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(n));
        models[to].truncate(0);
        models[to].append(ids);
        copied += n;
        return true;
    }
};

} // namespace

TEST_CASE("a text takes its beginning from no sequence of another key") {
    struct keyed : copying {
        using copying::copying;
        std::vector<context_key> keys = std::vector<context_key>(3, 0);
        [[nodiscard]] context_key key(std::size_t s) const { return keys[s]; }
        void set_key(std::size_t s, context_key to) {
            if (keys[s] != to)
                truncate(s, 0);
            keys[s] = to;
        }
    };
    using one = text<words_tli, token_rejection>;
    struct keyed_run : one::run_type {
        using run_type = one::run_type;
        using run_type::run_type;
        context_key own = 0;
        [[nodiscard]] context_key key() const { return own; }
    };
    const toy_world world;
    keyed target(3, world.target_model());
    batch<keyed, keyed_run> side_by_side(target);
    std::vector<std::unique_ptr<one>> all;
    std::deque<keyed_run> runs;
    const auto join = [&](context_key key) {
        one& x = *all.emplace_back(
            std::make_unique<one>(world, world.two.tli(4, world.capacity), token_rejection{}, 0));
        runs.emplace_back(x.decoder, x.drafter, x.stop, x.coin, world.two.target, x.limits,
                          x.reader);
        runs.back().own = key;
        return side_by_side.join(runs.back()).reused;
    };
    CHECK(join(7) == 0);
    REQUIRE(side_by_side.round());
    CHECK(join(9) == 0);
    CHECK(target.copied == 0);
    CHECK(join(7) > 0);
}

TEST_CASE("a text takes its beginning from a sequence that another one uses") {
    const toy_world world;
    using one = text<words_tli, token_rejection>;
    for (const bool can : {true, false}) {
        copying target(3, world.target_model());
        target.can = can;
        batch<copying, one::run_type> side_by_side(target);
        std::vector<std::unique_ptr<one>> all;
        const auto join = [&](std::size_t i, left_context left) {
            all.push_back(std::make_unique<one>(world, world.two.tli(4, world.capacity),
                                                token_rejection{}, i));
            return side_by_side.join(*all.back()->run, left);
        };
        CHECK(join(0, left_context::reused).reused == 0);
        REQUIRE(side_by_side.round()); // the first one's prompt is there
        const std::size_t prompt = all[0]->decoder.tokens().size();
        REQUIRE(target.copied == 0);
        const joined_sequence second = join(0, left_context::reused);
        CHECK(second.sequence != 0);
        CHECK((second.reused > 0) == can);
        CHECK(target.copied <= prompt);
        CHECK((target.copied > 0) == can);
        const std::size_t before = target.copied;
        CHECK(join(0, left_context::dropped).reused == 0);
        CHECK(target.copied == before);
        while (side_by_side.round()) {
        }
        one alone(world, world.two.tli(4, world.capacity), token_rejection{}, 0);
        alone.run_alone(world);
        for (const auto& x : all)
            CHECK(tokens_of(*x) == tokens_of(alone));
    }
}

TEST_CASE("a long prompt is fed in pieces, while the others go on") {
    const toy_world world;
    using one = text<words_tli, token_rejection>;
    const auto made = [&](std::size_t i, const std::string& prompt) {
        auto x =
            std::make_unique<one>(world, world.two.tli(4, world.capacity), token_rejection{}, i);
        x->decoder.start(world.two.encode(prompt), world.prefix);
        return x;
    };
    std::string words;
    for (std::size_t i = 0; i < 40; ++i)
        words += i % 3 == 0 ? "ab c " : "b a ";
    for (const std::size_t piece : {1U, 7U, 1000U}) {
        CAPTURE(piece);
        telling target(4, world.target_model());
        batch<telling, one::run_type> side_by_side(target, {}, true, piece);
        const auto brief = made(0, "c"), longer = made(1, words), next = made(6, words + "b");
        side_by_side.join(*brief->run);
        REQUIRE(side_by_side.round()); // is on its way
        const std::size_t prompt = longer->decoder.tokens().size();
        REQUIRE(prompt > 70);
        (void)side_by_side.join(*longer->run);
        (void)side_by_side.join(*next->run);
        std::size_t rounds = 0;
        while (next->decoder.counts().rounds == 0) {
            target.appended.clear();
            const bool others_go_on = brief->run->finish() == finish_reason::none;
            const auto before = brief->decoder.counts().rounds;
            REQUIRE(side_by_side.round());
            if (others_go_on)
                CHECK(brief->decoder.counts().rounds == before + 1);
            std::size_t fed = 0;
            for (const auto& [s, ids] : target.appended)
                fed += s == 0 ? 0 : ids.size();
            if (longer->decoder.counts().rounds == 0)
                CHECK(fed == piece);
            if (longer->decoder.counts().rounds == 0) // first come, first served
                CHECK(target.size(2) == 0);
            ++rounds;
        }
        if (piece < 1000)
            CHECK(rounds > 2 * prompt / (piece + 1));
        else
            CHECK(rounds == 1);
        while (side_by_side.round()) {
        }
        for (const auto& [i, text, from] :
             {std::tuple{0U, &brief, std::string("c")}, std::tuple{1U, &longer, words},
              std::tuple{6U, &next, words + "b"}}) {
            const auto alone = made(i, from);
            alone->run_alone(world);
            CHECK(tokens_of(**text) == tokens_of(*alone));
        }
    }

    // One that leaves meanwhile is not fed on, and comes back to what was fed.
    telling target(1, world.target_model());
    batch<telling, one::run_type> side_by_side(target, {}, true, 10);
    const auto gone = made(1, words);
    (void)side_by_side.join(*gone->run);
    REQUIRE(side_by_side.round());
    CHECK(target.size(0) == 10);
    side_by_side.leave(*gone->run);
    CHECK_FALSE(side_by_side.round());
    CHECK(target.size(0) == 10);
    CHECK(side_by_side.join(*gone->run).reused == 10);
    while (side_by_side.round()) {
    }
    const auto alone = made(1, words);
    alone->run_alone(world);
    CHECK(tokens_of(*gone) == tokens_of(*alone));

    using rounds_of = batch<telling, one::run_type>;
    CHECK_THROWS_WITH(rounds_of(target, {}, true, 0),
                      Catch::Contains("max_prompt_tokens_per_round: expected at least 1"));
    batched silent(1, world.target_model());
    using silent_rounds = batch<batched, one::run_type>;
    CHECK_THROWS_WITH(silent_rounds(silent, {}, true, 5), Catch::Contains("held(s)"));
}
