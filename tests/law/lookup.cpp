// SPDX-License-Identifier: MIT
// Text that is looked up: sessions of several rounds have the target's law under every lossless
// rule, and so have, together, two texts that find each other's words in one index, whatever
// happens to it between a round's draft and its decision.
#include <specdec/draft/lookup/lookup_bridge.hpp>

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include <specdec/draft/lookup/best_lookup.hpp>
#include <specdec/draft/lookup/ngram_table.hpp>
#include <specdec/draft/lookup/prompt_lookup.hpp>
#include <specdec/draft/lookup/suffix_lookup.hpp>
#include <specdec/draft/no_drafter.hpp>
#include <specdec/sampling/coin/text_keys.hpp>
#include <specdec/testing/course/course_text.hpp>

#include "play.hpp"
#include "support/tiny_tokenizer.hpp"

namespace lookup_law_tests {

using namespace specdec;
using namespace specdec::testing;
using words_type = tiny_tokenizer<target_id>;

/// "ab" is a token, so that what is found has to be cut as the target cuts it.
struct looked_up_words {
    words_type words{{"a", "b", "ab"}};
    text_keys keys{words};
    std::vector<target_id> prompt;
    acceptance_table table; // of automatic lengths
    cost_table costs{{1, 1.1, 1.2, 1.3}, 0, 0};

    explicit looked_up_words(const std::string& text) {
        words.encode(text, encode_mode::start, prompt);
    }
    [[nodiscard]] toy_model<target_id> target(row_tree& p) const {
        return toy_model<target_id>(3, [&p, n = prompt.size()](const auto& context) {
            return p(values_of(std::span(context).subspan(n)));
        });
    }
};

struct shared_memory {
    byte_index texts{{.bytes = 1024, .short_ends = true}};
    ngram_table ngrams{{.entries = 256, .order = 4}};
};

struct drafts {
    std::size_t proposed = 0, accepted = 0;
};

/// A scenario whose session tells what it drafted.
struct counted {
    const scenario& how;
    drafts& seen;
};
template <class Player>
sequence run(Player& text, const counted& s) {
    const sequence tokens = run(text, s.how);
    const auto& counts = text.decoder.counts();
    s.seen.proposed += counts.proposed;
    s.seen.accepted += counts.accepted;
    CHECK(counts.proposed == counts.looked_up);
    return tokens;
}

/// Every scenario under every rule, with lookups that make(memory) makes.
template <class Make>
drafts check_lookup(const char* name, const looked_up_words& w, const Make& make) {
    drafts seen;
    std::uint64_t seed = 4000;
    const auto check = [&](const auto& rule) {
        law_ledger ledger;
        for (scenario s : every_scenario(target_id{2}))
            for (const row_kind kind : {row_kind::random, row_kind::zeros, row_kind::denormal}) {
                row_tree p(toy_rows(kind, 3, ++seed));
                s.start = {.settings = {.capacity = 64}, .prompt = w.prompt, .prefix = {}};
                CAPTURE(name, s.name, static_cast<int>(kind), rule_name(rule));
                const auto models = [&](auto&, const auto& use) {
                    auto target = w.target(p);
                    no_drafter nobody;
                    use(target, nobody);
                };
                const auto bridge = [&](std::size_t, const auto& use) {
                    shared_memory memory;
                    use(make(memory));
                };
                ledger.check(play(made_world{p, models}, bridge, rule, counted{s, seen}));
            }
        ledger.print(name, rule_name(rule));
    };
    for_lossless_rules(check);
    check(coupled_match(w.keys));
    return seen;
}

TEST_CASE("sessions with prompt lookup have the target's law", "[law]") {
    const looked_up_words w("abbaabbaabbaabba");
    const drafts seen = check_lookup("prompt lookup", w, [&](shared_memory&) {
        return lookup_bridge(prompt_lookup(1024), w.words, {.max_draft = 3});
    });
    CHECK(seen.accepted > 1000);
    CHECK(seen.proposed > seen.accepted);
}

TEST_CASE("sessions with counted suffixes and learnt lengths have the target's law", "[law]") {
    const looked_up_words w("aabaabbaababaabaab");
    acceptance_table table;
    const drafts seen = check_lookup("suffixes, auto", w, [&](shared_memory&) {
        table = acceptance_table(); // each path learns anew, and drafts by what it learnt
        return lookup_bridge(own_suffixes(1024), w.words,
                             {.max_draft = 3, .length = lookup_length(table, w.costs)});
    });
    CHECK(seen.accepted > 1000);
    CHECK(seen.proposed > seen.accepted);
}

TEST_CASE("sessions with all lookups have the target's law", "[law]") {
    const looked_up_words w("bbabbabbaabbabb");
    const drafts seen = check_lookup("all lookups", w, [&](shared_memory& memory) {
        return lookup_bridge(best_lookup(64, own_suffixes(1024), shared_suffixes(memory.texts),
                                         ngram_lookup(memory.ngrams)),
                             w.words, {.max_draft = 3});
    });
    CHECK(seen.accepted > 1000);
    CHECK(seen.proposed > seen.accepted);
}

template <class Rule>
struct sharing_text {
    using lookup_type = best_lookup<suffix_lookup<byte_index&>, ngram_lookup>;

