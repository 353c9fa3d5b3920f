// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm> // std::copy, std::min
#include <cmath>     // std::ldexp
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <random>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <specdec/core/basic/on_throw.hpp>
#include <specdec/core/error.hpp>
#include <specdec/decode/clock.hpp>
#include <specdec/draft/draft_outcome.hpp>
#include <specdec/learn/regression_guard.hpp>
#include <specdec/learn/replay_buffer.hpp>
#include <specdec_engine/learn/drafter_learner.hpp>
#include <specdec_engine/learn/online_settings.hpp>
#include <specdec_engine/learn/serving_weights.hpp>

namespace specdec::engine {

/// A drafter learns from the texts that it drafts for:
///
///     texts -> replay_buffer -> drafter_learner, every so many rows -> serving_weights
///     rounds -> regression_guard: worse than before -> the weights before publish again
///
/// An update starts only if past update time plus the last one's fits the budget. Of one that
/// throws the time counts, and its texts are as new as before. Decoding calls
///
///     online.round_begins();  if (auto next = serving.take()) drafter.use(next);
///     ...                     online.see(outcome);           behind every round
///     online.add(text);       for each taught text
///
/// The same calls give the same weights if the clock leaves the budget the same; not with a thread,
/// whose errors the next round_begins(), save() or with_learner() throws. Borrows both weights.
template <class Learner, class Serving, Clock Time>
class basic_online_learner {
public:
    using sample = typename Learner::sample;

    /// Errors: specdec::error for a budget outside [0, 1], as many replayed texts as an update has,
    /// and as regression_guard.
    basic_online_learner(Learner& learner, Serving& serving, const online_settings& settings,
                         Time clock)
        : learner_(learner), serving_(serving), settings_(settings), clock_(std::move(clock)),
          buffer_(settings.remembered), watch_(settings.watch), bits_(settings.seed),
          begin_(clock_()) {
        if (!(settings.budget >= 0 && settings.budget <= 1))
            throw error("online learner", "budget", "expected a share from 0 to 1");
        if (settings.replayed >= learner.settings().sequences)
            throw error("online learner", "replayed",
                        "expected fewer than the examples of an update");
        remember();
        if (settings.own_thread)
            thread_ = std::jthread([this](const std::stop_token& stop) { work(stop); });
    }

    /// A text teaches from now on. Errors: as the learner's require(), for which every update that
    /// drew it would be refused, and as replay_buffer::add.
    void add(const sample& text) {
        learner_.require(text, "online learner");
        const std::lock_guard lock(mutex_);
        buffer_.add(text);
        ++new_texts_;
        new_rows_ += text.rows.size();
        ++counts_.texts;
        counts_.rows += text.rows.size();
    }

    /// Where a round begins: the time of an update between rounds. Throws what an update throws.
    void round_begins() {
        if (!settings_.own_thread) {
            const std::lock_guard turn(learning_);
            return work_once();
        }
        throw_thrown();
        const std::lock_guard lock(mutex_);
        if (is_due())
            wake_.notify_one();
    }

    /// What came of a committed round.
    void see(const draft_outcome& round) {
        const std::lock_guard lock(mutex_);
        ++seen_;
        if (const watch_verdict v = watch_.see(round); v != watch_verdict::wait)
            verdict_ = v;
    }
    [[nodiscard]] online_counts counts() const {
        const std::lock_guard lock(mutex_);
        return counts_;
    }
    [[nodiscard]] double elapsed() const { return clock_() - begin_; }
    // What learns, as a file, between updates; resume() returns its note.
    void save(const std::string& path, const std::string& note = "") {
        with_learner([&](Learner& learner) { learner.save(path, note); });
    }
    std::string resume(const std::string& path) {
        const std::lock_guard turn(learning_);
        std::string note = learner_.resume(path);
        remember();
        serving_.publish(learner_.weights());
        return note;
    }
    // use(learner), between updates of another thread.
    void with_learner(const auto& use) {
        const std::lock_guard turn(learning_);
        throw_thrown();
        use(learner_);
    }

private:
    /// Pre, of these: mutex_.
    [[nodiscard]] bool update_is_due() const {
        return new_rows_ >= settings_.every && new_rows_ > 0 && seen_ >= settings_.rounds_before &&
               (settings_.budget >= 1 ||
                counts_.seconds + latest_seconds_ < settings_.budget * elapsed());
    }
    [[nodiscard]] bool is_due() const { return verdict_ != watch_verdict::wait || update_is_due(); }

