// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <specdec/core/contract.hpp>

/// Which n-gram goes when a cache is full (OmniDraft D.5, Table 14), as types. A policy keeps what
/// it knows of slot 0, 1, 2, ... of the cache's table: how often each was used and, where it
/// evicts, the order in which they would go. Every operation is O(1) and allocates nothing after
/// reserve(). Frequencies count the insertion, too, and saturate at 2^32 - 1.
namespace specdec {

/// name: at most four letters, as saved caches have it. by_frequency: whether frequencies ascend in
/// the order of eviction. reserve(n): room for slots below n; strong guarantee. add(s): a new one,
/// used once. touch(s): used once more. remove(s). restore(s, f): a new one, used f times, that
/// goes after all others. frequency(s).
template <class P>
concept EvictionPolicy = std::copyable<P> && requires(P p, const P& c, std::uint32_t s) {
    { P::name } -> std::convertible_to<std::string_view>;
    { P::evicts } -> std::convertible_to<bool>;
    { P::by_frequency } -> std::convertible_to<bool>;
    { p.reserve(std::size_t{}) };
    { p.add(s) } noexcept;
    { p.touch(s) } noexcept;
    { p.remove(s) } noexcept;
    { p.restore(s, s) } noexcept;
    { p.clear() } noexcept;
    { c.frequency(s) } -> std::same_as<std::uint32_t>;
    { c.memory() } -> std::same_as<std::size_t>;
};

/// victim(): the slot that goes next, none if there is none. after(s): the one that would go after
/// s, or none.
template <class P>
concept EvictingPolicy = EvictionPolicy<P> && P::evicts && requires(const P& c, std::uint32_t s) {
    { c.victim() } -> std::same_as<std::uint32_t>;
    { c.after(s) } -> std::same_as<std::uint32_t>;
};

namespace detail {

inline void count_up(std::uint32_t& frequency) noexcept {
    if (frequency != 0xffffffffu)
        ++frequency;
}

/// What the policies that evict have in common: slots in a list, those that go first in front.
/// Entry has older, newer and frequency.
template <class Entry>
class eviction_list {
public:
    static constexpr bool evicts = true;
    static constexpr std::uint32_t none = 0xffffffffu;

    void reserve(std::size_t slots) {
        if (slots > entries_.size()) {
            entries_.reserve(slots);
            entries_.resize(slots);
        }
    }
    [[nodiscard]] std::uint32_t frequency(std::uint32_t s) const { return entries_[s].frequency; }
    [[nodiscard]] std::uint32_t victim() const { return first_; }
    [[nodiscard]] std::uint32_t after(std::uint32_t s) const { return entries_[s].newer; }
    [[nodiscard]] std::size_t memory() const { return entries_.capacity() * sizeof(Entry); }

protected:
    /// none stands for the place in front of all.
    void link_behind(std::uint32_t s, std::uint32_t place) noexcept {
        const std::uint32_t next = place == none ? first_ : entries_[place].newer;
        entries_[s].older = place;
        entries_[s].newer = next;
        (place == none ? first_ : entries_[place].newer) = s;
        (next == none ? last_ : entries_[next].older) = s;
    }
    void unlink(std::uint32_t s) noexcept {
        const std::uint32_t older = entries_[s].older, newer = entries_[s].newer;
        (older == none ? first_ : entries_[older].newer) = newer;
        (newer == none ? last_ : entries_[newer].older) = older;
    }
    void forget() noexcept { first_ = last_ = none; }

    std::vector<Entry> entries_; // [slots]
    std::uint32_t first_ = none, last_ = none;
};

struct lru_entry {
    std::uint32_t older, newer, frequency;
};
struct lfu_entry {
    std::uint32_t older, newer, frequency;
    std::uint32_t group;     // of the slot
    std::uint32_t group_end; // of the group that has this entry's index: its last slot; free: next
};

} // namespace detail

/// A full cache takes nothing new.
class no_eviction {
public:
    static constexpr std::string_view name = "none";
    static constexpr bool evicts = false;
    static constexpr bool by_frequency = false;

