// SPDX-License-Identifier: MIT
// Sessions whose rows are processed before they are laws, on the target's side and on both: the
// joint law is that of the processed rows, which are computed here from definitions, without state.
#include <specdec/process/processed_rows.hpp>

#include <string>
#include <vector>

#include <specdec/draft/processed_drafter.hpp>
#include <specdec/process/grammar_mask.hpp>
#include <specdec/process/penalties.hpp>
#include <specdec/process/token_bias.hpp>

#include "toy_bridges.hpp"
#include "tree_law.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace {

constexpr float forbidden = -__builtin_inff();

std::vector<scenario> some_scenarios() {
    constexpr sampling_parameters warm{.temperature = 0.7F, .top_k = 2},
        cool{.temperature = 1.5F, .top_p = 0.8F};
    const step one{.gamma = 1};
    const step if_all_was_kept{.gamma = 1, .by_last_round = true};
    return {
        {"two rounds", {{.gamma = 2}, one}, 3},
        {"part, then by what was seen", {{.gamma = 2, .what = then::part}, if_all_was_kept}, 2},
        {"abandoned and redone", {{.gamma = 1, .what = then::abandon}, {.gamma = 1}, one}},
        {"not used", {{.gamma = 1, .what = then::nothing}, if_all_was_kept}},
        {"other parameters on both sides", {{.gamma = 2}, one}, 2, warm, cool},
    };
}

/// Toy models, of whose drafter rows are processed by make_processor().
template <class MakeProcessor>
auto with_processor(row_tree& p, row_tree& q, const MakeProcessor& make_processor) {
    return made_world{p, [&](auto& coin, const auto& use) {
                          toy_models{p, q}(coin, [&](auto& target, auto& plain) {
                              processed_drafter drafter(plain, make_processor());
                              use(target, drafter);
                          });
                      }};
}

/// Under every rule: the law is that of the rows which `by_definition` makes.
template <class WithBridge, class MakeLaws, class MakeProcessor>
void check_processed(const char* name, const WithBridge& with_bridge, const MakeLaws& make_laws,
                     const MakeProcessor& make_processor,
                     void (*by_definition)(const sequence& prefix, std::vector<float>& row)) {
    std::uint64_t seed = 89;
    for_lossless_rules([&](const auto& rule) {
        law_ledger ledger;
        for (const scenario& s : some_scenarios())
            for (const row_kind q_kind : {row_kind::random, row_kind::zeros}) {
                toy_rows_of rows(permuted_words(), seed += 2, row_kind::random, q_kind);
                row_tree wanted([&](const sequence& prefix) {
                    std::vector<float> row = rows.p(prefix);
                    by_definition(prefix, row);
                    return row;
                });
                CAPTURE(name, s.name);
                played found = play(with_processor(rows.p, rows.q, make_processor), with_bridge,
                                    rule, s, make_laws());
                found.wanted = target_alone(wanted, s.length, s.target);
                ledger.check(found);
            }
        ledger.print(name, rule.name);
    });
}

// --- Penalties, a bias, a minimum length
// ----------------------------------------------------------

template <class Id>
auto penalties(std::size_t vocabulary, std::size_t prompt, logit_bias<Id> bias) {
    return chain(repetition_penalty<Id>(vocabulary, 2.0F),
                 occurrence_penalty<Id>(vocabulary, prompt, {.presence = 0.5F, .frequency = 1.25F}),
                 std::move(bias));
}

logit_bias<target_id> bias() {
    return {3, {{target_id{1}, -0.75F}}};
}

auto penalised_rows_behind(std::size_t prompt) {
    return processed_rows(3, chain(penalties<target_id>(3, prompt, bias()),
                                   minimum_length<target_id>({target_id{2}}, prompt, 1)));
}
auto penalised_rows() {
    return penalised_rows_behind(1);
}

void penalised(const sequence& prefix, std::vector<float>& row) {
    for (int t = 0; t < 3; ++t) {
        float& logit = row[static_cast<std::size_t>(t)];
        int count = 0;
        for (const int x : prefix)
            count += x == t ? 1 : 0;
        if (count > 0 || t == 0) // the prompt is token 0
            logit = logit < 0 ? logit * 2 : logit / 2;
        if (count > 0)
            logit -= 0.5F + 1.25F * static_cast<float>(count);
    }
    row[1] -= 0.75F;
    if (prefix.empty())
        row[2] = forbidden;
}

const auto plain = [] { return chain<>(); };
const auto penalised_drafts = [] {
    return penalties<draft_id>(4, 2, mirrored(bias(), permuted_words().map));
};

// --- A grammar: no letter twice in a row
// ----------------------------------------------------------

struct no_double {
    using state_type = char;
    [[nodiscard]] char begin() const { return 0; }
    bool step(char& last, char byte) const {
        const bool fits = byte != last;
        last = byte;
        return fits;
    }
    [[nodiscard]] bool complete(char) const { return false; }
};

