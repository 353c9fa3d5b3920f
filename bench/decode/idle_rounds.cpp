// SPDX-License-Identifier: MIT
// Question: what does a rule cost that drafts nothing? Microseconds beside the target's pass, which
// costs nothing here: the target writes a file, and the drafter is never asked.
//   bench_decode_idle_rounds [TEXT]   (models/prompts/docs.txt by default, with that pair's words)
// Per rule: making a session, starting it with a prompt of 40 tokens, a round of the 64 behind it
// with drafts of length 0, and with a profitable_length rule that has learnt that drafting loses.
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "take_turns.hpp"
#include <specdec/decode/outcome_of.hpp>
#include <specdec/draft/length_rule.hpp>
#include <specdec/specdec.hpp>
#include <specdec/vocab/spelling/split_tokens.hpp>
#include <specdec/vocab/table/intersection.hpp>
#include <specdec_engine/load_tokenizer.hpp>

namespace {

using namespace specdec;
using target_words = engine::tokenizer_of<target_id>;
using draft_words = engine::tokenizer_of<draft_id>;

constexpr std::size_t prompt_size = 40, text_size = 64, capacity = 1024, longest = 8;

/// Writes one text, whatever it is given: a row costs two stores.
class scripted_target {
public:
    scripted_target(std::span<const target_id> script, std::size_t vocabulary)
        : script_(script), rows_((longest + 1) * vocabulary), next_(longest + 1),
          vocabulary_(vocabulary) {}

    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] std::size_t capacity() const { return ::capacity; }
    [[nodiscard]] std::size_t vocabulary_size() const { return vocabulary_; }
    void append(std::span<const target_id> ids) { size_ += ids.size(); }
    void truncate(std::size_t n) { size_ = n; }
    logits_rows<target_id> score(std::span<const target_id> ids) {
        const std::size_t n = ids.size() < next_.size() ? ids.size() : next_.size();
        size_ += ids.size() - n;
        for (std::size_t i = 0; i < n; ++i) {
            rows_[i * vocabulary_ + next_[i]] = 0;
            next_[i] = script_[++size_ % script_.size()].index();
            rows_[i * vocabulary_ + next_[i]] = 30;
        }
        return {rows_.data(), n, vocabulary_, vocabulary_};
    }

private:
    std::span<const target_id> script_;
    std::vector<float> rows_;
    std::vector<std::size_t> next_;
    std::size_t vocabulary_, size_ = 0;
};

/// A drafter that is only told of contexts.
struct silent_drafter {
    std::span<const float> logits;
    [[nodiscard]] std::size_t capacity() const { return 2 * ::capacity; }
    void sync(std::span<const draft_id>, std::size_t) {}
    [[nodiscard]] logits_row<draft_id> row() const { return {logits}; }
    [[nodiscard]] law_version version() const { return 0; }
    void push(draft_id) {}
};

/// What running_sequence does with a round.
struct learner {
    length_rule& lengths;
    const target_words& words;
    const draft_words& pieces;
    bool bytes(std::string_view, token_origin) const { return true; }
    bool round(const round_result& r) const {
        lengths.learn(outcome_of(r, words, pieces));
        return true;
    }
};

struct pair {
    target_words words;
    draft_words pieces;
    id_map map = intersect(pieces.table(), words.table());
    std::vector<target_id> script{};
    std::vector<float> row = std::vector<float>(pieces.vocabulary_size());

    [[nodiscard]] auto context() const {
        return retokenised_context(words, pieces, map, ::capacity);
    }
};

double seconds(const std::function<void()>& work) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

struct times {
    double made = 1, started = 1, idle = 1, learnt = 1;
};

/// A length_rule that has seen drafting lose.
length_rule discouraged(acceptance_table& table, const cost_table& costs) {
    profitable_length rule(table, costs, {.probing = 0});
    for (int i = 0; i < 200; ++i) {
        const draft_progress first{.drafted = 1};
        rule.learn({.steps = {&first, 1}, .rejected = true, .forwards = 1, .proposed = 1});
    }
    return rule;
}