    void reserve(std::size_t slots) {
        if (slots > frequencies_.size()) {
            frequencies_.reserve(slots);
            frequencies_.resize(slots);
        }
    }
    void add(std::uint32_t s) noexcept { frequencies_[s] = 1; }
    void touch(std::uint32_t s) noexcept { detail::count_up(frequencies_[s]); }
    void remove(std::uint32_t) noexcept {}
    void restore(std::uint32_t s, std::uint32_t f) noexcept { frequencies_[s] = f; }
    void clear() noexcept {}
    [[nodiscard]] std::uint32_t frequency(std::uint32_t s) const { return frequencies_[s]; }
    [[nodiscard]] std::size_t memory() const {
        return frequencies_.capacity() * sizeof(std::uint32_t);
    }

private:
    std::vector<std::uint32_t> frequencies_; // [slots]
};

/// The least recently used n-gram goes.
class lru : public detail::eviction_list<detail::lru_entry> {
public:
    static constexpr std::string_view name = "lru";
    static constexpr bool by_frequency = false;

    void add(std::uint32_t s) noexcept { restore(s, 1); }
    void touch(std::uint32_t s) noexcept {
        detail::count_up(entries_[s].frequency);
        unlink(s);
        link_behind(s, last_);
    }
    void remove(std::uint32_t s) noexcept { unlink(s); }
    void restore(std::uint32_t s, std::uint32_t f) noexcept {
        entries_[s].frequency = f;
        link_behind(s, last_);
    }
    void clear() noexcept { forget(); }
};

/// The least frequently used n-gram goes, of several the least recently used one. O(1): the list
/// is ordered by (frequency, time of use), slots of one frequency form a group, and every slot
/// knows its group and every group its end, so that a slot used once more moves over its own group
/// to the end of the next. A group borrows the entry of some slot for its end: there are never more
/// groups than slots.
class lfu : public detail::eviction_list<detail::lfu_entry> {
public:
    static constexpr std::string_view name = "lfu";
    static constexpr bool by_frequency = true;

    void add(std::uint32_t s) noexcept {
        const bool joins = first_ != none && entries_[first_].frequency == 1;
        put(s, 1, joins ? first_ : none, joins ? end_of(first_) : none);
    }
    void touch(std::uint32_t s) noexcept {
        const std::uint32_t f = entries_[s].frequency;
        const std::uint32_t end = end_of(s), older = entries_[s].older;
        const std::uint32_t behind_own = end == s ? older : end;
        const std::uint32_t next = entries_[end].newer;
        if (f == 0xffffffffu) {
            const std::uint32_t companion = behind_own == end    ? end
                                            : in_group(older, s) ? older
                                                                 : none;
            remove(s);
            put(s, f, companion, behind_own);
        } else if (next != none && entries_[next].frequency == f + 1) {
            remove(s);
            put(s, f + 1, next, end_of(next));
        } else {
            remove(s);
            put(s, f + 1, none, behind_own);
        }
    }
    void remove(std::uint32_t s) noexcept {
        const std::uint32_t group = entries_[s].group, older = entries_[s].older;
        if (end_of(s) == s) {
            if (in_group(older, s)) {
                entries_[group].group_end = older;
            } else {
                entries_[group].group_end = free_group_;
                free_group_ = group;
            }
        }
        unlink(s);
    }
    /// Pre: no slot has a greater frequency.
    void restore(std::uint32_t s, std::uint32_t f) noexcept {
        const bool joins = last_ != none && entries_[last_].frequency == f;
        put(s, f, joins ? last_ : none, last_);
    }
    void clear() noexcept {
        forget();
        free_group_ = none;
        groups_ = 0;
    }

private:
    [[nodiscard]] std::uint32_t end_of(std::uint32_t s) const {
        return entries_[entries_[s].group].group_end;
    }
    [[nodiscard]] bool in_group(std::uint32_t neighbour, std::uint32_t s) const {
        return neighbour != none && entries_[neighbour].group == entries_[s].group;
    }

    /// Links s behind a place, as the end of the companion's group or of a group of its own.
    void put(std::uint32_t s, std::uint32_t frequency, std::uint32_t companion,
             std::uint32_t place) noexcept {
        std::uint32_t group = free_group_;
        if (companion != none)
            group = entries_[companion].group;
        else if (group != none)
            free_group_ = entries_[group].group_end;
        else
            group = groups_++;
        SPECDEC_INVARIANT(group < entries_.size());
        entries_[s].frequency = frequency;
        entries_[s].group = group;
        entries_[group].group_end = s;
        link_behind(s, place);
    }

    std::uint32_t free_group_ = none;
    std::uint32_t groups_ = 0; // groups ever made since clear()
};

} // namespace specdec