    const looked_up_words& w;
    toy_model<target_id> target;
    session<lookup_bridge<lookup_type, words_type>, Rule> decoder;
    coin_of_text<interval_coin> coin;
    no_drafter nobody{};
    fixed_length stop{2};
    sequence text{};

    sharing_text(const looked_up_words& words, row_tree& p, shared_memory& memory, const Rule& rule,
                 interval_coin& random, std::uint64_t number)
        : w(words), target(words.target(p)),
          decoder(lookup_bridge(
                      lookup_type(64, shared_suffixes(memory.texts), ngram_lookup(memory.ngrams)),
                      words.words, {.max_draft = 2}),
                  rule, {.capacity = 64}),
          coin{&random, number} {
        decoder.start(w.prompt);
    }

    std::vector<target_id> draft() {
        decoder.draft(nobody, stop, coin, 8);
        const auto proposed = decoder.bridge().found();
        return {proposed.begin(), proposed.end()};
    }
    std::size_t decide() {
        const round_result r = decoder.verify(decoder.score(target), coin);
        for (std::size_t i = 0; i < r.tokens.size(); ++i)
            decided[i] = r.tokens[i].value;
        return r.tokens.size();
    }
    void commit(std::size_t n) {
        text.insert(text.end(), decided.begin(), decided.begin() + static_cast<std::ptrdiff_t>(n));
        decoder.commit(n);
    }
    void round() {
        draft();
        commit(decide());
    }
    void finish(std::size_t length) {
        stop.length = 0;
        while (text.size() < length)
            round();
        text.resize(length);
    }
    std::vector<int> decided = std::vector<int>(8);
};

/// What the texts do until they are left to the target.
enum class turns { between, redone, abandoned, partial };

/// The joint law of two texts that share an index; changed: paths on which the second's commit
/// changed what the first would have found for the round that it had drafted.
template <class Rule>
pair_law law_of_two(const looked_up_words& w, row_tree& p, const Rule& rule, turns how,
                    std::size_t length, std::size_t& changed, std::size_t& accepted) {
    return on_every_path([&](interval_coin& coin) {
        shared_memory memory;
        sharing_text<Rule> a(w, p, memory, rule, coin, 0), b(w, p, memory, rule, coin, 1);
        switch (how) {
        case turns::between: { // b's whole round between a's draft and its decision
            a.draft();
            b.round();
            a.commit(a.decide());
            b.round();
            break;
        }
        case turns::redone: { // a's round is given up before it is decided, and drafted anew
            const auto first = a.draft();
            b.round();
            changed += a.draft() != first ? 1U : 0U;
            b.round();
            a.commit(a.decide());
            break;
        }
        case turns::abandoned: { // and behind its decision, of which nothing was used
            const auto first = a.draft();
            (void)a.decide();
            b.round();
            changed += a.draft() != first ? 1U : 0U;
            a.commit(a.decide());
            a.round();
            break;
        }
        default: // both drafted, both decided, one token of each used
            a.draft();
            b.draft();
            const std::size_t one = a.decide(), two = b.decide();
            b.commit(two < 1 ? two : 1);
            a.commit(one < 1 ? one : 1);
            a.round();
            break;
        }
        a.finish(length);
        b.finish(length);
        accepted += a.decoder.counts().accepted + b.decoder.counts().accepted;
        return std::pair{a.text, b.text};
    });
}

TEST_CASE("two texts that take turns with one index have together the target's law", "[law]") {
    std::size_t changed = 0, accepted = 0;
    for (const char* prompt : {"abbaabbaabbaab", "aabaabbaaabab"}) {
        const looked_up_words w(prompt);
        for (const turns how : {turns::between, turns::redone, turns::abandoned, turns::partial}) {
            row_tree p(toy_rows(row_kind::random, 3, 4700 + static_cast<std::uint64_t>(how)));
            constexpr std::size_t length = 2;
            const pair_law expected = both_alone(p, length);
            const auto check = [&](const auto& rule) {
                CAPTURE(prompt, static_cast<int>(how), rule_name(rule));
                const auto law = law_of_two(w, p, rule, how, length, changed, accepted);
                CHECK(total_variation(law, expected) < 1e-12);
            };
            for_lossless_rules(check);
            check(coupled_match(w.keys));
        }
    }
    CHECK(changed > 0); // the index did change what a round would have drafted
    CHECK(accepted > 1000);
}

} // namespace lookup_law_tests
