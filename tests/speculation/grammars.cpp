// SPDX-License-Identifier: MIT
// A grammar for a text, through speculation: every rule obeys it, and what it forces is not
// drafted.
#include <specdec/speculation/speculation.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <catch2/catch.hpp>

#include <specdec/process/grammar_mask.hpp>

#include "support/batch_of.hpp"
#include "support/ids.hpp"
#include "support/toy_model.hpp"
#include "support/toys/piece_tokenizer.hpp"
#include "support/weighted_pair.hpp"

using namespace specdec;
using namespace specdec::testing;
using Catch::Contains;

namespace grammars_tests {

/// {"name":"L","ok":"A"}, L up to four letters a and b, A yes or no.
struct record_grammar {
    struct state_type {
        std::size_t at = 0; // in the frame
        std::size_t letters = 0;
        std::string_view word{}; // what is left of yes or no
    };
    static constexpr std::string_view frame = R"({"name":"L","ok":"A"})";

    [[nodiscard]] static state_type begin() { return {}; }
    [[nodiscard]] static bool complete(const state_type& s) { return s.at == frame.size(); }
    static bool step(state_type& s, char byte) {
        if (s.at == frame.size())
            return false;
        if (!s.word.empty()) {
            const bool fits = byte == s.word.front();
            s.word.remove_prefix(1);
            s.at += s.word.empty() ? 1U : 0U;
            return fits;
        }
        if (frame[s.at] == 'L') {
            if (byte == 'a' || byte == 'b')
                return ++s.letters <= 4;
            ++s.at;
        }
        if (frame[s.at] == 'A') {
            s.word = byte == 'y' ? "es" : "o";
            return byte == 'y' || byte == 'n';
        }
        return byte == frame[s.at++];
    }
};

bool obeys(std::string_view text) {
    record_grammar::state_type s;
    for (const char byte : text)
        if (!record_grammar::step(s, byte))
            return false;
    return record_grammar::complete(s);
}

/// Rows of a model that writes long pieces of the frame, and letters by chance.
template <class Id>
toy_model<Id> writer(const vocabulary& table, std::size_t salt) {
    return {table.size(), [&table, salt](const std::vector<Id>& context) {
                std::vector<float> row(table.size());
                for (std::size_t i = 0; i < row.size(); ++i) {
                    const std::string_view piece = table.text(i);
                    const bool chosen = piece == "yes" || piece == "no" ||
                                        piece.find_first_not_of("ab") == piece.npos;
                    row[i] =
                        chosen
                            ? 30 + static_cast<float>((context.size() * 7 + i * 13 + salt) % 5) / 2
                            : 10 * static_cast<float>(piece.size());
                }
                return row;
            }};
}

struct writers {
    piece_tokenizer<target_id> words{{"<end>", "{",    "\"",    "n",     "e",   "m",  ":",   ",",
                                      "o",     "k",    "y",     "s",     "}",   "a",  "b",   "ab",
                                      "{\"",   "name", "\":\"", "\",\"", "\"}", "ok", "yes", "no"}};
    piece_tokenizer<draft_id> pieces{{"<bos>", "}", "{", "\"",  "na",     "me", ":",
                                      "a",     "b", ",", "o",   "k",      "n",  "e",
                                      "m",     "y", "s", "yes", "<stop>", "ba"}};
    batch_of<target_id, toy_model<target_id>> target{1, writer<target_id>(words.table(), 0)};
    batch_of<draft_id, toy_model<draft_id>> drafter{1, writer<draft_id>(pieces.table(), 1)};
    speculation pair{{.models = target, .tokenizer = words, .ends = {target_id{0}}},
                     {.models = drafter,
                      .tokenizer = pieces,
                      .bos = draft_id{0},
                      .begins_with_bos = true,
                      .ends = {draft_id{18}}}};
};

decode_settings with(rule how, std::uint64_t seed = 0) {
    return {.rule = how,
            .lengths = {.kind = length_kind::fixed, .length = 4},
            .seed = seed,
            .limits = {.max_tokens = 60}};
}
text_request under_grammar() {
    text_request request;
    request.grammar = record_grammar{};
    return request;
}
const std::string prompt = "abba:";

TEST_CASE("grammar: texts obey it under every rule, and what it forces is proposed") {
    std::size_t beside = 0; // drafters
    for (const named_rule& r : rules) {
        writers own;
        if (!own.pair.applies(r.rule) || !r.lossless)
            continue;
        for (std::uint64_t seed = 0; seed < 3; ++seed) {
            CAPTURE(std::string(r.name), seed);
            const decode_result text =
                own.pair.generate(prompt, with(r.rule, seed), under_grammar());
            CHECK(text.finish == finish_reason::end_token);
            CHECK(obeys(text.text));
            const decode_result alone =
                own.pair.generate(prompt, with(rule::autoregressive, seed), under_grammar());
            CHECK(alone.counts.looked_up == 0);
            if (matches_exactly(r.rule) || r.rule == rule::lookup)
                CHECK(text.text == alone.text);
            if (takes_drafter(r.rule))
                beside += text.counts.looked_up_accepted;
            else if (r.rule == rule::lookup)
                CHECK(text.counts.looked_up_accepted >= 4);
            else
                CHECK(text.counts.looked_up == 0);
        }
    }
    CHECK(beside > 20);
}

/// The same masks, made by the caller.
template <class Id>
any_row_processor<Id> mask(const any_tokenizer<Id>& words, const byte_order<Id>& order, Id end) {
    return grammar_mask<Id, record_grammar, any_tokenizer<Id>>({}, words, order, prompt.size(),
                                                               {end});
}

TEST_CASE("grammar: forced text saves passes of both models, and changes no text") {
    writers own;
    const byte_order<target_id> words(own.pair.target_tokenizer());
    const byte_order<draft_id> pieces(*own.pair.draft_tokenizer());
    text_request masked;
    masked.process = mask(own.pair.target_tokenizer(), words, target_id{0});
    masked.process_draft = mask(*own.pair.draft_tokenizer(), pieces, draft_id{18});
    text_request by_hand = masked;
    by_hand.grammar = record_grammar{};
    by_hand.grammar_masks = false;
    statistics with_it, without;
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
        CAPTURE(seed);
        decode_settings s = with(rule::slem, seed);
        s.lengths = {.costs = cost_table{{1, 1.05, 1.1, 1.15, 1.2}, 0.15, 0}};
        const decode_result plain = own.pair.generate(prompt, s, masked);
        const decode_result forced = own.pair.generate(prompt, s, under_grammar());
        CHECK(forced.text == plain.text);
        CHECK(own.pair.generate(prompt, s, by_hand).text == plain.text);
        CHECK(plain.counts.looked_up == 0);
        without.rounds += plain.counts.rounds;
        without.draft_tokens += plain.counts.draft_tokens;
        with_it.rounds += forced.counts.rounds;
        with_it.draft_tokens += forced.counts.draft_tokens;
        with_it.looked_up += forced.counts.looked_up;
        with_it.looked_up_accepted += forced.counts.looked_up_accepted;
    }
    CHECK(with_it.rounds < without.rounds);
    CHECK(with_it.draft_tokens < without.draft_tokens);
    CHECK(with_it.looked_up >= 20);
    CHECK(with_it.looked_up_accepted == with_it.looked_up); // no longer tokens fit there
}