    void work(const std::stop_token& stop) {
        for (;;) {
            std::unique_lock lock(mutex_);
            wake_.wait(lock, stop, [this] { return is_due() && !thrown_; });
            if (stop.stop_requested())
                return;
            lock.unlock();
            const std::lock_guard turn(learning_);
            try {
                work_once();
            } catch (...) {
                lock.lock();
                thrown_ = std::current_exception();
            }
        }
    }
    void throw_thrown() {
        const std::lock_guard lock(mutex_);
        if (thrown_)
            std::rethrow_exception(std::exchange(thrown_, nullptr));
    }

    /// What the watch said, and an update, where they are due. Pre: learning_.
    void work_once() {
        std::unique_lock lock(mutex_);
        if (!is_due())
            return;
        const watch_verdict said = verdict_;
        const std::size_t texts = new_texts_, rows = new_rows_;
        choose();
        lock.unlock();
        const double begin = clock_();
        on_throw guard([&] { // what it would have learnt is as new as before
            lock.lock();
            counts_.seconds += clock_() - begin;
        });
        heed(said);
        const update_result done = batch_.empty() ? update_result{} : learner_.learn(chosen_);
        if (done.applied)
            serving_.publish(learner_.weights());
        const double seconds = clock_() - begin;
        guard.done();
        lock.lock();
        counts_.seconds += seconds;
        new_texts_ -= batch_.empty() ? 0 : texts;
        new_rows_ -= batch_.empty() ? 0 : rows;
        if (!done.applied)
            return;
        latest_seconds_ = seconds;
        counts_.latest = done.losses;
        counts_.learnt_tokens += done.tokens;
        ++counts_.updates;
        watch_.updated();
        if (verdict_ == watch_verdict::keep) // those before this update, which are gone
            verdict_ = watch_verdict::wait;
    }

    /// Copies an update's texts: the latest, and some of all; or none. Pre: mutex_.
    void choose() {
        batch_.clear();
        if (!update_is_due())
            return;
        chosen_.clear();
        const std::size_t fresh = learner_.settings().sequences - settings_.replayed;
        buffer_.newest(std::min(fresh, new_texts_), chosen_);
        buffer_.draw([this] { return std::ldexp(static_cast<double>(bits_() >> 11), -53); },
                     settings_.replayed, chosen_);
        for (const sample* text : chosen_)
            batch_.push_back(*text);
        for (std::size_t i = 0; i < batch_.size(); ++i)
            chosen_[i] = &batch_[i];
    }
    /// Once, whatever an update behind it throws.
    void heed(watch_verdict said) {
        if (said == watch_verdict::wait)
            return;
        said == watch_verdict::roll_back ? roll_back() : remember();
        const std::lock_guard lock(mutex_);
        verdict_ = watch_verdict::wait;
        counts_.rollbacks += said == watch_verdict::roll_back ? 1 : 0;
    }
    void remember() {
        good_.assign(learner_.values().begin(), learner_.values().end());
        good_optimiser_ = learner_.optimiser();
    }
    void roll_back() {
        std::copy(good_.begin(), good_.end(), learner_.values().begin());
        learner_.optimiser() = good_optimiser_;
        serving_.publish(learner_.weights());
    }

    Learner& learner_;
    Serving& serving_;
    online_settings settings_;
    Time clock_;
    mutable std::mutex mutex_; ///< of all up to the next one
    std::condition_variable_any wake_;
    basic_replay_buffer<sample> buffer_;
    regression_guard watch_;
    std::mt19937_64 bits_;
    double begin_;
    online_counts counts_;
    std::uint64_t seen_ = 0;                   ///< rounds
    std::size_t new_texts_ = 0, new_rows_ = 0; ///< since the latest update
    double latest_seconds_ = 0;                ///< of it
    watch_verdict verdict_ = watch_verdict::wait;
    std::exception_ptr thrown_;
    std::mutex learning_; ///< of the learner, and of:
    std::vector<const sample*> chosen_;
    std::vector<sample> batch_;
    std::vector<float> good_; ///< the values that were not worse than those before them
    adamw<float> good_optimiser_{0};
    std::jthread thread_; ///< last: it ends before what it uses
};

template <PanelValue Value, Clock Time>
using online_learner = basic_online_learner<drafter_learner, serving_weights<Value>, Time>;

} // namespace specdec::engine
