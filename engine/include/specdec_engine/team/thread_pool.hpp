// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm> // std::max
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <utility> // std::exchange
#include <vector>

#include <specdec/core/contract.hpp>
#include <specdec_engine/team/shared_loop.hpp>

namespace specdec::engine {

/// The caller and some threads that wait for loops to share out (shared_loop.hpp).
///
/// A loop ends when all shares that were taken are done: nobody waits for a thread that has not
/// come (on a busy machine the system may run it milliseconds later), only for one that was
/// interrupted within a share. Who waits spins for `patience` and then sleeps: a core goes to
/// whoever needs it, and between the loops of a pass nobody falls asleep.
///
/// run() is for one thread at a time; a second one that comes meanwhile, or a loop within a loop,
/// does all its shares itself, so contexts of different threads may have one team. Threads start in
/// the constructor and are joined in the destructor; run() allocates nothing. No environment
/// variable is read (not OMP_NUM_THREADS).
class thread_pool {
public:
    /// How long a wait spins: more than the gaps of a pass and those that a small drafter makes
    /// between the passes of its target, much less than the milliseconds for which a system lets
    /// another process run.
    static constexpr std::chrono::microseconds patience{300};

    /// The caller and `members` - 1 threads, or fewer where the system gives no more; 0: one member
    /// a core.
    explicit thread_pool(std::size_t members = 0)
        : loop_(members > 0 ? members : std::max(1U, std::thread::hardware_concurrency())) {
        members = loop_.members();
        helpers_.reserve(members - 1);
        try {
            while (size() < members)
                helpers_.emplace_back([this, me = size()] { help(me); });
        } catch (const std::exception&) {
        }
    }
    ~thread_pool() {
        loop_.end();
        wake();
        for (std::thread& t : helpers_)
            t.join();
    }
    thread_pool(const thread_pool&) = delete;
    thread_pool& operator=(const thread_pool&) = delete;

    [[nodiscard]] std::size_t size() const { return helpers_.size() + 1; }

    /// Calls work(pool_share) until items 0 to n - 1 are done, each once. A share is a multiple of
    /// `least` items, but for the last; up to `least` items the caller does alone. What the work
    /// writes is seen by the caller and by later loops. If it throws, one of the exceptions comes
    /// out when all shares are done. Precondition: least > 0.
    template <class Work>
    void run(std::size_t n, std::size_t least, const Work& work) {
        SPECDEC_PRECONDITION(least > 0);
        if (n <= least || helpers_.empty() || taken_.exchange(true, std::memory_order_acquire)) {
            if (n > 0)
                work(pool_share{0, 0, n, true});
            return;
        }
        const auto call = [this, &work](pool_share s) { do_share(work, s); };
        const std::uint32_t units = loop_.open(n, least, &call, [](const void* c, pool_share s) {
            (*static_cast<const decltype(call)*>(c))(s);
        });
        wake();
        wait_until_counted(units - loop_.take_shares(0).units);
        const std::exception_ptr failure = std::exchange(failure_, nullptr);
        taken_.store(false, std::memory_order_release);
        if (failure)
            std::rethrow_exception(failure);
    }

private:
    /// Spins until ready() or until patience ends.
    template <class Ready>
    static bool comes_soon(const Ready& ready) {
        const auto end = std::chrono::steady_clock::now() + patience;
        do {
            for (int i = 0; i < 16; ++i) {
                if (ready())
                    return true;
#if defined(__x86_64__)
                __builtin_ia32_pause();
#elif defined(__aarch64__)
                __asm__ volatile("yield");
#endif
            }
        } while (std::chrono::steady_clock::now() < end);
        return false;
    }

    /// Behind opening a loop, sequentially consistent both: either a helper sees the loop or this
    /// sees it asleep.
    void wake() {
        if (!helpers_sleep_.load())
            return;
        {
            const std::lock_guard lock(mutex_);
            helpers_sleep_ = false;
        }
        loop_is_open_.notify_all();
    }

    void help(std::size_t me) {
        for (;;) {
            const shared_loop::took mine = loop_.take_shares(me);
            if (mine.units > 0)
                count(mine.units);
            if (shared_loop::is_over(mine.seen))
                return;
            const auto changed = [&] { return loop_.seen() != mine.seen; };
            if (comes_soon(changed))
                continue;
            std::unique_lock lock(mutex_);
            loop_is_open_.wait(lock, [&] {
                helpers_sleep_ = true; // anew each time: wake() may have meant an earlier sleep
                return changed();
            });
        }
    }

    template <class Work>
    void do_share(const Work& work, pool_share s) {
        try {
            work(s);
        } catch (...) {
            const std::lock_guard lock(mutex_);
            failure_ = std::current_exception();
        }
    }

    void count(std::uint32_t units) {
        done_.fetch_add(units);
        if (!caller_sleeps_.load())
            return;
        { const std::lock_guard lock(mutex_); }
        loop_is_done_.notify_one();
    }

    /// The caller, for so many units that others have taken.
    void wait_until_counted(std::uint32_t units) {
        counted_ += units;
        const auto all_done = [&] { return done_.load() == counted_; };
        if (all_done() || comes_soon(all_done))
            return;
        std::unique_lock lock(mutex_);
        caller_sleeps_ = true;
        loop_is_done_.wait(lock, all_done);
        caller_sleeps_ = false;
    }

    shared_loop loop_;
    alignas(128) std::atomic<std::uint32_t> done_ = 0; ///< units, of all loops, by all but callers
    alignas(128) std::atomic<bool> taken_ = false;     ///< somebody's run() has the team
    std::uint32_t counted_ = 0;                        ///< those of done_ that were waited for
    std::atomic<bool> helpers_sleep_ = false;
    std::atomic<bool> caller_sleeps_ = false;
    std::mutex mutex_;
    std::condition_variable loop_is_open_;
    std::condition_variable loop_is_done_;
    std::exception_ptr failure_;
    std::vector<std::thread> helpers_;
};

} // namespace specdec::engine
