// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm> // std::max, std::min
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

namespace specdec::reference {

/// Items begin to end - 1 of a loop, taken by one member of a team.
struct team_share {
    std::size_t member = 0; ///< below the team's size; nobody else is this member meanwhile
    std::size_t begin = 0;
    std::size_t end = 0;
    bool first = true; ///< the member's first share of this loop
};

/// The caller and some threads that wait for loops to share out.
///
/// Members take shares of a loop until none is left, at first large ones, then small ones. The loop
/// ends when all shares that were taken are done: nobody waits for a thread that has not come (on a
/// busy machine the system may run it milliseconds later), only for one that was interrupted within
/// a share. Who waits spins for `patience` and then sleeps: a core goes to whoever needs it, and
/// between the loops of a pass nobody falls asleep.
///
/// run() is for one thread at a time; a second one that comes meanwhile, or a loop within a loop,
/// does all its shares itself, so contexts of different threads may have one team. Threads start in
/// the constructor and are joined in the destructor; run() allocates nothing. No environment
/// variable is read (not OMP_NUM_THREADS).
class thread_team {
public:
    /// How long a wait spins: more than the gaps of a pass and those that a small drafter makes
    /// between the passes of its target, much less than the milliseconds for which a system lets
    /// another process run.
    static constexpr std::chrono::microseconds patience{300};

    /// The caller and `members` - 1 threads, or fewer where the system gives no more; 0: one member
    /// a core.
    explicit thread_team(std::size_t members = 0) {
        if (members == 0)
            members = std::max(1U, std::thread::hardware_concurrency());
        helpers_.reserve(members - 1);
        try {
            while (size() < members)
                helpers_.emplace_back([this, me = size()] { help(me); });
        } catch (const std::exception&) {
        }
    }
    ~thread_team() {
        open(over);
        for (std::thread& t : helpers_)
            t.join();
    }
    thread_team(const thread_team&) = delete;
    thread_team& operator=(const thread_team&) = delete;

    [[nodiscard]] std::size_t size() const { return helpers_.size() + 1; }

    /// Calls work(team_share) until items 0 to n - 1 are done, each once. A share is a multiple of
    /// `least` items, but for the last; up to `least` items the caller does alone. What the work
    /// writes is seen by the caller and by later loops. If it throws, one of the exceptions comes
    /// out when all shares are done. Precondition: least > 0, n / least < 2^32 - 2.
    template <class Work>
    void run(std::size_t n, std::size_t least, const Work& work) {
        SPECDEC_PRECONDITION(least > 0 && n / least < over - 1);
        if (n <= least || helpers_.empty() || taken_.exchange(true, std::memory_order_acquire)) {
            if (n > 0)
                work(team_share{0, 0, n, true});
            return;
        }
        work_ = &work;
        call_ = [](const void* w, team_share s) { (*static_cast<const Work*>(w))(s); };
        items_ = n;
        least_ = least;
        units_ = static_cast<std::uint32_t>((n + least - 1) / least);
        done_.store(0, std::memory_order_relaxed);
        open(units_);
        take_shares(0);
        wait_for_all(units_);
        const std::exception_ptr failure = std::exchange(failure_, nullptr);
        taken_.store(false, std::memory_order_release);
        if (failure)
            std::rethrow_exception(failure);
    }

private:
    /// What is left of the open loop: its number in the high half, units that nobody has taken in
    /// the low one.
    using loop_word = std::uint64_t;
    static constexpr std::uint32_t over = 0xFFFFFFFF; ///< instead of units: the threads shall end

    static std::uint32_t units_left(loop_word w) { return static_cast<std::uint32_t>(w); }

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

    void open(std::uint32_t units) {
        // Sequentially consistent, as in help(): either it sees the loop or this sees it asleep.
        open_.store(((open_.load(std::memory_order_relaxed) >> 32) + 1) << 32 | units);
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
            const loop_word seen = take_shares(me);
            if (units_left(seen) == over)
                return;
            const auto changed = [&] { return open_.load() != seen; };
            if (comes_soon(changed))
                continue;
            std::unique_lock lock(mutex_);
            loop_is_open_.wait(lock, [&] {
                helpers_sleep_ = true; // anew each time: open() may have meant an earlier sleep
                return changed();
            });
        }
    }

    /// Takes and does shares until none is left; returns the word that said so.
    loop_word take_shares(std::size_t me) {
        std::uint32_t mine = 0;
        loop_word now = open_.load(std::memory_order_acquire);
        while (units_left(now) != 0 && units_left(now) != over) {
            const std::uint32_t left = units_left(now);
            const auto some = static_cast<std::uint32_t>(left / (2 * size()));
            const std::uint32_t taken = std::max(some, 1U);
            if (!open_.compare_exchange_weak(now, now - taken, std::memory_order_acq_rel,
                                             std::memory_order_acquire))
                continue;
            // Until this is counted as done the loop stays, and with it all that describes it.
            const std::size_t begin = std::size_t{units_ - left} * least_;
            const std::size_t end = std::min(items_, begin + taken * least_);
            try {
                call_(work_, {me, begin, end, mine == 0});
            } catch (...) {
                const std::lock_guard lock(mutex_);
                failure_ = std::current_exception();
            }
            mine += taken;
            now = open_.load(std::memory_order_acquire);
        }
        if (mine > 0)
            count(mine);
        return now;
    }

    void count(std::uint32_t mine) {
        const std::uint32_t all = units_; // not to be read any more when the last is counted
        if (done_.fetch_add(mine) + mine != all || !caller_sleeps_.load())
            return;
        { const std::lock_guard lock(mutex_); }
        loop_is_done_.notify_one();
    }

    void wait_for_all(std::uint32_t units) {
        const auto all_done = [&] { return done_.load() == units; };
        if (all_done() || comes_soon(all_done))
            return;
        std::unique_lock lock(mutex_);
        caller_sleeps_ = true;
        loop_is_done_.wait(lock, all_done);
        caller_sleeps_ = false;
    }

    // The open loop. Written while no share of any is taken.
    const void* work_ = nullptr;
    void (*call_)(const void*, team_share) = nullptr;
    std::size_t items_ = 0;
    std::size_t least_ = 1;
    std::uint32_t units_ = 0; ///< of `least_` items

    alignas(64) std::atomic<loop_word> open_ = 0;
    alignas(64) std::atomic<std::uint32_t> done_ = 0; ///< units of the open loop
    alignas(64) std::atomic<bool> taken_ = false;     ///< somebody's run() has the team
    std::atomic<bool> helpers_sleep_ = false;
    std::atomic<bool> caller_sleeps_ = false;
    std::mutex mutex_;
    std::condition_variable loop_is_open_;
    std::condition_variable loop_is_done_;
    std::exception_ptr failure_;
    std::vector<std::thread> helpers_;
};

} // namespace specdec::reference
