// SPDX-License-Identifier: MIT
// Question: what does a rule cost that drafts nothing? Times are those beside the target's pass,
// which costs nothing here: the target writes a file, and the drafter is never asked.
//   bench_decode [--text FILE]   (models/prompts/docs.txt by default, with that pair's words)
// Per rule: making a session, starting it with a prompt of 40 tokens, a round of the 64 after it
// with drafts of length 0, and with a profitable_length rule that has learnt that drafting loses;
// each in times of the same without a rule (none).
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "question.hpp"
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

/// A length_rule that has seen drafting lose.
length_rule discouraged(acceptance_table& table, const cost_table& costs) {
    profitable_length rule(table, costs, {.probing = 0});
    for (int i = 0; i < 200; ++i) {
        const draft_progress first{.drafted = 1};
        rule.learn({.steps = {&first, 1}, .rejected = true, .forwards = 1, .proposed = 1});
    }
    return rule;
}

/// A sequence of one rule, step by step.
class course {
public:
    course() = default;
    course(const course&) = delete;
    course& operator=(const course&) = delete;
    virtual ~course() = default;
    virtual void clear() = 0;
    virtual void make() = 0; ///< after clear()
    virtual void start() = 0;
    virtual void run(bool learns) = 0; ///< all but the rounds
    virtual void decode() = 0;
};

template <class MakeBridge, class V>
class course_of final : public course {
public:
    course_of(const pair& two, MakeBridge bridge, V verifier)
        : two_(two), bridge_(std::move(bridge)), verifier_(std::move(verifier)),
          prompt_(two.script.begin(), two.script.begin() + prompt_size) {
        settings_.capacity = ::capacity;
        settings_.target.temperature = settings_.draft.temperature = 0;
    }
    void clear() override {
        run_.reset();
        session_.reset();
    }
    void make() override { session_.emplace(bridge_(), verifier_, settings_); }
    void start() override { session_->start(prompt_); }
    void run(bool learns) override {
        clear();
        make();
        start();
        lengths_.emplace(learns ? discouraged(table_, costs_) : length_rule(fixed_length{0}));
        reader_.emplace(learner{*lengths_, two_.words, two_.pieces});
        run_.emplace(*session_, drafter_, *lengths_, coin_, two_.words, limits_, *reader_);
    }
    void decode() override { (void)generate(*run_, target_); }

private:
    using session_type = session<decltype(std::declval<MakeBridge&>()()), V>;
    using run_type = decltype(text_run(
        std::declval<session_type&>(), std::declval<silent_drafter&>(),
        std::declval<length_rule&>(), std::declval<philox_coin&>(),
        std::declval<const target_words&>(), generation_limits{}, std::declval<learner&>()));

    const pair& two_;
    MakeBridge bridge_;
    V verifier_;
    std::vector<target_id> prompt_;
    scripted_target target_{two_.script, two_.words.vocabulary_size()};
    silent_drafter drafter_{two_.row};
    acceptance_table table_;
    cost_table costs_{.pass = {1, 1.9, 2.8}, .draft = 0.5, .catch_up = 0.05};
    session_settings settings_;
    philox_coin coin_{1};
    generation_limits limits_{.max_tokens = text_size};
    std::optional<session_type> session_;
    std::optional<length_rule> lengths_;
    std::optional<learner> reader_;
    std::optional<run_type> run_;
};

pair load(const std::string& file) {
    const std::filesystem::path models = std::string(SPECDEC_SOURCE_DIR) + "/models";
    pair two{target_words(engine::load_tokenizer(models / "docs-target")),
             draft_words(engine::load_tokenizer(models / "docs-drafter"))};
    std::ifstream in(file);
    const std::string text(std::istreambuf_iterator<char>(in), {});
    two.words.encode(text, encode_mode::start, two.script);
    if (two.script.size() < prompt_size + text_size)
        throw error("text", "size", "expected more tokens");
    return two;
}

struct scene {
    explicit scene(const std::string& file) : two(load(file)) {
        const auto add = [this](auto bridge, auto verifier) {
            courses.push_back(std::make_unique<course_of<decltype(bridge), decltype(verifier)>>(
                two, bridge, verifier));
        };
        const auto tli = [this] { return token_bridge(tli_map(two.map), two.context(), longest); };
        add([] { return no_bridge{}; }, exact_match{});
        add(tli, token_rejection{});
        add(tli, block_verification{});
        add(
            [this] {
                return nested_tli_bridge<target_words, draft_words>(parts, two.context(), longest);
            },
            token_rejection{});
        add([this] { return slem_bridge(two.words, two.pieces, two.map, ::capacity, longest); },
            exact_match{});
        add(
            [this] {
                return make_slrs_bridge(two.words, two.pieces, two.map, order, edges, ::capacity,
                                        {.max_draft = longest});
            },
            token_rejection{});
        add(
            [this] {
                return make_ngram_merge_bridge(cache, two.words, two.pieces, two.map, order,
                                               ::capacity, {.max_draft = longest});
            },
            token_rejection{});
        add(tli, coupled_match(keys));
        add(
            [this] {
                return spelling_bridge(spellings, two.context(), 2 * ::capacity,
                                       {.max_draft = longest});
            },
            coupled_match(keys));
    }
    scene(const scene&) = delete;
    scene& operator=(const scene&) = delete;

    pair two;
    byte_order<draft_id> order{two.pieces};
    safe_cuts edges{two.words};
    text_keys keys{two.words, two.map};
    token_pieces parts = split_tokens(two.words, two.pieces, two.map);
    canonical_spellings spellings{two.words, two.pieces, two.map};
    ngram_cache<> cache;
    std::vector<std::unique_ptr<course>> courses; ///< in the order of `rules`
};
constexpr const char* rules[] = {"none", "tli",   "tli_block", "nested",          "slem",
                                 "slrs", "merge", "coupled",   "coupled_spelling"};

const bench::registration here([] {
    const std::string file =
        bench::command_line().text("--text", SPECDEC_SOURCE_DIR "/models/prompts/docs.txt");
    bench::question<scene> idle("idle_rounds", {.repetitions = 40}, file);
    for (std::size_t i = 0; i < std::size(rules); ++i) {
        const std::string rule = std::string(rules[i]) + "/";
        std::size_t place = 0; // of the same of no rule
        const auto add = [&](const char* what, auto work, auto before) {
            auto& added = idle.add(rule + what, work);
            added.before = before;
            added.ratios = {{"ratio", place++}};
        };
        const auto decode = [i](scene& s) {
            s.courses[i]->decode();
            return text_size;
        };
        add(
            "session", [i](scene& s) { s.courses[i]->make(); },
            [i](scene& s) { s.courses[i]->clear(); });
        add(
            "start", [i](scene& s) { s.courses[i]->start(); },
            [i](scene& s) {
                s.courses[i]->clear();
                s.courses[i]->make();
            });
        add("round", decode, [i](scene& s) { s.courses[i]->run(false); });
        add("learning_round", decode, [i](scene& s) { s.courses[i]->run(true); });
    }
});

} // namespace
