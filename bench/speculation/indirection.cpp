// SPDX-License-Identifier: MIT
// Question: what does it cost to choose the rule at run time? The small pair, TLI with token
// rejection, 64 tokens a text, by the templates and by `speculation`: the same texts, taking turns.
//     bench_speculation_indirection [--draft-length N] [--turns N]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <specdec/bridge/tli.hpp>
#include <specdec/decode/generate.hpp>
#include <specdec/draft/model_drafter.hpp>
#include <specdec/speculation/speculation.hpp>
#include <specdec_engine/load.hpp>
#include <specdec_engine/load_tokenizer.hpp>
#include <specdec_engine/model.hpp>

using namespace specdec;

namespace {

template <class Work>
double seconds(const Work& work) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

} // namespace

int main(int argc, char** argv) {
    std::size_t length = 2, turns = 41;
    for (int i = 1; i + 1 < argc; i += 2)
        (std::string(argv[i]) == "--turns" ? turns : length) =
            std::strtoul(argv[i + 1], nullptr, 10);
    const std::string models = SPECDEC_SOURCE_DIR "/models/";
    const engine::tokenizer_of<target_id> words(engine::load_tokenizer(models + "docs-target"));
    const engine::tokenizer_of<draft_id> pieces(engine::load_tokenizer(models + "docs-drafter"));
    const id_map shared = intersect(pieces, words);
    engine::load_options one_thread;
    one_thread.context.threads = 1;
    const auto target = [&] {
        return engine::model<target_id>(
            engine::load_transformer(models + "docs-target", one_thread));
    };
    const auto drafter = [&] {
        return engine::model<draft_id>(
            engine::load_transformer(models + "docs-drafter", one_thread));
    };
    std::vector<target_id> prompt;
    words.encode("This module provides", encode_mode::start, prompt);
    const generation_limits limits{.max_tokens = 64};

    auto target_alone = target();
    auto draft_alone = drafter();
    std::string by_hand;
    const auto templates = [&](std::uint64_t seed) {
        model_drafter drafts(draft_alone);
        session text(
            token_bridge(tli_map(shared),
                         retokenised_context(words, pieces, shared, target_alone.capacity()),
                         length),
            token_rejection{}, {.capacity = target_alone.capacity()});
        target_alone.truncate(0);
        text.start(prompt);
        philox_coin coin(seed);
        by_hand.clear();
        generate(text, target_alone, drafts, fixed_length{length}, coin, words, limits,
                 text_reader([&](std::string_view bytes, token_origin) { by_hand += bytes; }));
    };
    auto target_inside = target();
    auto draft_inside = drafter();
    speculation pair({target_inside, words}, {draft_inside, pieces}, shared);
    std::string by_name;
    const auto named = [&](std::uint64_t seed) {
        by_name = pair.generate("This module provides",
                                {.rule = rule::tli,
                                 .lengths = {.kind = length_kind::fixed, .length = length},
                                 .seed = seed,
                                 .limits = limits,
                                 .carry = {.contexts = false}})
                      .text;
    };

    std::vector<double> ratios;
    double least_by_hand = 1e30, least_by_name = 1e30;
    for (std::size_t turn = 0; turn < turns; ++turn) {
        const double a = seconds([&] { templates(turn); });
        const double b = seconds([&] { named(turn); });
        if (by_hand != by_name) {
            std::printf("not the same text: %s | %s\n", by_hand.c_str(), by_name.c_str());
            return 1;
        }
        ratios.push_back(b / a);
        least_by_hand = std::min(least_by_hand, a);
        least_by_name = std::min(least_by_name, b);
    }
    std::sort(ratios.begin(), ratios.end());
    std::printf("drafts of %zu, %zu turns, the same texts: by name %.3f of the time of the "
                "templates (median of pairs; least times %.2f and %.2f ms: %.3f)\n",
                length, turns, ratios[ratios.size() / 2], 1e3 * least_by_name, 1e3 * least_by_hand,
                least_by_name / least_by_hand);
}
