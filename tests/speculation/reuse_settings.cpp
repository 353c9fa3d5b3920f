// SPDX-License-Identifier: MIT
// What a text takes over from those before it: contexts that are not fed again, and what can be
// left out, so that a seed's text is the same again.
#include <specdec/speculation/reuse_settings.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include <specdec/head/adaptive/adaptive_model.hpp>
#include <specdec/head/headed_model.hpp>
#include <specdec/head/trimmed_head.hpp>

#include "support/ids.hpp"
#include "support/toy_head.hpp"
#include "support/toy_speculation.hpp"

using namespace specdec;
using namespace specdec::testing;
using Catch::Contains;

namespace reuse_settings_tests {

/// So many tokens of text, which differs by seed.
std::vector<target_id> prompt_of(std::size_t tokens, int seed) {
    std::vector<target_id> ids;
    for (std::size_t i = 0; i < tokens; ++i)
        ids.push_back(target_id{1 + (static_cast<int>(i * i) + seed) % 6});
    return ids;
}

/// Tokens that both models are fed for a text.
struct fed {
    std::size_t target = 0, draft = 0;
};

struct course : toys {
    using toys::toys;
    std::vector<decode_result> run(speculation& pair, std::span<const text_request> texts,
                                   const decode_settings& s, fed& counts) {
        counts = {target.fed, draft.fed};
        std::vector<decode_result> out = pair.run(texts, s).texts;
        counts = {target.fed - counts.target, draft.fed - counts.draft};
        return out;
    }
    std::string run(speculation& pair, const std::vector<target_id>& prompt,
                    const decode_settings& s, fed& counts) {
        const text_request request{.prompt = prompt};
        return run(pair, {&request, 1}, s, counts)[0].text;
    }
};

decode_settings limited(rule how, float temperature, std::size_t tokens) {
    decode_settings s = fixed(how, temperature);
    s.limits.max_tokens = tokens;
    return s;
}

TEST_CASE("contexts: a prompt that a sequence still holds is not fed again") {
    course x;
    speculation pair = x.pair();
    const auto prompt = prompt_of(58, 0);
    fed first, again;
    const decode_settings plain = limited(rule::autoregressive, 0, 15);
    const std::string text = x.run(pair, prompt, plain, first);
    CHECK(first.target == 58 + 14); // the last token's row is not asked for
    for (int i = 0; i < 2; ++i) {
        CHECK(x.run(pair, prompt, plain, again) == text);
        CHECK(again.target == 1 + 14); // at least a token, for its row
    }
    for (const rule how : {rule::slem, rule::tli, rule::slrs, rule::coupled, rule::nested_block}) {
        INFO(about(how).name);
        pair.forget();
        const decode_settings s = limited(how, 1, 15);
        const std::string sampled = x.run(pair, prompt, s, first);
        CHECK(first.target >= 72);
        for (int i = 0; i < 2; ++i) {
            CHECK(x.run(pair, prompt, s, again) == sampled);
            CHECK(again.target == first.target - 57);
            CHECK(again.draft + 40 < first.draft);
        }
    }
}

TEST_CASE("contexts: the next turn of a talk is fed alone, another text takes another sequence") {
    course x(2);
    speculation pair = x.pair();
    const decode_settings s = limited(rule::slem, 0, 10);
    const auto one = prompt_of(40, 0), two = prompt_of(40, 3);
    const std::vector<text_request> both{{.prompt = one}, {.prompt = two, .sequence = 1}};
    fed counts;
    const auto answers = x.run(pair, both, s, counts);
    CHECK(counts.target >= 80);
    // Both go on, the other one first.
    auto more_one = one, more_two = two;
    for (auto [to, from] : {std::pair{&more_one, &answers[0]}, std::pair{&more_two, &answers[1]}}) {
        to->insert(to->end(), from->tokens.begin(), from->tokens.end());
        to->push_back(target_id{3});
    }
    const std::vector<text_request> next{{.prompt = more_two}, {.prompt = more_one, .sequence = 1}};
    const auto turns = x.run(pair, next, s, counts);
    CHECK(counts.target < 60); // 2 x (11 + the draft's)
    toys fresh(2);
    speculation alone = fresh.pair();
    const auto expected = alone.run(next, s).texts;
    CHECK(turns[0].tokens == expected[0].tokens);
    CHECK(turns[1].tokens == expected[1].tokens);
    // A short text that agrees with none takes the place of one: the other one stays.
    const auto other = prompt_of(5, 4);
    (void)x.run(pair, other, s, counts);
    (void)x.run(pair, other, s, counts);
    CHECK(counts.target < 30);
    fed a, b;
    (void)x.run(pair, more_one, s, a);
    (void)x.run(pair, more_two, s, b);
    CHECK((a.target < 30 || b.target < 30));
}

/// A prompt of so many tokens that begins with these.
std::vector<target_id> longer(std::vector<target_id> begins, std::size_t tokens, int seed) {
    const auto more = prompt_of(tokens - begins.size(), seed);
    begins.insert(begins.end(), more.begin(), more.end());
    return begins;
}

TEST_CASE("contexts: talks that share an instruction keep their sequences") {
    course x(4);
    speculation pair = x.pair();
    const auto instruction = prompt_of(27, 0);
    std::vector<target_id> one = longer(instruction, 60, 1), two = longer(instruction, 40, 4);
    const auto turn = [&](std::vector<target_id>& talk, std::size_t tokens) {
        fed counts;
        text_request request{.prompt = talk};
        const auto answer =
            x.run(pair, {&request, 1}, limited(rule::autoregressive, 0, tokens), counts)[0];
        REQUIRE(answer.tokens.size() == tokens);
        const std::size_t found = talk.size() + tokens - 1 - counts.target;
        talk.insert(talk.end(), answer.tokens.begin(), answer.tokens.end());
        return found;
    };
    CHECK(turn(one, 55) == 0);
    CHECK(turn(two, 20) == 0); // an empty sequence, and not the 27 tokens of the other talk
    one = longer(one, 129, 2);
    CHECK(turn(one, 80) == 114);
    two = longer(two, 70, 3);
    CHECK(turn(two, 20) == 59);
    one = longer(one, 223, 5);
    CHECK(turn(one, 10) == 208);

    // The drafter's sequences are chosen by the same rule.
    speculation drafts = x.pair();
    const decode_settings s = limited(rule::slem, 0, 55);
    std::vector<target_id> talk = longer(instruction, 60, 1);
    const auto fed_to_drafter = [&](const std::vector<target_id>& prompt) {
        fed counts;
        const text_request request{.prompt = prompt};
        const auto answer = x.run(drafts, {&request, 1}, s, counts)[0];
        talk = prompt;
        talk.insert(talk.end(), answer.tokens.begin(), answer.tokens.end());
        return counts.draft;
    };
    const std::size_t first = fed_to_drafter(talk);
    const std::vector<target_id> next = longer(talk, talk.size() + 14, 2);
    (void)fed_to_drafter(longer(instruction, 40, 4));
    CHECK(fed_to_drafter(next) < first);
}

/// A target with an adapter: what it has computed of a token depends on the adapter of that time.
struct adapted {
    batch_of<target_id, target_model>& inner;
    bool reports = false;
    context_key adapter = 0;
    std::vector<context_key> made = std::vector<context_key>(inner.sequences(), 0);