TEST_CASE("grammar: without masks its text is proposed in vain") {
    writers own;
    text_request request = under_grammar();
    request.grammar_masks = false;
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
        decode_settings s = with(rule::lookup, seed);
        s.limits.max_tokens = 12;
        const decode_result text = own.pair.generate(prompt, s, request);
        CHECK(text.text == own.pair.generate(prompt, s).text);
        CHECK(text.counts.looked_up > 0);
        CHECK(text.counts.looked_up_accepted < text.counts.looked_up);
    }
}

TEST_CASE("grammar: a target without a drafter proposes what is forced by default") {
    writers own;
    speculation alone({.models = own.target, .tokenizer = own.words, .ends = {target_id{0}}});
    const decode_result text = alone.generate(
        prompt, {.lengths = {.costs = cost_table{{1, 1.1, 1.2, 1.3}, 0, 0}}}, under_grammar());
    CHECK(obeys(text.text));
    CHECK(text.counts.looked_up_accepted >= 4);
    CHECK(text.counts.rounds + 4 <= text.counts.committed);
}

TEST_CASE("grammar: what texts under one have taught is kept from those without") {
    const decode_settings s{.rule = rule::tli,
                            .lengths = {.costs = cost_table{{1, 1.1, 1.2, 1.3}, 0.1, 0}},
                            .seed = 3,
                            .limits = {.max_tokens = 30}};
    writers fresh, own;
    for (int i = 0; i < 5; ++i)
        (void)own.pair.generate(prompt, s, under_grammar());
    const decode_result after = own.pair.generate(prompt, s),
                        first = fresh.pair.generate(prompt, s);
    CHECK(after.text == first.text);
    CHECK(after.counts.draft_tokens == first.counts.draft_tokens);
    CHECK(after.counts.rounds == first.counts.rounds);
}

