// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "serve/asked.hpp"
#include "serve/channel.hpp"
#include <specdec/decode/batch.hpp>
#include <specdec/speculation/any/steady_seconds.hpp>
#include <specdec/speculation/decoder.hpp>

namespace specdec::serve {

struct engine_settings {
    decode_settings decoding{};                ///< what a request does not say
    std::optional<examples::chat_form> form{}; ///< how chats are written
    std::string no_form{};                     ///< why there is none
    std::size_t waiting = 64;                  ///< texts that wait for a sequence, at most
    std::size_t prompt_piece = 128;            ///< tokens of prompts that are fed a round, at most
    std::chrono::seconds longest{300};         ///< from a request's arrival to its end
};

/// What is counted. Thread safety: one thread writes, all may read.
struct engine_counts {
    using number = std::atomic<std::uint64_t>;
    number requests{}, refused{}, finished{}, failed{}, hung_up{};
    number prompt_tokens{}, cached_tokens{}, tokens{};
    number passes{}, rows{}, proposed{}, accepted{}, running{}, waiting{};
    number drafter_failures{}; ///< rounds in which the drafter threw, of outputs that have ended
    number first_token_microseconds{}, first_tokens{}; ///< from arrival on: a sum, and of how many
};

/// The one thread that owns the decoder and its batch: what it is asked comes by a queue, what it
/// makes goes out by channels. A client that is slow or gone holds up nobody.
class engine_thread {
public:
    /// Borrows the decoder, which nobody else uses until the end of this object.
    engine_thread(decoder& pair, engine_settings settings);
    ~engine_thread(); ///< gives up what is under way
    engine_thread(const engine_thread&) = delete;
    engine_thread& operator=(const engine_thread&) = delete;

    /// All texts of a request. Errors: refused, where too many wait or the server stops.
    [[nodiscard]] std::shared_ptr<channel> submit(const asked& request);
    /// Takes no more requests; those that are there may finish within that time. Returns when all
    /// have ended.
    void stop(std::chrono::seconds grace);

    [[nodiscard]] const engine_counts& counts() const { return counts_; }

private:
    using clock = std::chrono::steady_clock;
    using rounds = batch<any_batch_model<target_id>, speculative_text, steady_seconds>;

    struct waiting_text {
        std::shared_ptr<const asked> request;
        std::size_t choice;
        std::uint64_t seed;
        clock::time_point arrived;
        std::shared_ptr<channel> to;
    };
    class running_text;

    [[nodiscard]] clock::time_point when_to_give_up();
    void run();
    void admit();
    void begin(waiting_text text);
    void make_round();
    void look_after_all();
    void end(running_text& text);
    void fail(running_text& text, failure why, const std::string& what);
    void end_all(failure why, const std::string& what);
    [[nodiscard]] decode_settings settings_of(const asked& request, std::uint64_t seed) const;
    [[nodiscard]] std::vector<target_id> prompt_of(const asked& request) const;

    decoder& pair_;
    engine_settings settings_;
    engine_counts counts_;
    rounds batch_;
    std::vector<std::unique_ptr<running_text>> running_;
    std::size_t failing_ = 0; // passes, one after the other

    std::mutex mutex_;
    std::condition_variable some_;
    std::deque<waiting_text> waiting_;
    bool stopping_ = false;
    clock::time_point give_up_ = clock::time_point::max();
    std::thread thread_; // last: it uses all others
};

} // namespace specdec::serve
