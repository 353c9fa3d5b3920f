// SPDX-License-Identifier: MIT
// Where texts end, under every rule: nothing is asked for behind an accepted end token, and a stop
// string that is a control token's name is one.
#include <specdec/speculation/speculation.hpp>

#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <specdec/process/grammar_mask.hpp>
#include <specdec/vocab/table/byte_order.hpp>

#include "support/toy_speculation.hpp"
#include "support/toy_tree_model.hpp"

using namespace specdec;
using namespace specdec::testing;
using Catch::Contains;

namespace speculation_ends_tests {

constexpr float forbidden = -std::numeric_limits<float>::infinity();

/// A token a letter, and an end of any kind.
template <class Id>
class letters {
public:
    explicit letters(token_kind end) {
        for (const char c : std::string("abcdef"))
            table_.add({&c, 1}, token_kind::normal);
        table_.add("<end>", end);
    }
    [[nodiscard]] const vocabulary& table() const { return table_; }
    [[nodiscard]] std::size_t vocabulary_size() const { return table_.size(); }
    [[nodiscard]] std::string_view bytes(Id id) const { return table_.text(id.index()); }
    void encode(std::string_view text, encode_mode, std::vector<Id>& out) const {
        for (std::size_t k = 0; k < text.size(); ++k)
            if (table_.is_text(6) && text.substr(k).starts_with("<end>")) {
                out.push_back(Id{6});
                k += 4;
            } else if (text[k] >= 'a' && text[k] <= 'f') {
                out.push_back(Id{text[k] - 'a'});
            }
    }

private:
    vocabulary table_;
};

/// Behind a token the next one is likely.
template <class Id>
std::vector<float> next_is_likely(const std::vector<Id>& context) {
    std::vector<float> row(7);
    row[(context.back().index() + 1) % 7] = 4;
    return row;
}

/// Four to nineteen letters.
struct words {
    using state_type = int;
    [[nodiscard]] int begin() const { return 0; }
    bool step(int& n, char byte) const { return ++n < 20 && byte >= 'a' && byte <= 'f'; }
    [[nodiscard]] bool complete(int n) const { return n >= 4; }
};

/// Any processor; throws where it is asked behind an end token, as matchers do.
template <class Id, class Process>
struct strict {
    Process process;
    std::size_t prompt = 2;

    void operator()(std::span<const Id> tokens, std::span<float> row) {
        if (is_one_of(tokens.subspan(prompt), Id{6}))
            throw error("matcher", "end", "expected not to be asked behind it");
        process(tokens, row);
    }
};

struct pair_of_letters {
    letters<target_id> target_words;
    letters<draft_id> draft_words;
    batch_of<target_id, toy_tree_model<target_id>> target{
        3, toy_tree_model<target_id>(7, next_is_likely<target_id>)};
    batch_of<draft_id, toy_tree_model<draft_id>> draft{
        3, toy_tree_model<draft_id>(7, next_is_likely<draft_id>)};
    byte_order<target_id> order{target_words};
    byte_order<draft_id> draft_order{draft_words};
    std::vector<target_id> prompt{target_id{0}, target_id{1}};

    explicit pair_of_letters(token_kind end) : target_words(end), draft_words(end) {}

