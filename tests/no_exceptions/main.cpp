// SPDX-License-Identifier: MIT
// An engine without exceptions and run-time types: decodes by every bridge and rule, alone and side
// by side. With an argument it makes a mistake, and succeeds only if on_error is told of it.
#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include <specdec/specdec.hpp>
#include <specdec/vocab/intersection.hpp>
#include <specdec/vocab/ngrams/ngram_cache_file.hpp>
#include <specdec/vocab/split_tokens.hpp>

#include "../support/batch_of.hpp"
#include "../support/decoding.hpp"

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

template <class B, class V, Coin C>
std::vector<target_id> decode(const toy_world& world, B bridge, V rule, C coin) {
    target_text_model target = world.target_model();
    draft_text_model draft = world.draft_model();
    model_drafter whole(draft);
    windowed_drafter drafter(whole);
    session decoder(std::move(bridge), rule, world.settings(1));
    decoder.start(world.prompt, world.prefix);
    return play(decoder, target, drafter, fixed_length{4}, coin, length);
}

bool every_bridge_and_rule(const toy_world& world) {
    bool good = true;
    const text_keys keys(world.two.target, world.two.map);
    const auto alone = decode(world, no_bridge{}, exact_match{}, philox_coin(1));
    const auto same_noise = decode(world, no_bridge{}, coupled_match(keys), coupled_coin(keys, 1));
    for_every_bridge(world, 4, [&](const char* name, const auto& bridge) {
        for_every_rule([&](const char* rule_name, auto rule) {
            if (decode(world, bridge, rule, philox_coin(1)).size() != length) {
                std::cerr << name << ", " << rule_name << ": no text\n";
                good = false;
            }
        });
        if (decode(world, bridge, exact_match{}, philox_coin(1)) != alone ||
            decode(world, bridge, coupled_match(keys), coupled_coin(keys, 1)) != same_noise) {
            std::cerr << name << ": another text than the target's\n";
            good = false;
        }
    });
    ngram_cache<lru> cache({.capacity = 20});
    return good && decode(world,
                          make_ngram_merge_bridge(cache, world.two.target, world.two.draft,
                                                  world.two.map, world.two.order, 512, {4, 0.1}),
                          token_rejection{}, philox_coin(1))
                           .size() == length;
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
                   "vocabulary, got 8";
        short_rows target{world.target_model()};
        session decoder(no_bridge{}, exact_match{}, world.settings(1));
        decoder.start(world.prompt);
        no_drafter nobody;
        philox_coin coin(1);
        const fixed_length none{0};
        (void)decoder.round(target, nobody, none, coin, length);
    } else if (mistake == "bad_prompt") {
        expected = "session: prompt: at least one token";
        session decoder(no_bridge{}, exact_match{}, world.settings(1));
        decoder.start({});
    } else if (mistake == "bad_setting") {
        expected = "pushforward bridge: lightest_draft: expected a number from 0 to 1";
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
    return every_bridge_and_rule(world) && side_by_side(world, 2) ? EXIT_SUCCESS : EXIT_FAILURE;
}