    [[nodiscard]] std::size_t sequences() const { return inner.sequences(); }
    [[nodiscard]] std::size_t size(std::size_t s) const { return inner.size(s); }
    [[nodiscard]] std::size_t capacity() const { return inner.capacity(); }
    [[nodiscard]] std::size_t vocabulary_size() const { return inner.vocabulary_size(); }
    void append(std::size_t s, std::span<const target_id> ids) {
        made[s] = adapter;
        inner.append(s, seen(ids));
    }
    [[nodiscard]] logits_rows<target_id> score(std::span<const sequence_tokens<target_id>> parts) {
        REQUIRE(parts.size() == 1);
        made[parts[0].sequence] = adapter;
        const std::vector<target_id> ids = seen(parts[0].ids);
        const sequence_tokens<target_id> part{parts[0].sequence, ids};
        return inner.score({&part, 1});
    }
    void truncate(std::size_t s, std::size_t n) { inner.truncate(s, n); }

private:
    [[nodiscard]] std::vector<target_id> seen(std::span<const target_id> ids) const {
        std::vector<target_id> out;
        for (const target_id id : ids)
            out.push_back(target_id{(id.value + static_cast<std::int32_t>(adapter)) % 6});
        return out;
    }
};
/// One that says which adapter a context was computed with.
struct reporting : adapted {
    [[nodiscard]] context_key key(std::size_t s) const { return size(s) > 0 ? made[s] : adapter; }
};

/// One that computes with the adapter of a text's key, as it is told.
struct switching : reporting {
    void set_key(std::size_t s, context_key to) {
        if (to != adapter)
            truncate(s, 0);
        adapter = to;
    }
};

TEST_CASE("contexts: a model that takes keys computes with the adapter of each request") {
    const auto prompt = prompt_of(40, 0);
    const decode_settings s = limited(rule::slem, 0, 12);
    const auto texts_of = [&](auto make, bool told) {
        course x;
        auto target = make(x.target);
        speculation pair({.models = target, .tokenizer = x.words.target, .ends = {toy_pair::end}},
                         x.draft_side());
        std::vector<std::string> texts;
        for (const context_key key : {1U, 2U, 1U, 0U}) {
            if (told)
                target.adapter = key;
            const text_request request{.prompt = prompt, .key = key};
            fed counts;
            texts.push_back(x.run(pair, {&request, 1}, s, counts)[0].text);
        }
        return texts;
    };
    const auto by_hand = texts_of([](auto& m) { return adapted{m}; }, true);
    CHECK(by_hand[0] != by_hand[1]);
    CHECK(texts_of([](auto& m) { return switching{{{m}}}; }, false) == by_hand);
}

TEST_CASE("contexts: a text of another key takes none over") {
    const auto prompt = prompt_of(40, 0);
    const decode_settings s = limited(rule::slem, 0, 12);
    const auto alone = [&](context_key adapter) { // by a pair that has no other text
        course x;
        adapted target{x.target};
        target.adapter = adapter;
        speculation pair({.models = target, .tokenizer = x.words.target, .ends = {toy_pair::end}},
                         x.draft_side());
        fed counts;
        return x.run(pair, prompt, s, counts);
    };
    REQUIRE(alone(1) != alone(2));
    for (const std::size_t sequences : {1U, 2U}) {
        course x(sequences);
        adapted target{x.target};
        speculation pair({.models = target, .tokenizer = x.words.target, .ends = {toy_pair::end}},
                         x.draft_side());
        fed first, counts;
        const auto text_of = [&](context_key key, fed& to) {
            target.adapter = key;
            const text_request request{.prompt = prompt, .key = key};
            return x.run(pair, {&request, 1}, s, to)[0].text;
        };
        CHECK(text_of(1, first) == alone(1));
        CHECK(text_of(2, counts) == alone(2));
        CHECK(counts.target >= 51);
        CHECK(counts.draft + 5 >= first.draft);
        CHECK(text_of(1, counts) == alone(1));
        CHECK((counts.target >= 51) == (sequences == 1)); // two keep both
        CHECK(text_of(1, counts) == alone(1));
        CHECK(counts.target < 45);
        CHECK(counts.draft + 30 < first.draft);
    }
}

TEST_CASE("contexts: a text that an engine drives takes over its own key's only") {
    toys x;
    adapted target{x.target};
    speculation pair({.models = target, .tokenizer = x.words.target, .ends = {toy_pair::end}});
    const auto prompt = prompt_of(30, 0);
    const auto text_of = [&](context_key key) {
        target.adapter = key;
        const auto text =
            pair.open({.prompt = prompt, .key = key}, limited(rule::autoregressive, 0, 10));
        CHECK(text->key() == key);
        while (advance(*text, pair.target_models()))
            continue;
        return text->result().text;
    };
    const std::string one = text_of(1), two = text_of(2);
    CHECK(one != two);
    CHECK(text_of(1) == one);
    CHECK(text_of(2) == two);
}

TEST_CASE("contexts: a model that reports the key of a context is believed") {
    toys x;
    reporting target{{x.target}};
    speculation pair({.models = target, .tokenizer = x.words.target, .ends = {toy_pair::end}});
    const auto prompt = prompt_of(30, 0);
    const text_request request{.prompt = prompt, .key = 1};
    const decode_settings s = limited(rule::autoregressive, 0, 10);
    target.adapter = 1;
    const std::string text = pair.run({&request, 1}, s).texts[0].text;
    // The engine computes the same tokens again, with another adapter, by itself.
    const std::size_t n = target.size(0);
    std::vector<target_id> same(pair.target_models().held(0).begin(),
                                pair.target_models().held(0).end());
    REQUIRE(same.size() == n);
    target.adapter = 2;
    target.truncate(0, 0);
    target.append(0, same);
    target.adapter = 1;
    CHECK(pair.target_models().key(0) == 2);
    CHECK(pair.run({&request, 1}, s).texts[0].text == text);
    CHECK(pair.target_models().key(0) == 1);
}

TEST_CASE("contexts: what somebody else did with a model is seen") {
    course x;
    speculation pair = x.pair();
    const auto prompt = prompt_of(30, 0), other = prompt_of(30, 2);
    const decode_settings s = limited(rule::slem, 0, 10);
    fed counts;
    const std::string text = x.run(pair, prompt, s, counts);
    const auto spoil = [&](const char* how, auto&& use) {
        INFO(how);
        use();
        CHECK(x.run(pair, prompt, s, counts) == text);
        CHECK(counts.target >= 39);
    };
    spoil("another number of tokens", [&] {
        x.target.truncate(0, 0);
        x.draft.truncate(0, 0);
        x.target.append(0, other);
    });
    spoil("through the decoder, as many tokens", [&] {
        any_batch_model<target_id>& models = pair.target_models();
        const std::size_t n = models.size(0);
        models.truncate(0, 0);
        models.append(0, prompt_of(n, 2));
    });
    spoil("outside, and then through the decoder, as many tokens", [&] {
        any_batch_model<target_id>& models = pair.target_models();
        const std::size_t n = models.size(0);
        x.target.truncate(0, 0);
        x.target.append(0, prompt_of(n - 1, 2));
        models.append(0, std::vector{target_id{1}});
    });
    spoil("outside, as many tokens, and told", [&] {
        const std::size_t n = x.target.size(0), m = x.draft.size(0);
        x.target.truncate(0, 0);
        x.target.append(0, prompt_of(n, 2));
        x.draft.truncate(0, 0);
        x.draft.append(0, std::vector<draft_id>(m, draft_id{1}));
        pair.forget();
    });

    const std::string others = x.run(pair, other, s, counts);
    CHECK(x.run(pair, prompt, s, counts) == text);
    spoil("by the engine's own passes for a text, as many tokens", [&] {
        const std::size_t n = x.target.size(0);
        const text_request request{.prompt = other};
        const auto own = pair.open(request, s);
        while (own->draft(x.target.capacity())) {
            const context_edit<target_id> edit = own->target_edit();
            x.target.truncate(0, edit.truncate_to);
            const sequence_tokens<target_id> part{0, edit.append};
            const auto rows = x.target.score({&part, 1});
            own->target_fed(edit);
            own->decide(rows);
            own->commit();
        }
        CHECK(own->result().text == others);
        if (x.target.size(0) < n)
            x.target.append(0, prompt_of(n - x.target.size(0), 1));
        x.target.truncate(0, n);
    });

    // A model that tells what it holds needs no telling.
    target_model target(x.words.target.table());
    draft_model draft(x.words.draft.table(), {.seed = 2});
    speculation telling({target, x.words.target}, {draft, x.words.draft});
    const text_request request{.prompt = prompt};
    const std::string own = telling.run({&request, 1}, s).texts[0].text;
    const std::size_t n = target.size();
    target.truncate(0);
    target.append(prompt_of(n, 2));
    CHECK(telling.run({&request, 1}, s).texts[0].text == own);
    CHECK(pair.target_models().held(0).size() == pair.target_models().size(0));
}

TEST_CASE("contexts: an engine that fails is fed what it lost, and the text is the same") {
    course x;
    speculation pair = x.pair();
    const auto prompt = prompt_of(30, 0);
    const decode_settings s = limited(rule::slem, 0, 10);
    fed counts;
    const std::string text = x.run(pair, prompt, s, counts);
    x.target.fails_at = x.target.passes + 2;
    CHECK_THROWS(x.run(pair, prompt, s, counts));
    CHECK(x.run(pair, prompt, s, counts) == text);
    CHECK(counts.target < 30);
}

TEST_CASE("carry over: without contexts every text is fed from its beginning") {
    course x;
    speculation pair = x.pair();
    const auto prompt = prompt_of(30, 0);
    decode_settings s = limited(rule::slem, 0, 10);
    s.carry.contexts = false;
    fed first, again;
    const std::string text = x.run(pair, prompt, s, first);
    CHECK(x.run(pair, prompt, s, again) == text);
    CHECK(again.target == first.target);
    CHECK(again.draft == first.draft);
}

TEST_CASE("carry over: lengths learn from text to text, or each text for itself") {
    toys x;
    speculation pair = x.pair();
    const auto counts = [&](speculation& of, decode_settings s) {
        s.lengths = {.length = 6, .costs = cost_table{{1, 1, 1, 1, 1}, 0.2, 0}};
        s.limits.max_tokens = 60;
        return of.generate("ab c", s).counts.proposed;
    };
    decode_settings s = fixed(rule::tli, 1);
    s.carry = reuse_settings::nothing();
    const auto first = counts(pair, s);
    for (int i = 0; i < 3; ++i)
        CHECK(counts(pair, s) == first);
    toys fresh;
    speculation learns = fresh.pair();
    s.carry = {};
    CHECK(counts(learns, s) == first); // the first text has nothing to take over
    std::set<std::uint64_t> seen{first};
    for (int i = 0; i < 5; ++i)
        seen.insert(counts(learns, s));
    CHECK(seen.size() > 1);
    learns.forget();
    CHECK(counts(learns, s) == first);
    s.carry.lengths = false;
    CHECK(counts(learns, s) == first);
}

TEST_CASE("carry over: a request that is refused leaves what texts have learnt") {
    const auto proposed = [](bool refused) {
        toys x;
        speculation pair = x.pair();
        decode_settings s = fixed(rule::tli, 1);
        s.lengths = {.length = 6, .costs = cost_table{{1, 1, 1, 1, 1}, 0.2, 0}};
        s.limits.max_tokens = 60;
        for (int i = 0; i < 4; ++i)
            (void)pair.generate("ab c", s);
        if (refused) {
            decode_settings other = s;
            other.lengths.costs = cost_table{{1, 2, 3}, 0.4, 0};
            CHECK_THROWS_WITH(pair.generate("", other), Contains("prompt"));
            other.log_probabilities = 1000;
            CHECK_THROWS_WITH(pair.generate("ab c", other), Contains("log probabilities"));
            other = s;
            other.sampling.temperature = std::numeric_limits<float>::quiet_NaN();
            CHECK_THROWS_WITH(pair.generate("ab c", other), Contains("temperature"));
            s.sampling.temperature = 0; // which had been taken for that
            (void)pair.generate("ab c", s);
            s.sampling.temperature = 1;
        }
        return pair.generate("ab c", s).counts.proposed;
    };
    CHECK(proposed(true) == proposed(false));
}

TEST_CASE("carry over: without lookups no successors are recycled from other texts") {
    toys x;
    speculation alone(x.target_side());
    decode_settings s = fixed(rule::recycling, 0);
    const auto proposed = [&] { return alone.generate("ab c", s).counts.proposed; };
    s.carry.lookups = false;
    const auto first = proposed();
    CHECK(proposed() == first);
    s.carry.lookups = true;
    CHECK(proposed() == first); // the others taught nothing
    CHECK(proposed() > first);
}

TEST_CASE("carry over: without lookups a text finds its own words alone") {
    const auto texts = [](speculation& pair, bool lookups) {
        std::string all;
        for (std::uint64_t seed = 1; seed <= 20; ++seed) {
            decode_settings s = fixed(rule::tli, 0.7F, seed);
            s.lookup.beside = true;
            s.limits.max_tokens = 30;
            s.carry = reuse_settings::nothing();
            s.carry.lookups = lookups;
            const decode_result one = pair.generate("ab c abc b a ab c abc b", s);
            all += one.text + std::to_string(one.counts.looked_up) + "\n";
        }
        return all;
    };
    toys x;
    speculation pair = x.pair();
    const std::string first = texts(pair, false);
    CHECK(texts(pair, false) == first);
    CHECK(texts(pair, true) != first); // from the second text on
    CHECK(texts(pair, false) == first);
}

TEST_CASE("carry over: n-grams of a text's own are gone with it") {
    toys x;
    speculation pair = x.pair();
    // Of many seeds: texts, and what was drafted for them.
    const auto texts = [&](bool carry) {
        std::string all;
        for (std::uint64_t seed = 1; seed <= 30; ++seed) {
            decode_settings s = fixed(rule::merge, 1, seed);
            s.carry.ngrams = carry;
            const decode_result one = pair.generate("c", s);
            all += one.text + std::to_string(one.counts.proposed) + "\n";
        }
        return all;
    };
    const std::string first = texts(false);
    CHECK(pair.cache() == nullptr);
    CHECK(texts(false) == first);
    const std::string taught = texts(true);
    CHECK(taught != first);
    REQUIRE(pair.cache() != nullptr);
    const std::size_t learnt = pair.cache()->size();
    CHECK(learnt > 0);
    CHECK(texts(false) == first);
    CHECK(pair.cache()->size() == learnt);
    pair.forget();
    CHECK(pair.cache() == nullptr);
    CHECK(texts(true) == taught);
}

/// The toy pair, with a drafter whose list of 4 tokens follows the text.
struct adaptive_pair {
    static constexpr std::size_t tokens = 10, width = 6;
    using head_type = toy_head<draft_id>;
    toys x;
    token_list<draft_id> list{ids_of({3, 6, 8, 9}), tokens};
    head_type head = head_type::random(tokens, width, 1);
    toy_hidden_model<draft_id> model{tokens, width, toy_rows(row_kind::random, width, 5)};
    trimmed_head<draft_id, head_type> few{head, list, head_rows::copied};
    headed_model<toy_hidden_model<draft_id>, trimmed_head<draft_id, head_type>> rows{model, few};
    adaptive_token_list<draft_id> hot{list};
    adaptive_model<decltype(rows), decltype(few)> draft{rows, few, hot};
    speculation pair{x.target_side(), {draft, x.words.draft}};
};

TEST_CASE("carry over: a drafter's list begins anew with a text") {
    adaptive_pair one;
    decode_settings s = fixed(rule::tli, 1, 3);
    const std::string first = one.pair.generate("ab c", s).text;
    std::set<std::string> seen{first};
    for (int i = 0; i < 5; ++i)
        seen.insert(one.pair.generate("ab c", s).text);
    CHECK(seen.size() > 1); // the list has learnt, and a seed's text is another one
    s.carry.drafter = false;
    for (int i = 0; i < 3; ++i)
        CHECK(one.pair.generate("ab c", s).text == first);
    s.carry = {};
    one.pair.forget();
    CHECK(one.pair.generate("ab c", s).text == first);

    const auto prompt = one.x.words.encode("ab c");
    const auto under_way = one.pair.open({.prompt = prompt}, s);
    CHECK_THROWS_WITH(one.pair.forget(), Contains("speculation: forget: expected no open request"));

    speculation alone(one.x.target_side());
    {
        const auto looks_up = alone.open({.prompt = prompt}, fixed(rule::lookup, 1, 3));
        CHECK_THROWS_WITH(alone.forget(),
                          Contains("speculation: forget: expected no open request"));
    }
    alone.forget();
}

TEST_CASE("carry over: what others are using is not forgotten") {
    struct learning : batch_of<draft_id, draft_model> {
        using batch_of::batch_of;
        void forget_learnt() { ++forgot; }
        int forgot = 0;
    };
    toys x(2);
    learning draft(2, draft_model(x.words.draft.table(), {.seed = 2}));
    speculation pair(x.target_side(), {draft, x.words.draft});
    const auto prompt = x.words.encode("ab c");
    const std::vector<text_request> two{{.prompt = prompt}, {.prompt = prompt, .sequence = 1}};
    decode_settings s = fixed(rule::tli, 1);
    (void)pair.run(two, s);
    CHECK(draft.forgot == 0);
    s.carry.drafter = false;
    (void)pair.run({two.data(), 1}, s);
    CHECK(draft.forgot == 1);
    CHECK_THROWS_WITH(pair.run(two, s), Contains("speculation: carry.drafter: expected no other"));
}

} // namespace reuse_settings_tests