TEST_CASE("grammar: several texts in a batch have each their own") {
    writers own;
    std::vector<target_id> ids;
    own.pair.encode(prompt, encode_mode::start, ids);
    std::vector<text_request> texts(3, {.prompt = ids});
    texts[0].grammar = texts[2].grammar = record_grammar{};
    texts[2].sequence = 1;
    const decode_results all = own.pair.run(texts, with(rule::slem));
    CHECK(obeys(all.texts[0].text));
    CHECK_FALSE(obeys(all.texts[1].text));
    CHECK(obeys(all.texts[2].text));
}

/// cab behind every two letters.
struct cab_behind_two {
    using state_type = std::size_t; // letters, modulo 5
    [[nodiscard]] static std::size_t begin() { return 0; }
    static bool step(std::size_t& at, char byte) {
        const bool fits = at < 2 ? byte >= 'a' && byte <= 'c' : byte == "cab"[at - 2];
        at = (at + 1) % 5;
        return fits;
    }
    [[nodiscard]] static bool complete(std::size_t) { return false; }
};

TEST_CASE("grammar: greedy text is the target's own under every rule, chains and trees") {
    text_request request;
    request.grammar = cab_behind_two{};
    std::size_t forced = 0;
    for (const bool equal : {true, false}) {
        weighted_pair toys(equal);
        decode_settings s = with(rule::autoregressive);
        s.sampling.temperature = 0;
        const decode_result alone = toys.pair.generate("abca", s, request);
        for (const named_rule& r : rules)
            for (const bool tree : {false, true})
                for (const bool beside : {false, true}) {
                    if (!toys.pair.applies(r.rule) || !r.lossless ||
                        (tree && !can_draft_trees(r.rule)))
                        continue;
                    s.rule = r.rule;
                    s.tree.reset();
                    if (tree)
                        s.tree = tree_drafts{.nodes = 4, .costs = cost_table{}};
                    s.lookup = {.beside = beside, .shared = false};
                    CAPTURE(std::string(r.name), tree, beside);
                    const decode_result text = toys.pair.generate("abca", s, request);
                    CHECK(text.text == alone.text);
                    forced += text.counts.looked_up_accepted;
                }
    }
    CHECK(forced > 20);
}

TEST_CASE("grammar: a target without a token to end the text with is refused where it has to end") {
    writers own;
    speculation endless({.models = own.target, .tokenizer = own.words});
    CHECK_THROWS_WITH(endless.generate(prompt, with(rule::lookup), under_grammar()),
                      Contains("expected processors that allow at least one token"));
}

} // namespace grammars_tests
