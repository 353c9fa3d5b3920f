// SPDX-License-Identifier: MIT
// A drafter that gives several places in one pass is a side of speculation like any other.
#include <specdec/draft/block_model.hpp>

#include <cstddef>
#include <vector>

#include <catch2/catch.hpp>

#include "support/toy_block_model.hpp"
#include "support/toy_speculation.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace block_drafters_tests {

struct block_toys {
    toy_pair words;
    batch_of<target_id, target_model> target;
    batch_of_blocks<distilled_model<draft_model>> engine;
    block_model<decltype(engine)> blocks{engine};

    explicit block_toys(std::size_t sequences = 1)
        : target(sequences, target_model(words.target.table())),
          engine(sequences, distilled_model(draft_model(words.draft.table(), {.seed = 2}))) {}
    speculation pair() {
        return speculation({.models = target, .tokenizer = words.target, .ends = {toy_pair::end}},
                           {.models = blocks,
                            .tokenizer = words.draft,
                            .bos = toy_pair::bos,
                            .begins_with_bos = true,
                            .ends = {toy_pair::stop}});
    }
};

TEST_CASE("block drafters: every rule gives the target's greedy text, a pass for a draft") {
    block_toys x;
    speculation pair = x.pair();
    const decode_result plain = pair.generate("ab c", fixed(rule::autoregressive, 0));
    for (const named_rule& r : rules) {
        if (takes_equal_vocabularies(r.rule) || !takes_drafter(r.rule))
            continue;
        INFO(r.name);
        x.engine.passes = 0;
        const decode_result text = pair.generate("ab c", fixed(r.rule, 0));
        CHECK(text.tokens == plain.tokens);
        CHECK(text.counts.accepted > 0);
        // Drafts of three tokens, or of so many target tokens; spellings of one may look further.
        if (!by_target_tokens(r.rule) && r.rule != rule::coupled_spelling)
            CHECK(x.engine.passes <= text.counts.rounds);
        CHECK(x.engine.passes < text.counts.draft_tokens);
    }
}

TEST_CASE("block drafters: texts share passes, and each is as alone") {
    for (const rule how : {rule::tli, rule::tli_block, rule::slem, rule::slrs, rule::coupled}) {
        INFO(about(how).name);
        block_toys one, many(3);
        speculation alone = one.pair(), together = many.pair();
        const std::vector<std::vector<target_id>> prompts = {
            one.words.encode("ab c"), one.words.encode("c"), one.words.encode("b a")};
        std::vector<text_request> texts;
        for (std::size_t i = 0; i < 3; ++i)
            texts.push_back({.prompt = prompts[i], .sequence = i});
        const decode_results expected = alone.run(texts, fixed(how, 1));
        const decode_results found = together.run(texts, fixed(how, 1));
        for (std::size_t i = 0; i < 3; ++i)
            CHECK(found.texts[i].tokens == expected.texts[i].tokens);
        CHECK(many.engine.passes < one.engine.passes);
    }
}

TEST_CASE("block drafters: automatic lengths, measured on the way, and trees") {
    block_toys x;
    speculation pair = x.pair();
    decode_settings s = fixed(rule::tli, 0);
    s.lengths = {};
    CHECK(pair.generate("ab c", s).tokens ==
          pair.generate("ab c", fixed(rule::autoregressive, 0)).tokens);
    CHECK(any_batch_model<draft_id>(x.blocks).scores_trees());
}

} // namespace block_drafters_tests
