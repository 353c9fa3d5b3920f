// SPDX-License-Identifier: MIT
// Question: how many drafter forwards does string-level rejection sampling take besides drafting?
// stories260k (512 tokens) drafts for Llama 2's vocabulary. No Llama 2 weights are needed: the
// target's law is the drafter's own of each token's spelling, off by a log-normal factor. What
// counts are the counters, per verified position: `forwards` for decisions, `spared` by rows of the
// round before, and `extra`, the difference; `rounds_of_N` are the rounds with N of them.
//     bench_bridge [--positions N] [--proposals N] [--sigma X] [--lightest-draft X]
// A draft has at most 10 tokens; --lightest-draft 0: it ends nowhere before.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <specdec/specdec.hpp>
#include <specdec/vocab/table/intersection.hpp>
#include <specdec_engine/load.hpp>
#include <specdec_engine/load_tokenizer.hpp>
#include <specdec_engine/model.hpp>

#include "program.hpp"

using namespace specdec;

namespace {

using draft_words = engine::tokenizer_of<draft_id>;
using target_words = engine::tokenizer_of<target_id>;
using draft_model = engine::model<draft_id>;

/// What a target with the given vocabulary might say.
class spelling_target {
public:
    spelling_target(const target_words& words, const draft_words& pieces, draft_model model,
                    double sigma)
        : words_(words), pieces_(pieces), model_(std::move(model)), sigma_(sigma) {
        std::vector<draft_id> spelling;
        for (std::size_t t = 0; t < words.vocabulary_size(); ++t) {
            const std::string_view bytes = words.bytes(id_at<target_id>(t));
            spelling.clear();
            if (!bytes.empty())
                pieces.encode(bytes, encode_mode::continuation, spelling);
            node* at = &root_;
            for (const draft_id d : spelling)
                at = &at->next[d];
            if (!spelling.empty())
                at->tokens.push_back(t);
        }
    }

    [[nodiscard]] std::size_t size() const { return held_.size(); }
    [[nodiscard]] std::size_t capacity() const { return 200; }
    [[nodiscard]] std::size_t vocabulary_size() const { return words_.vocabulary_size(); }
    void append(std::span<const target_id> ids) {
        held_.insert(held_.end(), ids.begin(), ids.end());
    }
    void truncate(std::size_t n) { held_.resize(n); }
    logits_rows<target_id> score(std::span<const target_id> ids) {
        rows_.assign(ids.size() * vocabulary_size(), -std::numeric_limits<float>::infinity());
        for (std::size_t i = 0; i < ids.size(); ++i) {
            held_.push_back(ids[i]);
            std::string text;
            for (const target_id t : held_)
                text += words_.bytes(t);
            context_.assign(1, draft_id{1}); // BOS
            pieces_.encode(text, encode_mode::continuation, context_);
            model_.truncate(0);
            row_ = &rows_[i * vocabulary_size()];
            spell(root_, model_.score(context_), 0.0, std::hash<std::string>{}(text));
        }
        return {rows_.data(), ids.size(), vocabulary_size(), vocabulary_size()};
    }

private:
    struct node {
        std::map<draft_id, node> next;
        std::vector<std::size_t> tokens;
    };

    void spell(const node& at, const logits_rows<draft_id>& rows, double log_mass,
               std::size_t seed) {
        const auto q = make_law(rows[rows.size() - 1], {});
        std::vector<std::pair<const node*, std::pair<draft_id, double>>> deeper;
        for (const auto& [d, child] : at.next) {
            const double mass = log_mass + q.log_probability(d);
            for (const std::size_t t : child.tokens)
                row_[t] = static_cast<float>(mass + sigma_ * normal(seed, t));
            if (!child.next.empty() && mass > std::log(1e-6))
                deeper.push_back({&child, {d, mass}});
        }
        const std::size_t depth = model_.size();
        for (const auto& [child, step] : deeper) {
            const std::vector one{step.first};
            const auto behind = model_.score(one);
            spell(*child, behind, step.second, seed);
            model_.truncate(depth);
        }
    }

