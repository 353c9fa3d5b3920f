// SPDX-License-Identifier: MIT
// Text that is looked up: sessions of several rounds have the target's law under every lossless
// rule, and so have, together, two texts that find each other's words in one index, whatever
// happens to it between a round's draft and its verification.
#include <specdec/source/lookup_source.hpp>

#include <span>
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

#include "play.hpp"
#include "support/tiny_tokenizer.hpp"
#include "two_texts.hpp"

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

    explicit looked_up_words(const std::string& text) : prompt(encoded(words, text)) {}
    [[nodiscard]] toy_model<target_id> target(row_tree& p) const {
        return model_behind<target_id>(p, prompt.size());
    }
};

struct shared_memory {
    byte_index texts{{.bytes = 1024, .short_ends = true}};
    ngram_table ngrams{{.entries = 256, .order = 4}};
};

struct drafts {
    std::size_t proposed = 0, accepted = 0;
};

/// Every scenario under every rule, with lookups that make(memory) makes.
template <class Make>
drafts check_lookup(const char* name, const looked_up_words& w, const Make& make) {
    drafts seen;
    const auto saw = [&](const statistics& c) {
        seen.proposed += c.proposed;
        seen.accepted += c.accepted;
        CHECK(c.proposed == c.looked_up);
    };
    std::uint64_t seed = 4000;
    const auto check = [&](const auto& rule) {
        law_ledger ledger;
        for (scenario s : every_scenario(target_id{2}))
            for (const row_kind kind : {row_kind::random, row_kind::zeros, row_kind::denormal}) {
                row_tree p(toy_rows(kind, 3, ++seed));
                s.start = {.settings = {.capacity = 64}, .prompt = w.prompt, .prefix = {}};
                CAPTURE(name, s.name, static_cast<int>(kind), rule.name);
                const auto models = [&](auto&, const auto& use) {
                    auto target = w.target(p);
                    no_drafter nobody;
                    use(target, nobody);
                };
                const auto bridge = [&](std::size_t, const auto& use) {
                    shared_memory memory;
                    use(make(memory));
                };
                ledger.check(play(made_world{p, models}, bridge, rule, watched{s, saw}));
            }
        ledger.print(name, rule.name);
    };
    for_lossless_rules(check);
    check(by_coupling(w.keys));
    return seen;
}

TEST_CASE("sessions with prompt lookup have the target's law", "[law]") {
    const looked_up_words w("abbaabbaabbaabba");
    const drafts seen = check_lookup("prompt lookup", w, [&](shared_memory&) {
        return lookup_source(prompt_lookup(1024), w.words, {.max_draft = 3});
    });
    CHECK(seen.accepted > 1000);
    CHECK(seen.proposed > seen.accepted);
}

TEST_CASE("sessions with counted suffixes and learnt lengths have the target's law", "[law]") {
    const looked_up_words w("aabaabbaababaabaab");
    acceptance_table table;
    const drafts seen = check_lookup("suffixes, auto", w, [&](shared_memory&) {
        table = acceptance_table(); // each path learns anew, and drafts by what it learnt
        return lookup_source(own_suffixes(1024), w.words,
                             {.max_draft = 3, .length = lookup_length(table, w.costs)});
    });
    CHECK(seen.accepted > 1000);
    CHECK(seen.proposed > seen.accepted);
}

TEST_CASE("sessions with all lookups have the target's law", "[law]") {
    const looked_up_words w("bbabbabbaabbabb");
    const drafts seen = check_lookup("all lookups", w, [&](shared_memory& memory) {
        return lookup_source(best_lookup(64, own_suffixes(1024), shared_suffixes(memory.texts),
                                         ngram_lookup(memory.ngrams)),
                             w.words, {.max_draft = 3});
    });
    CHECK(seen.accepted > 1000);
    CHECK(seen.proposed > seen.accepted);
}

/// The joint law of two texts that share an index. The second one's prompt lacks some tokens at the
/// end: none, and a commit of one changes what the other is proposed, or more, and each is proposed
/// words of its own.
template <class Rule>
void check_sharing(const looked_up_words& w, row_tree& p, const Rule& rule, const course& c,
                   std::size_t lacks, std::size_t& changed, std::size_t& accepted) {
    const auto found = [](const auto& decoder) {
        const auto ids = decoder.bridge().found();
        return std::vector(ids.begin(), ids.end());
    };
    check_two_texts(p, c, [&](interval_coin& coin, const auto& use) {
        shared_memory memory;
        const std::span<const target_id> whole = w.prompt;
        const auto shorter = whole.first(whole.size() - lacks);
        auto one = model_behind<target_id>(p, whole.size());
        auto other = model_behind<target_id>(p, shorter.size());
        no_drafter nobody;
        two_texts world(found, changed);
        for (auto* target : {&one, &other}) {
            session decoder(lookup_source(best_lookup(64, shared_suffixes(memory.texts),
                                                      ngram_lookup(memory.ngrams)),
                                          w.words, {.max_draft = 2}),
                            rule, session_settings{.capacity = 64});
            decoder.start(target == &one ? whole : shorter);
            world.add(std::move(decoder), *target, nobody, coin);
        }
        use(world);
        accepted += world.accepted();
    });
}

TEST_CASE("two texts that take turns with one index have together the target's law", "[law]") {
    std::size_t changed = 0, accepted = 0;
    for (const char* prompt : {"abbaabbaabbaab", "aabaabbaaabab"}) {
        const looked_up_words w(prompt);
        std::uint64_t seed = 4700;
        for (const course& c : courses_of_two(2)) {
            row_tree p(toy_rows(row_kind::random, 3, seed++));
            const auto check = [&](const auto& rule) {
                CAPTURE(prompt, rule.name);
                for (const std::size_t lacks : {std::size_t{0}, std::size_t{1}})
                    check_sharing(w, p, rule, c, lacks, changed, accepted);
            };
            for_lossless_rules(check);
            check(by_coupling(w.keys));
        }
    }
    CHECK(changed > 0); // the index did change what a round would have drafted
    CHECK(accepted > 1000);
}

} // namespace lookup_law_tests
