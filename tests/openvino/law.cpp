// SPDX-License-Identifier: MIT
// The distribution of a text with target and drafter in OpenVINO, enumerated over all outcomes: it
// is the target's, whatever is masked and cut out of the states meanwhile.
#include <specdec/interop/openvino.hpp>

#include <catch2/catch.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "support/enumeration/enumerating_coin.hpp"
#include "support/tiny_tokenizer.hpp"
#include "toy_ir.hpp"
#include <specdec/specdec.hpp>
#include <specdec/vocab/table/intersection.hpp>

using namespace specdec;
using namespace specdec::toy_ir;

namespace {

constexpr std::size_t length = 3;
constexpr sampling_parameters sampling{.temperature = 20}; // the logits are as large
using text_law = std::map<std::vector<std::int32_t>, double>;

struct toy_pair {
    testing::tiny_tokenizer<target_id> words{{"a", "b", "ab"}};
    testing::tiny_tokenizer<draft_id> pieces{{"b", "a", "ba"}};
    id_map map = intersect(pieces.table(), words.table());
    ov::CompiledModel target_engine = compiled({.vocabulary = 3, .seed = 5});
    ov::CompiledModel draft_engine = compiled({.vocabulary = 3, .seed = 6});
    std::vector<target_id> prompt{target_id{0}, target_id{1}};

    [[nodiscard]] text_law expected() const {
        openvino_model<target_id> model(target_engine);
        text_law law;
        const auto grow = [&](const auto& self, std::vector<std::int32_t> text,
                              double probability) -> void {
            if (text.size() == length) {
                law[text] += probability;
                return;
            }
            std::vector<target_id> all = prompt;
            for (const std::int32_t id : text)
                all.push_back(target_id{id});
            model.truncate(0);
            const logits_rows<target_id> rows = model.score(all);
            const softmax_law<target_id> next = make_law(rows[all.size() - 1], sampling);
            std::vector<double> p;
            for (std::size_t v = 0; v < 3; ++v)
                p.push_back(static_cast<double>(next.probability(id_at<target_id>(v))));
            for (std::size_t v = 0; v < 3; ++v) {
                text.push_back(static_cast<std::int32_t>(v));
                self(self, text, probability * p[v]);
                text.pop_back();
            }
        };
        grow(grow, {}, 1);
        return law;
    }

    template <class Bridge, class Verifier>
    [[nodiscard]] text_law law(const Bridge& make, Verifier verifier,
                               std::size_t compaction) const {
        openvino_model<target_id> target(target_engine, {.compaction = compaction});
        openvino_model<draft_id> draft(draft_engine, {.compaction = compaction});
        text_law found;
        enumerate([&](enumerating_coin& coin) {
            target.truncate(0);
            draft.truncate(0);
            model_drafter drafter(draft);
            session text(make(), verifier, {.target = sampling, .draft = sampling, .capacity = 16});
            text.start(prompt);
            std::vector<std::int32_t> ids;
            while (ids.size() < length) {
                const round_result round =
                    text.round(target, drafter, fixed_length{2}, coin, length - ids.size());
                for (const target_id id : round.tokens)
                    ids.push_back(id.value);
                text.commit(round.tokens.size());
            }
            found[ids] += coin.probability();
        });
        CHECK((draft.compactions() > 0) == (compaction == 0));
        return found;
    }
};

} // namespace

TEST_CASE("texts drafted and verified in OpenVINO have the target's distribution") {
    const toy_pair two;
    const text_law expected = two.expected();
    REQUIRE(expected.size() == 27);
    using words = testing::tiny_tokenizer<target_id>;
    using pieces = testing::tiny_tokenizer<draft_id>;
    const auto tli = [&] {
        return tli_bridge<words, pieces>(
            tli_map(two.map),
            retokenised_context<words, pieces>(two.words, two.pieces, two.map, 16), 2);
    };
    const auto slem = [&] { return slem_bridge(two.words, two.pieces, two.map, 16, 2); };
    for (const std::size_t compaction : {0U, 1U << 20U}) {
        CAPTURE(compaction);
        CHECK(total_variation(two.law(tli, token_rejection{.thinning = {1, 1}}, compaction),
                              expected) < 1e-5);
        CHECK(total_variation(two.law(slem, exact_match{}, compaction), expected) < 1e-5);
    }
}
