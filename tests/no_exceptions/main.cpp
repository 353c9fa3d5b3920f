// SPDX-License-Identifier: MIT
// An engine without exceptions and run-time types: decodes by every rule, alone and side
// by side. With an argument it makes a mistake, and succeeds only if on_error is told of it.
#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>

#include <specdec/specdec.hpp>
#include <specdec/speculation/speculation.hpp>

#include "support/batch_of.hpp"
#include "support/decoding.hpp"

#if defined(__cpp_exceptions) || defined(__cpp_rtti)
#error "this program is about doing without"
#endif

using namespace specdec;
using namespace specdec::testing;

namespace {

constexpr std::size_t length = 40;
std::string_view expected; ///< by on_error

} // namespace

// All that an engine writes.
void specdec::on_error(const error& problem) {
    if (problem.what() == expected && !expected.empty())
        std::_Exit(EXIT_SUCCESS);
    std::cerr << "on_error was told of '" << problem.what() << "'\n";
    std::_Exit(EXIT_FAILURE);
}

namespace {

bool every_rule(const toy_world& world) {
    target_text_model target = world.target_model();
    draft_text_model draft = world.draft_model();
    speculation pair({target, world.two.target}, {draft, world.two.draft});
    const text_request request{.prompt = world.prompt};
    const auto decode = [&](rule how, float temperature) {
        return pair
            .run({&request, 1}, {.rule = how,
                                 .sampling = {.temperature = temperature},
                                 .lengths = {.kind = length_kind::fixed, .length = 4},
                                 .limits = {.max_tokens = length}})
            .texts.front();
    };
    const std::string greedy = decode(rule::autoregressive, 0).text;
    bool good = !greedy.empty();
    for (const named_rule& r : rules)
        if (pair.applies(r.rule) &&
            (decode(r.rule, 0).text != greedy || decode(r.rule, 1).tokens.size() != length)) {
            std::cerr << r.name << ": another text than the target's\n";
            good = false;
        }
    return good;
}

/// Two texts side by side on a target that holds `sequences`.
bool side_by_side(const toy_world& world, std::size_t sequences) {
    struct text {
        draft_text_model draft;
        model_drafter<draft_text_model> drafter{draft};
        session<words_tli, token_rejection> decoder;
        fixed_length stop{4};
        philox_coin coin{1};
        recorder reader{};
        text_run<decltype(decoder), decltype(drafter), fixed_length, philox_coin,
                 tiny_tokenizer<target_id>, recorder>
            run;
        explicit text(const toy_world& w)
            : draft(w.draft_model()), decoder(w.two.tli(4), token_rejection{}, w.settings(1)),
              run(decoder, drafter, stop, coin, w.two.target, {length, {}}, reader) {
            decoder.start(w.prompt, w.prefix);
        }
    };
    text first(world), second(world);
    batch_of<target_id, target_text_model> target(sequences, world.target_model());
    batch<decltype(target), decltype(first.run)> both(target);
    both.join(first.run);
    both.join(second.run);
    while (both.round()) {
    }
    return !first.reader.text.empty() && first.reader.text == second.reader.text;
}

/// A target whose rows have a logit too few.
struct short_rows {
    target_text_model inner;
    [[nodiscard]] std::size_t size() const { return inner.size(); }
    [[nodiscard]] std::size_t capacity() const { return inner.capacity(); }
    [[nodiscard]] std::size_t vocabulary_size() const { return inner.vocabulary_size(); }
    void append(std::span<const target_id> ids) { inner.append(ids); }
    void truncate(std::size_t n) { inner.truncate(n); }
    logits_rows<target_id> score(std::span<const target_id> ids) {
        const logits_rows<target_id> rows = inner.score(ids);
        return {rows[0].values.data(), ids.size(), vocabulary_size() - 1, vocabulary_size()};
    }
};

void make(const std::string& mistake, const toy_world& world) {
    if (mistake == "bad_row") {
        expected = "session: target's rows: expected 9 logits each, one for each id of the "
                   "vocabulary, found 8";
        short_rows target{world.target_model()};
        session decoder(no_bridge{}, exact_match{}, world.settings(1));
        decoder.start(world.prompt);
        no_drafter nobody;
        philox_coin coin(1);
        const fixed_length none{0};
        (void)decoder.round(target, nobody, none, coin, length);
    } else if (mistake == "bad_prompt") {
        expected = "session: prompt: expected at least one token";
        session decoder(no_bridge{}, exact_match{}, world.settings(1));
        decoder.start({});
    } else if (mistake == "bad_setting") {
        expected = "pushforward bridge: min_draft_probability: expected a number from 0 to 1";
        (void)make_slrs_bridge(world.two.target, world.two.draft, world.two.map, world.two.order,
                               world.two.edges, 512, {4, 2.0});
    } else if (mistake == "full_batch") {
        expected = "batch: join: expected a free sequence, all 1 are taken";
        (void)side_by_side(world, 1);
    }
}

} // namespace

int main(int count, char** arguments) {
    const toy_world world;
    if (count > 1) {
        make(arguments[1], world);
        std::cerr << "nobody was told of a " << arguments[1] << "\n";
        return EXIT_FAILURE;
    }
    return every_rule(world) && side_by_side(world, 2) ? EXIT_SUCCESS : EXIT_FAILURE;
}
