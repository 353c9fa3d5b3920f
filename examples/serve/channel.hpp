// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <specdec/decode/statistics.hpp>
#include <specdec/decode/text_run.hpp>
#include <specdec/verify/verdict.hpp>

/// What the thread of the engine tells the thread that answers a client.
namespace specdec::serve {

/// A part of a text, from one origin.
struct piece {
    std::string text;
    token_origin origin;
    bool forced = false; ///< looked up, where a grammar may have forced it
};

/// What became of a round's draft.
struct round_report {
    std::vector<std::string> proposed; ///< the bytes of each token
    std::size_t accepted = 0;          ///< the first of them
    std::optional<std::string> target; ///< the target's own token behind them
};

struct token_text {
    std::string bytes;
    double log_probability;
};
struct reported_token {
    token_text chosen;
    std::vector<token_text> likeliest;
};

/// Why a text was given up.
enum class failure { none, request, too_late, engine, stopped };

/// News of one of a request's texts.
struct event {
    std::size_t choice = 0;
    bool begun = false; ///< it has joined; what its prompt has
    std::size_t prompt_tokens = 0, cached_tokens = 0;
    std::vector<piece> pieces{};
    std::vector<reported_token> tokens{};
    std::vector<round_report> rounds{};         ///< if the request asks for origins
    finish_reason finish = finish_reason::none; ///< none: more will come
    statistics counts{};                        ///< of one that has finished
    double seconds = 0;                         ///< from its beginning on
    failure failed = failure::none;
    std::string error{}, field{};
};

/// From the engine's thread to one that answers. Bounded by what a request may ask for. Thread
/// safety: all of it.
class channel {
public:
    void push(event e) {
        const std::scoped_lock lock(mutex_);
        waiting_.push_back(std::move(e));
        some_.notify_one();
    }
    /// The next event, or none within that time.
    [[nodiscard]] std::optional<event> next(std::chrono::milliseconds most) {
        std::unique_lock lock(mutex_);
        if (!some_.wait_for(lock, most, [this] { return !waiting_.empty(); }))
            return std::nullopt;
        event e = std::move(waiting_.front());
        waiting_.pop_front();
        return e;
    }
    /// Nobody reads on.
    void leave() { gone_ = true; }
    [[nodiscard]] bool gone() const { return gone_; }

private:
    std::mutex mutex_;
    std::condition_variable some_;
    std::deque<event> waiting_;
    std::atomic<bool> gone_ = false;
};

} // namespace specdec::serve
