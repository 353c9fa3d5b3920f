// SPDX-License-Identifier: MIT
// A target whose passes are not waited for: an engine (a GPU with its queue, another machine; here
// a thread) computes for one text while another is decided, committed and drafted. What may
// overlap: docs/understand/design.md, "While the target computes".
#include <cstdio>
#include <exception>
#include <future>
#include <mutex>
#include <string>
#include <vector>

#include <specdec/specdec.hpp>
#include <specdec/speculation/any/steady_seconds.hpp>
#include <specdec/vocab/table/intersection.hpp>
#include <specdec_engine/load.hpp>
#include <specdec_engine/load_tokenizer.hpp>
#include <specdec_engine/model.hpp>

using namespace specdec;

namespace {

using target_words = engine::tokenizer_of<target_id>;
using draft_words = engine::tokenizer_of<draft_id>;
constexpr std::size_t length = 200, capacity = 256; // tokens of a text, of a context

constexpr steady_seconds now;

/// The engine: computes one pass at a time, whoever asks.
class asynchronous_target {
public:
    /// The rows of the last n tokens of the edit, until the context's next pass. The edit views a
    /// session's tokens: that one is left alone until the rows are there.
    auto pass(engine::model<target_id>& context, context_edit<target_id> edit, std::size_t n) {
        return std::async(std::launch::async, [this, &context, edit, n] {
            const std::lock_guard one_at_a_time(computing_);
            context.truncate(edit.truncate_to);
            if (const std::size_t silent = edit.append.size() - n; silent > 0) // a prompt
                context.append(edit.append.first(silent));
            return context.score(edit.append.last(n));
        });
    }

private:
    std::mutex computing_;
};

/// A text with what is its own: a context in both models, and a round on its way.
struct text {
    session<slem_bridge<target_words, draft_words>, exact_match> state;
    engine::model<target_id> target;
    engine::model<draft_id> draft;
    model_drafter<engine::model<draft_id>> drafter{draft};
    philox_coin coin{0}; // is asked for nothing at temperature 0
    context_edit<target_id> edit{};
    std::future<logits_rows<target_id>> rows{};

    /// Ends the round on its way and begins the next one; false where the text is complete. Adds to
    /// `waited` how long the rows were waited for.
    bool go_on(asynchronous_target& engine, const fixed_length& drafts, double& waited) {
        if (rows.valid()) {
            const double begin = now();
            const logits_rows<target_id> found = rows.get(); // if it throws: state.target_lost()
            waited += now() - begin;
            state.target_fed(edit);
            state.commit(state.verify(found, coin).tokens.size());
        }
        const std::size_t left = length - state.tokens().size();
        if (left == 0)
            return false;
        state.draft(drafter, drafts, coin, left);
        edit = state.target_edit();
        rows = engine.pass(target, edit, state.rows_needed());
        return true;
    }
};

struct way {
    const char* name;
    fixed_length drafts;
    std::size_t at_a_time;
};

} // namespace

int main() try {
    const std::string folder = SPECDEC_SOURCE_DIR "/models/docs-";
    const target_words words(engine::load_tokenizer(folder + "target"));
    const draft_words pieces(engine::load_tokenizer(folder + "drafter"));
    const id_map shared = intersect(pieces, words);
    const auto weights = [&](const char* name) {
        return engine::pack<engine::bf16_bits>(engine::open_checkpoint(folder + name));
    };
    const auto new_text = [&, large = weights("target"), small = weights("drafter")] {
        const engine::context_options one{.threads = 1, .capacity = capacity};
        return text{{slem_bridge(words, pieces, shared, capacity, 3),
                     exact_match{},
                     {.target = {.temperature = 0}, .draft = {.temperature = 0}}},
                    engine::model<target_id>({large, one}),
                    engine::model<draft_id>({small, one})};
    };
    text texts[] = {new_text(), new_text()};
    std::vector<target_id> prompts[2], alone; // what is decoded without drafts
    words.encode("This module provides", encode_mode::start, prompts[0]);
    words.encode("Return a list of the", encode_mode::start, prompts[1]);

    const std::size_t decoded = 2 * length - prompts[0].size() - prompts[1].size();
    bool same = true;
    for (const way& w : {way{"no drafts", {0}, 1}, {"one by one", {3}, 1}, {"in turns", {3}, 2}}) {
        asynchronous_target engine;
        texts[0].state.start(prompts[0]);
        texts[1].state.start(prompts[1]);
        double waited = 0;
        const double begin = now();
        for (std::size_t i = 0; i < 2; i += w.at_a_time)
            for (bool goes_on = true; goes_on;) {
                goes_on = false;
                for (std::size_t k = i; k < i + w.at_a_time; ++k)
                    goes_on = texts[k].go_on(engine, w.drafts, waited) || goes_on;
            }
        const double seconds = now() - begin;
        std::printf("%-10s %5.0f tokens a second; rows were waited for %2.0f %% of the time\n",
                    w.name, static_cast<double>(decoded) / seconds, 100 * waited / seconds);
        std::vector<target_id> both(texts[0].state.tokens().begin(), texts[0].state.tokens().end());
        both.insert(both.end(), texts[1].state.tokens().begin(), texts[1].state.tokens().end());
        if (alone.empty())
            alone = both;
        same = same && both == alone;
    }
    std::puts(same ? "The same texts." : "Different texts!");
    if (std::fflush(stdout) != 0)
        return std::fputs("standard output: cannot be written\n", stderr), 1;
    return same ? 0 : 1;
} catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
}