template <class Id, class Words>
auto grammar(const Words& tokenizer, std::size_t prompt_bytes) {
    static const byte_order<Id> order(tokenizer);
    return grammar_mask<Id, no_double, Words>({}, tokenizer, order, prompt_bytes, {});
}

auto masked_rows() {
    return processed_rows(3, grammar<target_id>(permuted_words().target, 1));
}
const auto masked_drafts = [] {
    return grammar<draft_id>(permuted_words().draft, 2);
}; // with the prefix

void masked(const sequence& prefix, std::vector<float>& row) {
    const std::string bytes[] = {"a", "b", "ab"};
    for (std::size_t t = 0; t < 3; ++t) {
        std::string text;
        for (const int x : prefix)
            text += bytes[static_cast<std::size_t>(x)];
        text += bytes[t];
        if (text.find("aa") != std::string::npos || text.find("bb") != std::string::npos)
            row[t] = forbidden;
    }
}

} // namespace

TEST_CASE("sessions with processors of the target have the law of the processed rows", "[law]") {
    check_processed("tli, penalties", permuted_words().tli(), penalised_rows, plain, penalised);
    check_processed("slem, penalties", permuted_words().slem(), penalised_rows, plain, penalised);
    check_processed("tli, mask", permuted_words().tli(), masked_rows, plain, masked);
}

TEST_CASE("sessions with processors on both sides have the law of the target's", "[law]") {
    check_processed("tli, penalties", permuted_words().tli(), penalised_rows, penalised_drafts,
                    penalised);
    check_processed("tli, mask", permuted_words().tli(), masked_rows, masked_drafts, masked);
    check_processed("slrs, mask", permuted_words().slrs(0.3), masked_rows, masked_drafts, masked);
}

TEST_CASE("processors of drafts of three, whose rows are asked for together", "[law]") {
    const scenario three{.steps = {{.gamma = 3, .room = 3}}, .start = {.max_draft = 3}};
    const toy_words two({"a", "b", "aba", "abb"}, {"a", "b"}); // three pieces a token
    const auto penalised_pieces = [] {
        return occurrence_penalty<draft_id>(2, 2, {.presence = 0.5F, .frequency = 1.25F});
    };
    law_ledger ledger;
    for (const std::uint64_t seed : {1U, 2U, 3U}) {
        row_tree p(toy_rows(row_kind::random, 4, seed)), q(toy_rows(row_kind::random, 2, seed + 9));
        ledger.check(
            play(with_processor(p, q, penalised_pieces), two.slrs(0), by_rejection, three));
    }
    std::printf("slrs, drafts of three    %9llu paths\n",
                static_cast<unsigned long long>(ledger.paths));
}

TEST_CASE("sessions with processors of the drafter alone have the target's law", "[law]") {
    const auto nothing = [](const sequence&, std::vector<float>&) {};
    check_processed(
        "tli, penalties", permuted_words().tli(), [] { return softmax_rows{}; }, penalised_drafts,
        nothing);
}

template <class Rule, class MakeLaws>
void check_processed_trees(const Rule& rule, const MakeLaws& make_laws,
                           void (*by_definition)(const sequence& prefix, std::vector<float>& row)) {
    const sampling_parameters warm{.temperature = 0.7F, .top_k = 2};
    const std::vector<tree_step<fixed_tree>> steps{{tree_of({2, 1})}, {tree_of({1, 1})}};
    std::uint64_t seed = 350;
    for (const sibling_draw siblings : sibling_draws) {
        row_tree p(toy_rows(row_kind::random, 3, ++seed)), q(toy_rows(row_kind::random, 3, ++seed)),
            wanted([&](const sequence& prefix) {
                std::vector<float> row = p(prefix);
                by_definition(prefix, row);
                return row;
            });
        const joint_law found = on_every_path([&](interval_coin& coin) {
            sequence text;
            with_trees(
                p, q, rule, identity_trees(3, {.siblings = siblings}),
                {.target = warm, .capacity = 24},
                [&](auto& session, auto& target, auto& drafter) {
                    text = run_trees(session, target, drafter, coin, steps, 3);
                },
                {}, make_laws());
            return text;
        });
        CAPTURE(static_cast<int>(siblings));
        CHECK(total_variation(found, target_alone(wanted, 3, warm)) < exact);
    }
}

TEST_CASE("trees of sessions with processors have the law of the processed rows",
          "[law][computes]") {
    const auto check = [](const auto& rule) {
        check_processed_trees(rule, penalised_rows, penalised);
        check_processed_trees(rule, masked_rows, masked);
    };
    check(recursive);
    check(traversal);
    check(tree_exact_match{});
}