    [[nodiscard]] speculation pair() {
        return speculation({.models = target, .tokenizer = target_words, .ends = {target_id{6}}},
                           {.models = draft, .tokenizer = draft_words, .ends = {draft_id{6}}});
    }
    [[nodiscard]] text_request request(std::uint64_t sequence) const {
        grammar_mask<target_id, words, letters<target_id>> mask(words{}, target_words, order, 2,
                                                                {target_id{6}});
        grammar_mask<draft_id, words, letters<draft_id>> of_draft(words{}, draft_words, draft_order,
                                                                  2, {draft_id{6}});
        return {.prompt = prompt,
                .sequence = sequence,
                .process = strict<target_id, decltype(mask)>{mask},
                .process_draft = strict<draft_id, decltype(of_draft)>{of_draft}};
    }
};

TEST_CASE("ends: a grammar's matcher is never asked behind an end, under any rule") {
    for (const token_kind kind : {token_kind::control, token_kind::user, token_kind::normal})
        for (const named_rule& r : rules)
            for (const float temperature : {0.0F, 1.0F})
                for (const bool tree : {false, true}) {
                    if (tree && !can_draft_trees(r.rule))
                        continue;
                    pair_of_letters x(kind);
                    speculation pair = x.pair();
                    std::vector<text_request> texts;
                    for (std::uint64_t i = 0; i < 12; ++i)
                        texts.push_back(x.request(i));
                    decode_settings s{.rule = r.rule,
                                      .sampling = {.temperature = temperature},
                                      .lengths = {.kind = length_kind::fixed, .length = 8},
                                      .limits = {.max_tokens = 24}};
                    if (tree)
                        s.tree = tree_drafts{.widths = {2, 1, 1, 1, 1}};
                    CAPTURE(r.name, static_cast<int>(kind), temperature, tree);
                    const decode_results found = pair.run(texts, s);
                    found.require_none_failed();
                    std::size_t ends = 0;
                    for (const decode_result& text : found.texts)
                        ends += text.finish == finish_reason::end_token ? 1U : 0U;
                    CHECK(ends > 0);
                    for (std::size_t i = 0; i < 12; ++i) { // alone as side by side
                        const decode_result one = pair.run({&texts[i], 1}, s).texts[0];
                        if (matches_exactly(r.rule) || is_coupled(r.rule))
                            CHECK(one.tokens == found.texts[i].tokens);
                        CHECK(one.counts.committed + one.counts.discarded ==
                              one.counts.accepted + one.counts.corrected + one.counts.free +
                                  one.counts.residual);
                    }
                }
}

/// The toy pair, whose control tokens are likely.
struct chatty_toys {
    toy_pair words;
    batch_of<target_id, target_model> target{1, target_model(words.target.table(), {.control = 3})};
    batch_of<draft_id, draft_model> draft{
        1, draft_model(words.draft.table(), {.seed = 2, .control = 3})};

    [[nodiscard]] speculation pair() {
        return speculation({.models = target, .tokenizer = words.target, .ends = {toy_pair::end}},
                           {.models = draft,
                            .tokenizer = words.draft,
                            .bos = toy_pair::bos,
                            .begins_with_bos = true,
                            .ends = {toy_pair::stop}});
    }
};

TEST_CASE("ends: a stop string that is a control token's name ends a text at that token") {
    chatty_toys x;
    speculation pair = x.pair();
    const generation_limits plain{.max_tokens = 40},
        stop{.max_tokens = 40, .stop_strings = {"zz", "<mark>"}},
        any{.max_tokens = 40, .end_at_control = true};
    std::size_t marks = 0;
    for (const rule how :
         {rule::autoregressive, rule::tli_exact, rule::slem, rule::lookup, rule::recycling})
        for (std::uint64_t seed = 0; seed < 20; ++seed) {
            const auto under = [&](const generation_limits& limits) {
                decode_settings s = fixed(how, 1, seed);
                s.limits = limits;
                return pair.generate("ab c", s);
            };
            std::vector<target_id> wanted = under(plain).tokens;
            for (std::size_t i = 0; i < wanted.size(); ++i)
                if (wanted[i] == toy_pair::mark)
                    wanted.resize(i + 1);
            const bool marked = !wanted.empty() && wanted.back() == toy_pair::mark;
            marks += marked ? 1U : 0U;
            CAPTURE(about(how).name, seed);
            for (const generation_limits& limits : {stop, any}) {
                const decode_result found = under(limits);
                CHECK(found.tokens == wanted);
                if (marked)
                    CHECK(found.finish == finish_reason::end_token);
            }
        }
    CHECK(marks > 10);
}

TEST_CASE("ends: a stop string with a control token's name inside is refused by name") {
    chatty_toys x;
    speculation pair = x.pair();
    const auto prompt = x.words.encode("ab");
    const std::vector<text_request> texts{
        {.prompt = prompt},
        {.prompt = prompt,
         .where = "p.txt: line 2",
         .limits = generation_limits{.stop_strings = {"a<mark>"}}}};
    const std::size_t passes = x.target.passes;
    CHECK_THROWS_WITH(pair.run(texts, fixed(rule::tli, 1)),
                      Contains("p.txt: line 2: limits: stop_strings") && Contains("<mark>"));
    CHECK_THROWS_WITH(pair.open(texts[1], fixed(rule::tli, 1)), Contains("limits: stop_strings"));
    CHECK(x.target.passes == passes);
}

} // namespace speculation_ends_tests
