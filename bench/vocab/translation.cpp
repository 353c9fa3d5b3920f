// SPDX-License-Identifier: MIT
// Question: does the cost of translating a committed token depend on the length of the context?
//   bench_vocab_translation [DRAFTER [TARGET]]   (tokenizers; the repository's pair by default)
// Per context: the retokenizer's append of one target token's bytes, SLEM's continuation of a
// drafted text, and for contrast the encoding of the whole context.
#include <cstddef>
#include <cstdio>
#include <exception>
#include <random>
#include <string>
#include <vector>

#include "take_turns.hpp"
#include <specdec/core/token_id.hpp>
#include <specdec/vocab/encoding/continuation.hpp>
#include <specdec/vocab/encoding/retokenizer.hpp>
#include <specdec_engine/load_tokenizer.hpp>

namespace {

using namespace specdec;
using draft_tokenizer = engine::tokenizer_of<draft_id>;
using target_tokenizer = engine::tokenizer_of<target_id>;

std::string sentences(std::size_t size) {
    const char* const words[] = {
        "The",    "module",    "returns",  "a",          "list",      "of",
        "values", "when",      "argument", "is",         "None",      "self.assertEqual(x, 12)",
        "and",    "otherwise", "raises",   "ValueError", "caf\u00e9", "iterator"};
    std::mt19937_64 bits(1);
    std::string text;
    while (text.size() < size) {
        text += words[bits() % std::size(words)];
        text += bits() % 12 == 0 ? ".\n" : bits() % 9 == 0 ? ", " : " ";
    }
    return text.substr(0, size);
}

void measure(const draft_tokenizer& drafter, const target_tokenizer& target) {
    constexpr std::size_t appended = 400; // target tokens behind the context
    std::printf("%-10s %18s %18s %18s\n", "context", "append, us/token", "continue, us",
                "whole, us");
    for (const std::size_t size : {100U, 1'000U, 10'000U, 100'000U}) {
        const std::string context = sentences(size);
        std::vector<target_id> committed, more;
        target.encode(context, encode_mode::start, committed);
        target.encode(sentences(16 * appended), encode_mode::continuation, more);

        retokenizer<draft_tokenizer, draft_id> start(drafter), r(drafter);
        start.append(context);
        start.mark();
        continuation_encoder<target_tokenizer> encoder(target);
        std::vector<target_id> proposal;
        std::vector<draft_id> whole;
        std::vector<bench::timed_case> cases;
        cases.push_back({"copy", [&] { r = start; }});
        cases.push_back({"append", [&] {
                             r = start;
                             for (std::size_t i = 0; i < appended; ++i)
                                 r.append(target.bytes(more[i]));
                         }});
        cases.push_back({"continue", [&] {
                             for (std::size_t i = 0; i < appended; ++i) {
                                 proposal.clear();
                                 encoder.encode(committed, " and then the next word", proposal);
                             }
                         }});
        cases.push_back({"whole", [&] {
                             whole.clear();
                             drafter.encode(context, encode_mode::start, whole);
                         }});
        bench::take_turns(cases, 15);
        std::printf("%-10zu %18.2f %18.2f %18.2f\n", size,
                    1e6 * (cases[1].seconds - cases[0].seconds) / appended,
                    1e6 * cases[2].seconds / appended, 1e6 * cases[3].seconds);
    }
}

} // namespace

int main(int argc, char** argv) try {
    const std::string models = std::string(SPECDEC_SOURCE_DIR) + "/models/";
    measure(draft_tokenizer(engine::load_tokenizer(argc > 1 ? argv[1] : models + "docs-drafter")),
            target_tokenizer(engine::load_tokenizer(argc > 2 ? argv[2] : models + "docs-target")));
} catch (const std::exception& problem) {
    std::fprintf(stderr, "%s\n", problem.what());
    return 1;
}
