// SPDX-License-Identifier: MIT
// What a server gains: texts one after the other, each with a drafter, against texts side by side,
// one pass of the target a round for all of them. Prints one line a draft length.
//
//     side_by_side                                     the pair in this repository
//     side_by_side --models smollm2 --sequences 8 --draft-lengths 0,1,2,4
#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "support/equivalences_file.hpp"
#include "support/program.hpp"
#include "support/prompts_file.hpp"
#include "support/steady_seconds.hpp"
#include <specdec/reference/batch_model.hpp>
#include <specdec/reference/load.hpp>
#include <specdec/reference/model.hpp>
#include <specdec/reference/tokenizer/load_tokenizer.hpp>
#include <specdec/specdec.hpp>
#include <specdec/vocab/intersection.hpp>

namespace {

using namespace specdec;
using namespace specdec::examples;

struct flags {
    model_flags models;
    std::size_t sequences = 8, max_tokens = 64, repeats = 3;
    std::vector<std::size_t> draft_lengths{0, 1, 2, 3, 4};
    std::string prompts;
    std::optional<std::size_t> limit;
    float temperature = 0;
};

using target_words = reference::tokenizer_of<target_id>;
using draft_words = reference::tokenizer_of<draft_id>;
using draft_model = reference::model<draft_id>;

/// The target's tokenizer as prompts are made with it.
struct prompt_words {
    const reference::tokenizer& base;
    target_words words{base};

    const vocabulary& target_table() const { return base.table(); }
    std::optional<target_id> begin_token() const {
        return base.add_bos() && base.bos() ? std::optional(target_id{*base.bos()}) : std::nullopt;
    }
    void encode(std::string_view text, text_position where, std::vector<target_id>& out) const {
        words.encode(text, where, out);
    }
};

/// One text and all that belongs to it alone.
template <class Session>
struct text {
    model_drafter<draft_model> drafter;
    Session decoder;
    fixed_length stop;
    philox_coin coin;
    silent_reader reader{};
    using run_type = text_run<Session, model_drafter<draft_model>, fixed_length, philox_coin,
                              target_words, silent_reader>;
    run_type run;

    text(draft_model& draft, Session session, std::size_t draft_length, std::uint64_t number,
         const target_words& words, const generation_limits& limits)
        : drafter(draft), decoder(std::move(session)), stop{draft_length}, coin(0, number),
          run(decoder, drafter, stop, coin, words, limits, reader) {}
};

struct outcome {
    double seconds = 0;
    std::size_t tokens = 0;
    statistics counts;
    batch_counts passes;
    std::vector<std::vector<target_id>> texts;