template <class MakeBridge, class V>
void measure(const char* name, const pair& two, const MakeBridge& bridge, const V& verifier) {
    scripted_target target(two.script, two.words.vocabulary_size());
    silent_drafter drafter{two.row};
    const std::vector<target_id> prompt(two.script.begin(), two.script.begin() + prompt_size);
    const generation_limits limits{.max_tokens = text_size};
    acceptance_table table;
    const cost_table costs{.pass = {1, 1.9, 2.8}, .draft = 0.5, .catch_up = 0.05};
    times least;
    const auto keep = [](double& best, double now) { best = now < best ? now : best; };
    for (int turn = 0; turn < 40; ++turn)
        for (const bool learns : {false, true}) {
            length_rule lengths = learns ? discouraged(table, costs) : length_rule(fixed_length{0});
            using session_type = session<decltype(bridge()), V>;
            std::optional<session_type> decoding;
            session_settings settings;
            settings.capacity = ::capacity;
            settings.target.temperature = settings.draft.temperature = 0;
            philox_coin coin(1);
            keep(least.made, seconds([&] { decoding.emplace(bridge(), verifier, settings); }));
            keep(least.started, seconds([&] { decoding->start(prompt); }));
            learner reader{lengths, two.words, two.pieces};
            text_run run(*decoding, drafter, lengths, coin, two.words, limits, reader);
            keep(learns ? least.learnt : least.idle,
                 seconds([&] { (void)generate(run, target); }) / text_size);
        }
    std::printf("%-18s %10.1f %10.1f %10.2f %10.2f\n", name, least.made * 1e6, least.started * 1e6,
                least.idle * 1e6, least.learnt * 1e6);
}

void measure_all(const pair& two) {
    const byte_order<draft_id> order(two.pieces);
    const safe_cuts edges(two.words);
    const text_keys keys(two.words, two.map);
    const token_pieces parts = split_tokens(two.words, two.pieces, two.map);
    const canonical_spellings spellings(two.words, two.pieces, two.map);
    ngram_cache cache;
    std::printf("microseconds:        a session  its start    a round    learning\n");
    measure(
        "none", two, [] { return no_bridge{}; }, exact_match{});
    measure(
        "tli", two, [&] { return token_bridge(tli_map(two.map), two.context(), longest); },
        token_rejection{});
    measure(
        "tli-block", two, [&] { return token_bridge(tli_map(two.map), two.context(), longest); },
        block_verification{});
    measure(
        "nested", two,
        [&] { return nested_tli_bridge<target_words, draft_words>(parts, two.context(), longest); },
        token_rejection{});
    measure(
        "slem", two,
        [&] { return slem_bridge(two.words, two.pieces, two.map, ::capacity, longest); },
        exact_match{});
    measure(
        "slrs", two,
        [&] {
            return make_slrs_bridge(two.words, two.pieces, two.map, order, edges, ::capacity,
                                    {.max_draft = longest});
        },
        token_rejection{});
    measure(
        "merge", two,
        [&] {
            return make_ngram_merge_bridge(cache, two.words, two.pieces, two.map, order, ::capacity,
                                           {.max_draft = longest});
        },
        token_rejection{});
    measure(
        "coupled", two, [&] { return token_bridge(tli_map(two.map), two.context(), longest); },
        coupled_match(keys));
    measure(
        "coupled-spelling", two,
        [&] {
            return spelling_bridge(spellings, two.context(), 2 * ::capacity,
                                   {.max_draft = longest});
        },
        coupled_match(keys));
}

} // namespace

int main(int argc, char** argv) {
    try {
        const std::filesystem::path models = std::string(SPECDEC_SOURCE_DIR) + "/models";
        pair two{target_words(engine::load_tokenizer(models / "docs-target")),
                 draft_words(engine::load_tokenizer(models / "docs-drafter"))};
        std::ifstream file(argc > 1 ? argv[1] : (models / "prompts/docs.txt").string());
        const std::string text(std::istreambuf_iterator<char>(file), {});
        two.words.encode(text, encode_mode::start, two.script);
        if (two.script.size() < prompt_size + text_size)
            throw error("text", "size", "expected more tokens");
        measure_all(two);
    } catch (const std::exception& problem) {
        std::fprintf(stderr, "%s\n", problem.what());
        return 1;
    }
}
