// SPDX-License-Identifier: MIT
// A throw loses nothing: wherever a model or a reader throws, the text that is gone on with is the
// text without throws, byte by byte and token by token.
#include <specdec/decode/generate.hpp>

#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <specdec/decode/batch.hpp>

#include "support/batch_of.hpp"
#include "support/decoding.hpp"
#include "support/failing_model.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace resume_tests {

constexpr std::size_t never = ~std::size_t{0};

/// Single bytes, so that characters come in pieces, and some words. The end comes last.
const std::vector<std::string> letters{"a",    "b",    "c",     "d",    "e",    "X",
                                       " ",    "\xC3", "\xA9",  "\xF0", "\x9F", "\x98",
                                       "\x80", "dX",   "c\xC3", "<end>"};
const std::vector<std::string> draft_letters{"<stop>", "\x80", "\x98", "\x9F", "\xF0",
                                             "\xA9",   "\xC3", " ",    "X",    "e",
                                             "d",      "c",    "b",    "a",    "bc"};

/// The target and the drafter know a text by heart, the drafter with other letters here and there.
struct world {
    std::string text, drafted;
    target_words target{letters};
    draft_words draft{draft_letters};
    id_map map = intersect(draft.table(), target.table());
    byte_order<draft_id> order{draft};
    safe_cuts edges{target};
    std::string prompt = "ab ";

    [[nodiscard]] auto target_model() const {
        return knowing(target, prompt + text, id_at<target_id>(letters.size() - 1));
    }
    [[nodiscard]] auto draft_model() const { return knowing(draft, prompt + drafted, draft_id{0}); }
    [[nodiscard]] words_context context() const { return {target, draft, map, 64}; }
};

/// Keeps what it is given; throws, before it keeps anything, at the chosen calls of its functions.
struct brittle_reader : recorder {
    std::size_t calls = 0, fails_at = never;
    bool always_twice = false, fails = false;
    std::vector<std::string> runs{};
    std::vector<std::vector<target_id>> told{};

    void call() {
        fails = always_twice ? !fails : calls == fails_at;
        ++calls;
        if (fails)
            throw std::runtime_error("reader");
    }
    bool bytes(std::string_view given, token_origin origin) {
        call();
        runs.emplace_back(given);
        return recorder::bytes(given, origin);
    }
    bool round(const round_result& r) {
        call();
        told.emplace_back(r.tokens.begin(), r.tokens.end());
        return recorder::round(r);
    }
};

struct outcome {
    finish_reason why;
    std::vector<target_id> tokens;
    brittle_reader reader;
    std::size_t throws = 0;
};

enum class place { nowhere, target, drafter, reader, reader_twice };

template <class B>
struct decode_of {
    failing_model<toy_model<target_id>, target_id> target;
    failing_model<toy_model<draft_id>, draft_id> draft;
    model_drafter<failing_model<toy_model<draft_id>, draft_id>> drafter{draft};
    session<B, token_rejection> decoder;
    fixed_length stop{4};
    philox_coin coin{5};
    brittle_reader reader;
    text_run<session<B, token_rejection>, decltype(drafter), fixed_length, philox_coin,
             target_words, brittle_reader>
        run;

    decode_of(const world& w, B bridge, const generation_limits& limits, brittle_reader r)
        : target(w.target_model()), draft(w.draft_model()),
          decoder(std::move(bridge), token_rejection{}, settings()), reader(std::move(r)),
          run(decoder, drafter, stop, coin, w.target, limits, reader) {
        decoder.start(encoded(w.target, w.prompt));
    }
    static session_settings settings() {
        return {.target = {.temperature = 0},
                .draft = {.temperature = 0},
                .capacity = 64,
                .end_ids = {target_id{static_cast<std::int32_t>(letters.size()) - 1}}};
    }
    void fail(place where, std::size_t call) {
        if (where == place::target)
            target.fails_at = call;
        if (where == place::drafter) // what was called when it was made does not count
            draft.fails_at = draft.calls + call;
        if (where == place::reader)
            reader.fails_at = call;
        reader.always_twice = where == place::reader_twice;
    }
    [[nodiscard]] outcome end(std::size_t throws) const {
        return {run.finish(), {decoder.tokens().begin(), decoder.tokens().end()}, reader, throws};
    }
};

/// To the end through every throw, which comes at one call of one place.
template <class B>
outcome through(const world& w, B bridge, const generation_limits& limits, brittle_reader reader,
                place where, std::size_t call) {
    decode_of<B> d(w, std::move(bridge), limits, std::move(reader));
    d.fail(where, call);
    std::size_t throws = 0;
    while (d.run.finish() == finish_reason::none) {
        try {
            const finish_reason why = generate(d.run, d.target);
            CHECK(why == d.run.finish());
        } catch (const std::runtime_error&) {
            ++throws;
            CHECK(d.run.finish() == finish_reason::none);
        }
    }
    return d.end(throws);
}

void check_same(const outcome& a, const outcome& b) {
    CHECK(a.why == b.why);
    CHECK(a.tokens == b.tokens);
    CHECK(a.reader.runs == b.reader.runs);
    CHECK(a.reader.told == b.reader.told);
    CHECK(a.reader.origins == b.reader.origins);
}