    double tokens_per_second() const { return static_cast<double>(tokens) / seconds; }
};

/// All prompts through `seats` sequences of the target: one of them is one text after the other.
template <class MakeSession>
outcome decode_all(reference::batch_model<target_id>& target, std::vector<draft_model>& drafters,
                   const std::vector<given_prompt>& prompts, std::size_t draft_length,
                   const target_words& words, const flags& f, const MakeSession& make) {
    using text_type = text<decltype(make())>;
    struct seat_of {
        std::optional<text_type> text;
        std::size_t prompt = 0;
    };
    outcome result;
    result.texts.resize(prompts.size());
    const steady_seconds clock;
    const double begin = clock();
    std::vector<seat_of> seats(target.sequences());
    batch<reference::batch_model<target_id>, typename text_type::run_type> side_by_side(target);
    const auto collect = [&](seat_of& s) {
        const std::size_t known = prompts[s.prompt].ids.size();
        const auto tokens = s.text->decoder.tokens().subspan(known);
        result.texts[s.prompt].assign(tokens.begin(), tokens.end());
        result.tokens += tokens.size();
        result.counts.rounds += s.text->decoder.counts().rounds;
        result.counts.committed += s.text->decoder.counts().committed;
        s.text.reset();
    };
    std::size_t next = 0;
    do {
        for (std::size_t i = 0; i < seats.size(); ++i) {
            seat_of& s = seats[i];
            if (s.text && s.text->run.finish())
                collect(s);
            if (s.text || next == prompts.size())
                continue;
            s.prompt = next++;
            s.text.emplace(drafters[i], make(), draft_length, s.prompt, words,
                           generation_limits{f.max_tokens, {}});
            s.text->decoder.start(prompts[s.prompt].ids);
            side_by_side.join(s.text->run);
        }
    } while (side_by_side.round() || next < prompts.size());
    for (seat_of& s : seats)
        if (s.text)
            collect(s);
    result.seconds = clock() - begin;
    result.passes = side_by_side.counts();
    return result;
}

template <class MakeBridge, class V>
void compare(const flags& f, reference::batch_model<target_id>& alone,
             reference::batch_model<target_id>& several, std::vector<draft_model>& drafters,
             const std::vector<given_prompt>& prompts, const reference::tokenizer& words,
             const MakeBridge& make_bridge, V verifier) {
    std::printf("%5s | %-27s | %-42s | %8s  %s\n", "draft", "one after the other", "side by side",
                "", "text");
    std::printf("%5s | %12s %14s | %12s %14s %14s | %8s  %s\n", "len.", "tokens / s",
                "tokens a call", "tokens / s", "tokens a pass", "rows a pass", "times",
                "identical");
    const target_words ids(words);
    double best_alone = 0, best_several = 0;
    for (const std::size_t length : f.draft_lengths) {
        const auto make = [&] {
            session_settings settings;
            settings.target.temperature = settings.draft.temperature = f.temperature;
            settings.capacity = alone.capacity();
            settings.max_proposals = std::max<std::size_t>(length, 1);
            for (const std::int32_t id : words.eos())
                settings.end_ids.push_back(target_id{id});
            if (const auto turn = words.find("<|im_end|>"); turn && wants_chat(f.models))
                settings.end_ids.push_back(target_id{*turn});
            return session(make_bridge(length), verifier, settings);
        };
        outcome one, all;
        for (std::size_t i = 0; i < f.repeats; ++i) {
            const outcome a = decode_all(alone, drafters, prompts, length, ids, f, make);
            const outcome b = decode_all(several, drafters, prompts, length, ids, f, make);
            if (i == 0 || a.seconds < one.seconds)
                one = a;
            if (i == 0 || b.seconds < all.seconds)
                all = b;
        }
        best_alone = std::max(best_alone, one.tokens_per_second());
        best_several = std::max(best_several, all.tokens_per_second());
        std::printf("%5zu | %12.1f %14.2f | %12.1f %14.2f %14.2f | %7.2fx  %s\n", length,
                    one.tokens_per_second(), one.counts.tokens_per_target_call(),
                    all.tokens_per_second(),
                    static_cast<double>(all.tokens) / static_cast<double>(all.passes.passes),
                    all.passes.rows_per_pass(), all.tokens_per_second() / one.tokens_per_second(),
                    one.texts == all.texts ? "yes" : "NO");
        std::fflush(stdout);
    }
    std::printf("\nbest of each: %.2fx\n", best_several / best_alone);
}

void run(const flags& f) {
    const bool smollm2 = f.models.models == "smollm2";
    if (!f.models.models.empty() && !smollm2 && f.models.models != "docs")
        throw error("--models", f.models.models, "expected docs or smollm2");
    const auto folder = models_folder();
    const auto target_path =
        folder / (smollm2 ? "fetched/SmolLM2-135M-Instruct.Q4_1.gguf" : "docs-target");
    const auto draft_path = folder / (smollm2 ? "smollm2-drafter" : "docs-drafter");
    const reference::tokenizer words = reference::load_tokenizer(target_path);
    const reference::tokenizer pieces = reference::load_tokenizer(draft_path);
    const prompt_words for_prompts{words};
    const std::vector<given_prompt> prompts =
        read_prompts(f.prompts, f.limit, f.models, for_prompts);

    std::size_t capacity = f.max_tokens;
    for (const given_prompt& p : prompts)
        capacity = std::max(capacity, p.ids.size() + f.max_tokens);
    reference::load_options options;
    options.context.threads = f.models.threads;
    options.context.capacity = capacity;
    options.context.sequences = f.sequences;
    options.context.rows = f.sequences * 8;
    options.context.vocabulary_size = words.vocabulary_size();
    reference::transformer target = reference::load_transformer(target_path, options);
    options.context.sequences = 1;
    reference::batch_model<target_id> alone(target.another_context(options.context));
    reference::batch_model<target_id> several(std::move(target));
    options.context.vocabulary_size = pieces.vocabulary_size();
    options.context.capacity = 2 * capacity; // a drafter's tokens are shorter
    const reference::transformer draft = reference::load_transformer(draft_path, options);
    std::vector<draft_model> drafters;
    for (std::size_t i = 0; i < f.sequences; ++i)
        drafters.emplace_back(draft.another_context(options.context));

    const target_words ids(words);
    const draft_words draft_ids(pieces);
    const id_map map = intersect(pieces.table(), words.table(), equivalences_beside(draft_path));
    std::printf("%zu prompts, %zu sequences, at most %zu tokens a text, T = %g, %zu threads, rule "
                "%s\n\n",
                prompts.size(), f.sequences, f.max_tokens, static_cast<double>(f.temperature),
                several.engine().threads(), f.temperature > 0 ? "tli" : "slem");
    if (f.temperature > 0)
        compare(
            f, alone, several, drafters, prompts, words,
            [&](std::size_t length) {
                return tli_bridge<target_words, draft_words>(
                    tli_map(map), retokenised_context(ids, draft_ids, map, capacity), length);
            },
            token_rejection{});
    else
        compare(
            f, alone, several, drafters, prompts, words,
            [&](std::size_t length) { return slem_bridge(ids, draft_ids, map, capacity, length); },
            exact_match{});
}

} // namespace

int main(int argc, char** argv) {
    CLI::App app("Texts side by side in one target, against the same texts one after the other.",
                 "side_by_side");
    flags f;
    app.add_option("--models", f.models.models, "docs (default) or smollm2");
    app.add_option("--sequences", f.sequences, "side by side (default: 8)")
        ->check(CLI::Range(1, 64));
    app.add_option("--draft-lengths", f.draft_lengths, "default: 0,1,2,3,4")
        ->delimiter(',')
        ->check(CLI::Range(0, 64));
    app.add_option("--prompts", f.prompts, "a file, one prompt a line");
    app.add_option("--limit", f.limit, "only the first prompts (default: 24, for chat 8; 0: all)");
    app.add_option("-n,--max-tokens", f.max_tokens, "a text (default: 64)")
        ->check(CLI::Range(1, 1 << 16));
    app.add_option("-t,--temperature", f.temperature, "default: 0")->check(CLI::Range(0.0, 100.0));
    app.add_option("--threads", f.models.threads, "default: one a core")
        ->check(CLI::Range(0, 1024));
    app.add_option("--repeats", f.repeats, "the shortest time counts (default: 3)")
        ->check(CLI::Range(1, 100));
    return run_program(app, argc, argv, [&] { run(f); });
}
