// SPDX-License-Identifier: MIT
// Question: what does a round cost the library where a text is long? A round of `speculation` at
// 1,000, 10,000 and 100,000 tokens held, with models that cost nothing: without a drafter, and with
// one whose drafts of 4 tokens are all accepted. Engines that tell what they hold (told) and
// engines that do not (untold) take turns.
//     bench_speculation [--rounds N]
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <specdec/core/model/shared_model.hpp>
#include <specdec/speculation/speculation.hpp>

#include "question.hpp"

using namespace specdec;

namespace {

constexpr std::size_t letters = 8, capacity = 200'000;

/// One token a letter.
template <class Id>
struct letters_of {
    std::string_view all = "abcdefgh";
    [[nodiscard]] std::size_t vocabulary_size() const { return letters; }
    [[nodiscard]] std::string_view bytes(Id id) const { return all.substr(id.index(), 1); }
    void encode(std::string_view text, encode_mode, std::vector<Id>& out) const {
        for (const char c : text)
            out.push_back(id_at<Id>(static_cast<std::size_t>(c - 'a')));
    }
};

/// Writes the alphabet again and again: a row costs nothing.
template <class Id>
class alphabet {
public:
    alphabet() : rows_(2 * letters * letters) {
        for (std::size_t i = 0; i < 2 * letters; ++i)
            rows_[i * letters + (i + 1) % letters] = 30;
    }
    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] std::size_t capacity() const { return ::capacity; }
    [[nodiscard]] std::size_t vocabulary_size() const { return letters; }
    void append(std::span<const Id> ids) { size_ += ids.size(); }
    void truncate(std::size_t n) { size_ = n; }
    [[nodiscard]] logits_rows<Id> score(std::span<const Id> ids) {
        size_ += ids.size();
        return {rows_.data() + ids.front().index() * letters, ids.size(), letters, letters};
    }

private:
    std::vector<float> rows_;
    std::size_t size_ = 0;
};

struct scene {
    letters_of<target_id> words;
    letters_of<draft_id> pieces;
    alphabet<target_id> target, telling_target;
    alphabet<draft_id> drafter, telling_drafter;
    shared_model<target_id, alphabet<target_id>> shared_target{telling_target};
    shared_model<draft_id, alphabet<draft_id>> shared_drafter{telling_drafter};
    speculation silent{{target, words}, {drafter, pieces}};
    speculation telling{{shared_target, words}, {shared_drafter, pieces}};
    std::unique_ptr<speculative_text> text;

    /// Opens a sequence of `held` tokens, and runs its first rounds.
    void open(speculation& pair, std::size_t held, std::size_t length) {
        std::vector<target_id> prompt;
        for (std::size_t i = 0; i < held; ++i)
            prompt.push_back(id_at<target_id>(i % letters));
        decode_settings settings;
        settings.rule = length > 0 ? rule::tli : rule::autoregressive;
        settings.sampling.temperature = 0;
        settings.lengths = {.kind = length_kind::fixed, .length = length};
        settings.limits.max_tokens = capacity;
        text_request request;
        request.prompt = prompt;
        text.reset();
        text = pair.open(request, settings);
        for (int i = 0; i < 3; ++i)
            (void)advance(*text, pair.target_models());
    }
};

const bench::registration here([] {
    const std::size_t rounds = bench::command_line().number("--rounds", 200);
    for (const std::size_t held : {1'000U, 10'000U, 100'000U}) {
        bench::question<scene> round("long_contexts/held:" + std::to_string(held),
                                     {.repetitions = 5});
        for (speculation scene::*const pair : {&scene::silent, &scene::telling})
            for (const std::size_t length : {0U, 4U})
                round
                    .add((pair == &scene::silent ? "untold/length:" : "told/length:") +
                             std::to_string(length),
                         [=](scene& s) {
                             for (std::size_t i = 0; i < rounds; ++i)
                                 (void)advance(*s.text, (s.*pair).target_models());
                             return rounds;
                         })
                    .before = [=](scene& s) { s.open(s.*pair, held, length); };
    }
});

} // namespace
