// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm> // std::min
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <specdec/core/contract.hpp>

namespace specdec::engine {

/// Items begin to end - 1 of a loop, taken by one member of a team.
struct pool_share {
    std::size_t member = 0; ///< below the team's size; nobody else is this member meanwhile
    std::size_t begin = 0;
    std::size_t end = 0;
    bool first = true; ///< the member's first share of this loop
};

/// A loop whose items the members of a team take among themselves, and one loop after another.
///
/// Every member has an equal range of the items, the same in loops of the same length, so what it
/// wrote it finds in its own cache; it takes its range in shares, at first large ones, then small
/// ones, and then halves of what others have left. Nothing that two cores write is touched more
/// than a few times a loop: where a cache line takes 250 ns from one to the other, as between the
/// dies of a server, loops of a few microseconds are shared out, too.
class shared_loop {
public:
    /// A loop's number in the high half, its units (of `least` items) in the low one.
    using word = std::uint64_t;
    /// What a member has seen and done.
    struct took {
        word seen;
        std::uint32_t units;
    };

    explicit shared_loop(std::size_t members) : seats_(members) {}

    [[nodiscard]] std::size_t members() const { return seats_.size(); }
    /// The loop that is open, or the last one that was.
    [[nodiscard]] word seen() const { return now_.load(); }
    [[nodiscard]] static bool is_over(word w) { return units_of(w) == over; }

    /// Opens a loop of call(work, share); returns its units. Seen by whoever sees that it is open.
    /// Preconditions: all shares of the loop before are done; least > 0, n > least.
    std::uint32_t open(std::size_t n, std::size_t least, const void* work,
                       void (*call)(const void*, pool_share)) {
        SPECDEC_PRECONDITION(least > 0 && n > least);
        if (n / least >= most_units)
            least *= n / least / most_units + 1;
        work_ = work;
        call_ = call;
        items_ = n;
        least_ = least;
        const auto units = static_cast<std::uint32_t>((n + least - 1) / least);
        open(units);
        return units;
    }
    /// No loop comes any more.
    void end() { open(over); }

    /// Takes and does shares until none is left: of the member's own range from the front, then of
    /// the others', each from the back. Work must not throw.
    took take_shares(std::size_t me) {
        took mine{0, 0};
        for (std::size_t i = 0; i < seats_.size();) {
            const std::size_t whose = (me + i) % seats_.size();
            std::atomic<std::uint64_t>& place = seats_[whose].left;
            std::uint64_t before = place.load(std::memory_order_acquire);
            // Read behind the seat, so the seat's loop is this one or an earlier one, of which
            // nothing is left.
            const word now = now_.load(std::memory_order_acquire);
            if (now !=
                mine.seen) { // nothing of the one before was taken, or it would still be open
                mine.seen = now;
                i = 0;
                continue;
            }
            if (is_over(now))
                break;
            range left = range::of(before);
            if (left.number != number_of(now))
                left = whole_range(now, whose);
            if (left.begin == left.end) {
                ++i;
                continue;
            }
            const std::uint32_t taken = (left.end - left.begin + 1) / 2;
            const std::uint32_t first = whose == me ? left.begin : left.end - taken;
            if (whose == me)
                left.begin += taken;
            else
                left.end -= taken;
            if (!place.compare_exchange_weak(before, left.word(), std::memory_order_acq_rel,
                                             std::memory_order_relaxed))
                continue;
            // Until the caller knows that this is done the loop stays, and what describes it.
            call_(work_, {me, first * least_, std::min(items_, (first + taken) * least_),
                          mine.units == 0});
            mine.units += taken;
        }
        return mine;
    }

private:
    static constexpr std::uint32_t over = 0xFFFFFFFF; ///< instead of units
    static constexpr std::size_t most_units = 0xFFFF;
    /// Loops after which every seat is told the number: one that no loop has had units for since
    /// would take its old number for a new loop's when numbers begin again.
    static constexpr std::uint32_t seats_told = std::uint32_t{1} << 30;

    /// Units that nobody has taken of a member's range, and the loop they are of.
    struct range {
        std::uint32_t number, begin, end;

        static range of(std::uint64_t w) {
            return {number_of(w), static_cast<std::uint32_t>(w >> 16 & 0xFFFF),
                    static_cast<std::uint32_t>(w & 0xFFFF)};
        }
        [[nodiscard]] std::uint64_t word() const {
            return std::uint64_t{number} << 32 | begin << 16 | end;
        }
    };
    struct alignas(128) seat {
        std::atomic<std::uint64_t> left = 0;
    };

    static std::uint32_t number_of(std::uint64_t w) { return static_cast<std::uint32_t>(w >> 32); }
    static std::uint32_t units_of(word w) { return static_cast<std::uint32_t>(w); }

    [[nodiscard]] range whole_range(word now, std::size_t member) const {
        const auto bound = [&](std::size_t m) {
            return static_cast<std::uint32_t>((units_of(now) * m + seats_.size() - 1) /
                                              seats_.size());
        };
        return {number_of(now), bound(member), bound(member + 1)};
    }

    void open(std::uint32_t units) {
        const std::uint32_t number = number_of(now_.load(std::memory_order_relaxed)) + 1;
        if (number % seats_told == 0)
            for (seat& s : seats_)
                s.left = range{number - 1, 0, 0}.word();
        now_.store(std::uint64_t{number} << 32 | units); // sequentially consistent: see thread_pool
    }

    // One cache line, written while no share of any loop is taken.
    alignas(128) std::atomic<word> now_ = 0;
    const void* work_ = nullptr;
    void (*call_)(const void*, pool_share) = nullptr;
    std::size_t items_ = 0;
    std::size_t least_ = 1;
    std::vector<seat> seats_; ///< of all members that were asked for, there or not
};

} // namespace specdec::engine
