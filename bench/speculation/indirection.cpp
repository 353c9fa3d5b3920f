// SPDX-License-Identifier: MIT
// Question: what does it cost to choose the rule at run time? The small pair, TLI with token
// rejection, 64 tokens a text, by the templates and by `speculation`: the same texts, taking turns.
// `ratio` is the median of the pairs, `shortest_ratio` that of the two shortest times.
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <specdec/bridge/tli.hpp>
#include <specdec/decode/generate.hpp>
#include <specdec/draft/model_drafter.hpp>
#include <specdec/speculation/speculation.hpp>
#include <specdec_engine/load.hpp>
#include <specdec_engine/load_tokenizer.hpp>
#include <specdec_engine/model.hpp>

#include "question.hpp"

using namespace specdec;

namespace {

/// Both ways to decode with one pair of models each.
class scene {
public:
    explicit scene(std::size_t length) : length_(length) {
        words_.encode(prompt, encode_mode::start, prompt_ids_);
    }
    void decode_by_templates() {
        model_drafter drafts(draft_alone_);
        session text(
            token_bridge(tli_map(shared_),
                         retokenised_context(words_, pieces_, shared_, target_alone_.capacity()),
                         length_),
            token_rejection{}, {.capacity = target_alone_.capacity()});
        target_alone_.truncate(0);
        text.start(prompt_ids_);
        philox_coin coin(++seed_);
        by_hand_.clear();
        generate(text, target_alone_, drafts, fixed_length{length_}, coin, words_, limits,
                 text_reader([&](std::string_view bytes, token_origin) { by_hand_ += bytes; }));
    }
    void decode_by_name() {
        const std::string by_name =
            pair_
                .generate(prompt, {.rule = rule::tli,
                                   .lengths = {.kind = length_kind::fixed, .length = length_},
                                   .seed = seed_,
                                   .limits = limits,
                                   .carry = {.contexts = false}})
                .text;
        if (by_hand_ != by_name)
            throw std::runtime_error("not the same text: " + by_hand_ + " | " + by_name);
    }

private:
    static constexpr const char* prompt = "This module provides";
    static constexpr generation_limits limits{.max_tokens = 64};

    template <class Id>
    [[nodiscard]] static engine::model<Id> load(const std::string& name) {
        engine::load_options one_thread;
        one_thread.context.threads = 1;
        return engine::model<Id>(
            engine::load_transformer(SPECDEC_SOURCE_DIR "/models/" + name, one_thread));
    }
    template <class Id>
    [[nodiscard]] static engine::tokenizer_of<Id> tokens(const std::string& name) {
        return engine::tokenizer_of<Id>(
            engine::load_tokenizer(SPECDEC_SOURCE_DIR "/models/" + name));
    }

    std::size_t length_;
    engine::tokenizer_of<target_id> words_ = tokens<target_id>("docs-target");
    engine::tokenizer_of<draft_id> pieces_ = tokens<draft_id>("docs-drafter");
    id_map shared_ = intersect(pieces_, words_);
    std::vector<target_id> prompt_ids_;
    engine::model<target_id> target_alone_ = load<target_id>("docs-target");
    engine::model<draft_id> draft_alone_ = load<draft_id>("docs-drafter");
    engine::model<target_id> target_inside_ = load<target_id>("docs-target");
    engine::model<draft_id> draft_inside_ = load<draft_id>("docs-drafter");
    speculation pair_{{target_inside_, words_}, {draft_inside_, pieces_}, shared_};
    std::string by_hand_;
    std::uint64_t seed_ = 0;
};

const bench::registration here([] {
    for (const std::size_t length : {0U, 2U, 4U}) {
        bench::question<scene> indirection("indirection/length:" + std::to_string(length),
                                           {.repetitions = 41,
                                            .unit = benchmark::kMillisecond,
                                            .reported = bench::statistic::median},
                                           length);
        indirection.add("templates", [](scene& s) { s.decode_by_templates(); });
        indirection.add("by_name", [](scene& s) { s.decode_by_name(); });
    }
});

} // namespace
