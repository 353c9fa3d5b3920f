// SPDX-License-Identifier: MIT
// What other threads may call while one decodes (docs/use/serving.md): under the thread sanitizer
// (preset `threads`) a race is an error; anywhere the texts are those of a decoder alone.
#include <specdec/speculation/speculation.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

#include <specdec/decode/batch.hpp>

#include "support/ids.hpp"
#include "support/toy_speculation.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace threads_tests {

/// Four texts side by side, each with its own seed; what they wrote.
std::vector<std::vector<target_id>> decode(toys& x, speculation& pair) {
    decode_settings s = fixed(rule::tli, 1);
    s.limits.max_tokens = 60;
    const std::vector<target_id> prompt = x.words.encode("ab c");
    batch<any_batch_model<target_id>, speculative_text> rounds(pair.target_models());
    std::vector<std::unique_ptr<speculative_text>> texts;
    for (std::uint64_t i = 0; i < 4; ++i) {
        texts.push_back(pair.open({.prompt = prompt, .sequence = i}, s));
        rounds.join(*texts.back());
    }
    while (rounds.round()) {
    }
    std::vector<std::vector<target_id>> all;
    for (const auto& text : texts)
        all.emplace_back(text->tokens().begin(), text->tokens().end());
    return all;
}

TEST_CASE("other threads may ask for what never changes while one decodes") {
    toys alone(4);
    speculation first = alone.pair();
    const auto wanted = decode(alone, first);

    toys x(4);
    speculation pair = x.pair();
    const decoder& shared = pair;
    std::atomic<bool> done = false;
    std::atomic<std::size_t> asked = 0;
    std::vector<std::thread> others;
    for (int i = 0; i < 3; ++i)
        others.emplace_back([&] {
            do {
                std::size_t sum = shared.target_table().size() + shared.draft_table()->size();
                sum += shared.control("<none>") ? 1U : 0U;
                sum += shared.end_tokens().size() + (shared.begin_token() ? 1U : 0U);
                sum += shared.map()->shared();
                sum += x.words.encode("ab c").size() + x.words.target.bytes(target_id{0}).size();
                asked += sum > 0 ? 1U : 0U;
            } while (!done);
        });
    while (asked == 0)
        std::this_thread::yield();
    const auto got = decode(x, pair);
    done = true;
    for (std::thread& other : others)
        other.join();
    CHECK(got == wanted);
}

} // namespace threads_tests