/// A proposal is rejected at the end of a block of tokens that histories compare at once.
TEST_CASE("processors behind a long prompt", "[law]") {
    const session_start behind_62{.settings = {.capacity = 80},
                                  .max_draft = 3,
                                  .prompt = std::vector(62, target_id{0}),
                                  .prefix = {}};
    row_tree p(toy_rows(row_kind::random, 3, 381)), q(toy_rows(row_kind::random, 3, 382));
    row_tree wanted([&](const sequence& prefix) {
        std::vector<float> row = p(prefix);
        penalised(prefix, row);
        return row;
    });
    const auto make = [&](auto&, const auto& use) {
        auto target = model_behind<target_id>(p, 62);
        auto draft = model_behind<draft_id>(q, 62);
        model_drafter drafter(draft);
        use(target, drafter);
    };
    played found = play(made_world{p, make}, always(make_identity_bridge(3, 3, 80, 3)), by_block,
                        scenario{.steps = {{.gamma = 3}}, .length = 3, .start = behind_62},
                        penalised_rows_behind(62));
    found.wanted = target_alone(wanted, 3);
    CHECK(found.deviation() < exact);
}

// --- Sampling parameters that change
// ---------------------------------------------------------------

TEST_CASE("a tree is decided with the sampling parameters of its draft", "[law]") {
    const sampling_parameters first{.temperature = 0.7F};
    row_tree p(toy_rows(row_kind::random, 3, 371)), q(toy_rows(row_kind::random, 3, 372));
    const joint_law found = on_every_path([&](interval_coin& coin) {
        sequence text;
        with_trees(p, q, traversal, identity_trees(3, {}), {.target = first, .capacity = 24},
                   [&](auto& session, auto& target, auto& drafter) {
                       const fixed_tree shape = tree_of({2, 1});
                       session.draft(drafter, shape, coin, {8, 8});
                       session.set_sampling({.temperature = 9}, {.top_k = 1}); // of no round
                       const auto r = session.verify(session.score(target), coin);
                       text.push_back(r.tokens[0].value);
                   });
        return text;
    });
    CHECK(total_variation(found, target_alone(p, 1, first)) < exact);
}

const sampling_parameters later[] = {
    {.temperature = 1.5F, .top_k = 2}, {.temperature = 0}, {.min_p = 0.5F}};

/// Of a token that was drawn with the first ones, and of one with those that depend on it.
joint_law changing_law(row_tree& p, const sampling_parameters& first) {
    joint_law wanted;
    const auto at_first = target_law_at(p, {}, first);
    for (int t = 0; t < 3; ++t)
        continue_with_target(wanted, {t}, at_first.probability(target_id{t}), p, 2,
                             later[static_cast<std::size_t>(t)]);
    return wanted;
}

TEST_CASE("sampling parameters may change between rounds of trees, by what was committed",
          "[law]") {
    const sampling_parameters first{.temperature = 0.7F};
    row_tree p(toy_rows(row_kind::random, 3, 373)), q(toy_rows(row_kind::random, 3, 374));
    const joint_law found = on_every_path([&](interval_coin& coin) {
        sequence tokens;
        with_trees(p, q, traversal, identity_trees(3, {}), {.target = first, .capacity = 24},
                   [&](auto& text, auto& target, auto& drafter) {
                       (void)text.round(target, drafter, tree_of({2}), coin, 8);
                       text.commit(1, drafter);
                       text.set_sampling(later[text.tokens()[1].index()], {.temperature = 0.5F});
                       (void)text.round(target, drafter, tree_of({2}), coin, 8);
                       text.commit(1);
                       tokens = values_of(text.tokens().subspan(1));
                   },
                   {draft_id{0}});
        return tokens;
    });
    CHECK(total_variation(found, changing_law(p, first)) < exact);
}

TEST_CASE("sampling parameters may change between rounds, by what was committed", "[law]") {
    constexpr fixed_length two{2};
    const sampling_parameters first{.temperature = 0.7F};
    for_lossless_rules([&](const auto& rule) {
        toy_rows_of rows(permuted_words(), 120);
        const auto round = [&](auto& text, std::size_t i) {
            auto& decoder = text.decoder;
            if (i > 0)
                return decoder.commit(text.round(two).tokens.size());
            decoder.draft(text.drafter, two, text.coin, 8);
            decoder.set_sampling({.temperature = 9}, {.top_k = 1}); // of no round
            (void)decoder.verify(decoder.score(text.target), text.coin);
            decoder.commit(1);
            decoder.set_sampling(later[decoder.tokens()[1].index()], {.temperature = 0.5F});
        };
        const played found = play(rows.models(), permuted_words().tli(), rule,
                                  rounds_by{scenario{.target = first, .draft = first}, round});
        CHECK(total_variation(found.law, changing_law(rows.p, first)) < exact);
    });
}
