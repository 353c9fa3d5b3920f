// SPDX-License-Identifier: MIT
// Question: does the cost of translating a committed token depend on the length of the context?
//   bench_vocab [--drafter PATH] [--target PATH]   (tokenizers; the repository's pair by default)
// Per context: the retokenizer's append of one target token's bytes, SLEM's continuation of a
// drafted text, and for contrast the encoding of the whole context; each in times of the shortest
// context's.
#include <cstddef>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "question.hpp"
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

constexpr std::size_t appended = 400; // target tokens after the context

/// Contexts of several sizes, and what was made of each.
struct scene {
    struct one {
        std::string text;
        std::vector<target_id> committed;
        retokenizer<draft_tokenizer, draft_id> start, changing;
        continuation_encoder<target_tokenizer> encoder;
    };

    draft_tokenizer drafter;
    target_tokenizer target;
    std::vector<target_id> more, proposal;
    std::vector<draft_id> whole;
    std::vector<one> contexts;

    scene(const std::string& of_drafter, const std::string& of_target,
          const std::vector<std::size_t>& sizes)
        : drafter(engine::load_tokenizer(of_drafter)), target(engine::load_tokenizer(of_target)) {
        target.encode(sentences(16 * appended), encode_mode::continuation, more);
        for (const std::size_t size : sizes) {
            const retokenizer<draft_tokenizer, draft_id> empty(drafter);
            one& c = contexts.emplace_back(
                one{sentences(size), {}, empty, empty, continuation_encoder(target)});
            target.encode(c.text, encode_mode::start, c.committed);
            c.start.append(c.text);
            c.start.mark();
        }
    }
};

const bench::registration here([] {
    const auto path = [](const std::string& flag, const std::string& otherwise) {
        return bench::command_line().text(flag, SPECDEC_SOURCE_DIR "/models/" + otherwise);
    };
    const std::vector<std::size_t> sizes{100, 1'000, 10'000, 100'000};
    bench::question<scene> translation("translation", {.repetitions = 15},
                                       path("--drafter", "docs-drafter"),
                                       path("--target", "docs-target"), sizes);
    for (std::size_t k = 0; k < sizes.size(); ++k) {
        const std::string context = "/context:" + std::to_string(sizes[k]);
        auto& append = translation.add("append" + context, [k](scene& s) {
            for (std::size_t i = 0; i < appended; ++i)
                s.contexts[k].changing.append(s.target.bytes(s.more[i]));
            return appended;
        });
        append.before = [k](scene& s) { s.contexts[k].changing = s.contexts[k].start; };
        append.ratios = {{"ratio", 0}};
        translation
            .add("continue" + context,
                 [k](scene& s) {
                     for (std::size_t i = 0; i < appended; ++i) {
                         s.proposal.clear();
                         s.contexts[k].encoder.encode(s.contexts[k].committed,
                                                      " and then the next word", s.proposal);
                     }
                     return appended;
                 })
            .ratios = {{"ratio", 1}};
        translation
            .add("whole" + context,
                 [k](scene& s) {
                     s.whole.clear();
                     s.drafter.encode(s.contexts[k].text, encode_mode::start, s.whole);
                 })
            .ratios = {{"ratio", 2}};
    }
});

} // namespace