/// Every place of a throw. Returns how many there were.
template <class Bridge>
std::size_t check_all(const world& w, const Bridge& bridge, const generation_limits& limits,
                      const brittle_reader& reader = {}) {
    const outcome whole = through(w, bridge, limits, reader, place::nowhere, 0);
    REQUIRE(whole.throws == 0);
    check_same(through(w, bridge, limits, reader, place::reader_twice, 0), whole);
    std::size_t places = 0;
    for (const place where : {place::target, place::drafter, place::reader})
        for (std::size_t call = 0;; ++call) {
            CAPTURE(static_cast<int>(where), call);
            const outcome o = through(w, bridge, limits, reader, where, call);
            check_same(o, whole);
            if (o.throws == 0)
                break;
            ++places;
        }
    return places;
}

template <class F>
void for_some_bridges(const world& w, const F& f) {
    f("tli", words_tli(tli_map(w.map), w.context(), 4));
    f("slem", words_slem(w.target, w.draft, w.map, 64, 4));
    f("slrs", make_slrs_bridge(w.target, w.draft, w.map, w.order, w.edges, 64, {4, 0.0625}));
    f("none", no_bridge{});
}

const std::vector<std::vector<std::string>> stops{
    {}, {"cdX", "de"}, {"dXe", "Xb"}, {"\xC3\xA9 a"}, {"\xF0\x9F\x98\x80"}, {"never", "abcdXabcY"}};

world two_minds() {
    return {"bcdeX\xC3\xA9 abcdXe \xF0\x9F\x98\x80 cdabX\xC3\xA9",
            "bcdeX\xC3\xA9 abbdXe \xF0\x9F\x98\x80 cdaaX\xC3\xA9"};
}

TEST_CASE("wherever something throws, the text that goes on is the text without throws") {
    const world w = two_minds();
    for_some_bridges(w, [&](const char* name, const auto& bridge) {
        for (const std::vector<std::string>& stop : stops)
            for (const std::size_t most : {1U, 9U, 60U}) {
                CAPTURE(name, stop, most);
                CHECK(check_all(w, bridge, {most, stop}) >= 3);
            }
    });
}

TEST_CASE("a text that throws is cancelled where it would have been without") {
    const world w = two_minds();
    for_some_bridges(w, [&](const char* name, const auto& bridge) {
        CAPTURE(name);
        brittle_reader reader;
        reader.cancel_after_bytes = 7;
        check_all(w, bridge, {60, {"dXe"}}, reader);
        reader.cancel_after_bytes = never;
        reader.cancel_after_rounds = 3;
        check_all(w, bridge, {60, {"dXe"}}, reader);
    });
}

TEST_CASE("a full context's last bytes are given through a throw") {
    const world w = two_minds();
    decode_of<no_bridge> d(w, no_bridge{}, {60, {"bcq"}}, {});
    REQUIRE(d.run.draft(3));
    d.run.take(d.run.score(d.target)); // "b" may begin the stop string
    CHECK(d.reader.text.empty());
    d.reader.fails_at = d.reader.calls;
    CHECK_THROWS(d.run.draft(3));
    CHECK(d.run.finish() == finish_reason::none);
    CHECK_FALSE(d.run.draft(3));
    CHECK(d.run.finish() == finish_reason::context_full);
    CHECK(d.reader.text == "b");
}

TEST_CASE("a text whose reader threw has left its batch, joins again and loses nothing") {
    const world w = two_minds();
    for_some_bridges(w, [&](const char* name, const auto& bridge) {
        using one = decode_of<std::decay_t<decltype(bridge)>>;
        using several = batch_of<target_id, toy_model<target_id>>;
        const generation_limits limits{60, {"cdX", "ab\xC3"}};
        const outcome whole = through(w, bridge, limits, {}, place::nowhere, 0);
        for (const place where : {place::drafter, place::reader}) {
            std::size_t throws = 1;
            for (std::size_t call = 0; throws > 0; ++call) {
                CAPTURE(name, static_cast<int>(where), call);
                one a(w, bridge, limits, {}), b(w, bridge, limits, {});
                a.fail(where, call);
                several target(2, w.target_model());
                batch<several, decltype(a.run)> side_by_side(target);
                side_by_side.join(a.run);
                side_by_side.join(b.run);
                throws = 0;
                for (bool more = true; more;) {
                    try {
                        more = side_by_side.round();
                    } catch (const std::runtime_error&) {
                        ++throws;
                        REQUIRE_FALSE(side_by_side.holds(a.run));
                        side_by_side.join(a.run);
                    }
                }
                check_same(a.end(throws), whole);
                check_same(b.end(throws), whole);
            }
        }
    });
}

TEST_CASE("a batch takes nobody twice and nobody for whom there is no room") {
    const world w = two_minds();
    using several = batch_of<target_id, toy_model<target_id>>;
    decode_of<no_bridge> a(w, no_bridge{}, {}, {}), b(w, no_bridge{}, {}, {}),
        c(w, no_bridge{}, {}, {});
    several target(2, w.target_model());
    batch<several, decltype(a.run)> side_by_side(target);
    side_by_side.join(a.run);
    CHECK_THROWS_WITH(side_by_side.join(a.run),
                      "batch: join: expected a sequence that has not joined already");
    side_by_side.join(b.run);
    CHECK_THROWS_WITH(side_by_side.join(c.run),
                      "batch: join: expected a free sequence, all 2 are taken");
}

} // namespace resume_tests
