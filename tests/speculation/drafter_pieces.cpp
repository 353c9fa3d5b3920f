// SPDX-License-Identifier: MIT
// A batch feeds drafters their prompts in pieces, as it does the target.
#include <specdec/speculation/running_sequence.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <specdec/decode/batch.hpp>

#include "support/toy_speculation.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace drafter_pieces_tests {

/// A drafter's models that know the most tokens they were fed at once.
struct watched_models : batch_of<draft_id, draft_model> {
    using base = batch_of<draft_id, draft_model>;
    using base::base;
    std::size_t most = 0;

    void append(std::size_t s, std::span<const draft_id> ids) {
        most = std::max(most, ids.size());
        base::append(s, ids);
    }
};

using watched_pair = paired_toys<watched_models>;

std::string many(const std::string& text, std::size_t n) {
    std::string all;
    while (n-- > 0)
        all += text;
    return all;
}

TEST_CASE("drafters' prompts in pieces: the outputs are the same, and no pass is longer") {
    constexpr std::size_t piece = 20;
    for (const rule how : {rule::slem, rule::tli, rule::nested, rule::coupled}) {
        CAPTURE(std::string(about(how).name));
        watched_pair x(3);
        const decode_settings s = fixed(how, 0);
        const std::vector<std::string> prompts{many("ab ca", 20), "b", many(" abc b", 12)};
        std::vector<std::vector<target_id>> ids;
        std::vector<decode_result> alone;
        for (const std::string& prompt : prompts) {
            ids.push_back(x.words.encode(prompt));
            alone.push_back(x.pair.generate(prompt, s));
        }
        CHECK(x.draft.most > 3 * piece);
        x.pair.forget();
        x.draft.most = 0;
        batch<any_batch_model<target_id>, speculative_text> rounds(x.pair.target_models(), {}, true,
                                                                   piece);
        std::vector<std::unique_ptr<speculative_text>> texts;
        for (std::size_t i = 0; i < prompts.size(); ++i) {
            texts.push_back(x.pair.open({.prompt = ids[i], .sequence = i}, s));
            rounds.join(*texts[i]);
        }
        while (rounds.round()) {
        }
        CHECK(x.draft.most == piece);
        std::size_t read = 0;
        for (std::size_t i = 0; i < prompts.size(); ++i) {
            const decode_result got = texts[i]->result();
            CHECK(got.text == alone[i].text);
            CHECK(got.finish == alone[i].finish);
            CHECK(got.drafter_failures == 0);
            CHECK(got.counts.draft_tokens > 0);
            read += got.counts.without_draft[static_cast<std::size_t>(no_draft::drafter_reads)];
        }
        CHECK(read >= 6);
    }
}

TEST_CASE("drafters' prompts in pieces: one that commits as fast as it may read catches up") {
    watched_pair x(1);
    decode_settings s = fixed(rule::tli, 0);
    s.limits.max_tokens = 200;
    const std::vector<target_id> prompt = x.words.encode(many("ab ca", 20));
    batch<any_batch_model<target_id>, speculative_text> rounds(x.pair.target_models(), {}, true, 1);
    const auto text = x.pair.open({.prompt = prompt}, s);
    rounds.join(*text);
    while (rounds.round()) {
    }
    CHECK(text->counts().draft_tokens > 0);
    CHECK(x.draft.most <= 8);
}

} // namespace drafter_pieces_tests