    static double normal(std::size_t seed, std::size_t t) {
        const philox_coin coin(seed, t);
        return std::sqrt(-2 * std::log(1 - coin.uniform({0}))) *
               std::cos(6.283185307179586 * coin.uniform({1}));
    }

    const target_words& words_;
    const draft_words& pieces_;
    draft_model model_;
    double sigma_;
    node root_;
    std::vector<target_id> held_;
    std::vector<draft_id> context_;
    std::vector<float> rows_;
    float* row_ = nullptr;
};

struct slrs_settings {
    std::size_t positions, proposals;
    double sigma, lightest_draft;
};

void slrs_cost(benchmark::State& state, const slrs_settings& asked) {
    const std::filesystem::path shared = std::string(SPECDEC_SOURCE_DIR) + "/../shared";
    if (!std::filesystem::exists(shared))
        return state.SkipWithError("needs ../shared (stories260k and Llama 2's vocabulary)");
    engine::load_options options;
    options.context.threads = 1;
    const auto stories = shared / "models/stories260k";
    const draft_words pieces(engine::load_tokenizer(stories / "tok512.bin"));
    const target_words words(
        engine::load_tokenizer(shared / "vocabularies/original/llama2.tokenizer.model"));
    const auto load = [&] {
        return draft_model(engine::load_transformer(stories / "stories260K.bin", options));
    };
    draft_model model = load();
    spelling_target target(words, pieces, load(), asked.sigma);
    const id_map map = intersect(pieces.base().table(), words.base().table());
    const byte_order<draft_id> order(pieces);
    const safe_cuts edges(words);

    std::map<std::size_t, std::size_t> histogram;
    std::size_t evaluated = 0, accepted = 0, extra = 0, rounds = 0, committed = 0, known = 0;
    for (auto _ : state)
        for (std::uint64_t text = 0; evaluated < asked.positions; ++text) {
            model_drafter drafter(model);
            session decoder(
                make_slrs_bridge(words, pieces, map, order, edges, 256, {10, asked.lightest_draft}),
                token_rejection{},
                session_settings{.capacity = 150, .max_proposals = asked.proposals});
            std::vector<target_id> prompt;
            words.encode(text % 2 == 0 ? "Once upon a time, there was a" : "One day, a little",
                         encode_mode::start, prompt);
            const std::vector begin{draft_id{1}};
            decoder.start(prompt, begin);
            philox_coin coin(text);
            while (evaluated < asked.positions && decoder.tokens().size() < 120) {
                const round_result r = decoder.round(target, drafter, fixed_length{10}, coin, 20);
                const std::size_t n = decoder.bridge().extra_forwards();
                ++histogram[n];
                extra += n;
                known += decoder.bridge().first_row_known() ? 1U : 0U;
                ++rounds;
                evaluated += std::min(r.accepted + 1, r.proposed.size());
                accepted += r.accepted;
                committed += r.tokens.size();
                decoder.commit(r.tokens.size());
            }
        }
    const auto per = [](std::size_t some, std::size_t all) {
        return static_cast<double>(some) / static_cast<double>(all);
    };
    state.counters = {{"rounds", static_cast<double>(rounds)},
                      {"positions", static_cast<double>(evaluated)},
                      {"acceptance", per(accepted, evaluated)},
                      {"tokens_per_pass", per(committed, rounds)},
                      {"forwards", per(extra, evaluated)},
                      {"spared", per(known, evaluated)},
                      {"extra", per(extra, evaluated) - per(known, evaluated)}};
    for (const auto& [n, of_rounds] : histogram)
        state.counters["rounds_of_" + std::to_string(n)] = static_cast<double>(of_rounds);
}

const bench::registration here([] {
    bench::words& line = bench::command_line();
    const slrs_settings asked{line.number("--positions", 500), line.number("--proposals", 1),
                              line.real("--sigma", 1), line.real("--lightest-draft", 0.02)};
    benchmark::RegisterBenchmark("slrs_cost",
                                 [asked](benchmark::State& state) { slrs_cost(state, asked); })
        ->Iterations(1)
        ->Unit(benchmark::kSecond);
});

} // namespace
