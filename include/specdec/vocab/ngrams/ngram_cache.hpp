// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string> // std::to_string
#include <vector>

#include <specdec/core/contract.hpp>
#include <specdec/core/error.hpp>
#include <specdec/core/token_id.hpp>
#include <specdec/vocab/ngrams/eviction.hpp>
#include <specdec/vocab/ngrams/ngram_trie.hpp>

namespace specdec {

struct ngram_cache_settings {
    static constexpr std::size_t unlimited = 0xfffffffeu;

    std::size_t capacity = unlimited; ///< n-grams
    std::size_t longest = 16;         ///< tokens of an n-gram: 2 to ngram_trie::longest
    /// Of the vocabularies whose ids the cache holds (vocabulary::fingerprint). They are checked
    /// when a cache is loaded.
    std::uint64_t draft_fingerprint = 0;
    std::uint64_t target_fingerprint = 0;
};

/// What has happened since the cache was made or cleared.
struct ngram_cache_counts {
    std::uint64_t hits = 0;      ///< uses: merged tokens that the target accepted
    std::uint64_t inserts = 0;   ///< n-grams learned
    std::uint64_t evictions = 0; ///< n-grams that went for another
    std::uint64_t tokens = 0;    ///< tokens processed while learning, as told
};

/// A count that an assignment does not take over but adds to: the object it belongs to changes, and
/// never says a number again that it has said.
struct ngram_cache_changes {
    std::uint64_t count = 0;

    ngram_cache_changes() = default;
    ngram_cache_changes(const ngram_cache_changes& other) noexcept = default;
    ngram_cache_changes& operator=(const ngram_cache_changes&) noexcept {
        ++count;
        return *this;
    }
};

/// What insert() did. Only the first two change anything.
enum class ngram_insertion {
    inserted,
    known,    ///< counted as a use of it (no hit)
    conflict, ///< known with another target token: the first stays
    full,     ///< at capacity, and the policy evicts nothing
    unfit,    ///< not of 2 to settings().longest tokens
};

/// The n-gram cache C of OmniDraft (section 3.1): sequences of two or more draft tokens, each with
/// the target token that it spells. A merging bridge scans a draft with it by longest match,
///
///     node at = cache.root();
///     for (std::size_t i = 0; (at = cache.step(at, d[i])) != node::none; ++i)
///         if (cache.target(at).valid()) ...  // d[0..i] can be merged
///
/// and after a round inserts what was committed without a direct match and uses what was merged.
/// Looking up is const and counts nothing. Of several n-grams for one target token all are kept, of
/// several target tokens for one n-gram the first. At capacity `Eviction` chooses what goes.
///
/// Complexity: step() O(1); insert(), use(), find(), eviction: O(tokens of the n-gram). Allocation:
/// insert() as the cache grows, nothing else; at most 96 bytes an n-gram at 20,000 n-grams of a
/// real pair, all in. Errors: insert() passes std::bad_alloc on, having changed nothing.
/// Threads: any number of readers, or one writer. Moved-from: to be assigned or destroyed only.
template <EvictionPolicy Eviction = lru>
class ngram_cache {
public:
    using node = ngram_trie::node;

    /// Errors: specdec::error for settings outside their limits.
    explicit ngram_cache(ngram_cache_settings settings = {}) : settings_(settings) {
        if (settings.longest < 2 || settings.longest > ngram_trie::longest)
            fail("n-gram cache", "longest", "expected 2 to " + std::to_string(ngram_trie::longest));
        if (settings.capacity > ngram_cache_settings::unlimited)
            fail("n-gram cache", "capacity", "expected less than 2^32 - 1");
    }

    [[nodiscard]] const ngram_cache_settings& settings() const { return settings_; }
    [[nodiscard]] std::size_t capacity() const { return settings_.capacity; }
    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] const ngram_cache_counts& counts() const { return counts_; }
    /// Number of tokens of the longest n-gram held; 0 for an empty cache.
    [[nodiscard]] std::size_t longest() const {
        std::size_t n = ngram_trie::longest;
        while (n > 0 && lengths_[n] == 0)
            --n;
        return n;
    }

    [[nodiscard]] static constexpr node root() { return node::root; }
    /// The node behind one more draft token, or node::none. Handles live until the next change.
    [[nodiscard]] node step(node at, draft_id d) const { return trie_.step(at, d); }
    /// The target token of the n-gram that ends at the node; invalid where none does.
    [[nodiscard]] target_id target(node at) const {
        const std::uint32_t slot = trie_.slot(at);
        return slot == ngram_trie::no_slot ? target_id{} : ngrams_[slot].target;
    }
    /// Calls f(draft_id, node) for every child of a node, in the same order every time.
    template <class F>
    void for_each_child(node at, F&& f) const {
        trie_.for_each_child(at, f);
    }
    /// The target token of an n-gram, or an invalid id.
    [[nodiscard]] target_id find(std::span<const draft_id> ids) const {
        const node at = at_end(ids);
        return at == node::none ? target_id{} : target(at);
    }
    /// How often an n-gram was inserted or used, at most 2^32 - 1; 0 where it is not held.
    [[nodiscard]] std::uint32_t frequency(std::span<const draft_id> ids) const {
        const std::uint32_t slot = slot_of(ids);
        return slot == ngram_trie::no_slot ? 0 : order_.frequency(slot);
    }

    /// Calls f(std::span<const draft_id>, target_id, std::uint32_t frequency) for every n-gram; the
    /// order is a function of the calls that made the cache what it is. No allocation.
    template <class F>
    void for_each(F&& f) const {
        trie_.for_each([&](std::span<const draft_id> ids, std::uint32_t slot) {
            f(ids, ngrams_[slot].target, order_.frequency(slot));
        });
    }

    /// Counts changes of what step, target or for_each_child answer: n-grams that came or went,
    /// another cache assigned to this one. While it stays the same, a law made from the cache does,
    /// too.
    [[nodiscard]] std::uint64_t changes() const { return changes_.count; }

    /// Bytes allocated (the paper's Table 4).
    [[nodiscard]] std::size_t memory() const {
        return trie_.memory() + order_.memory() + ngrams_.capacity() * sizeof(ngram);
    }

    /// Learns that the draft tokens spell the target token. Pre: valid ids.
    ngram_insertion insert(std::span<const draft_id> ids, target_id target) {
        if (ids.size() < 2 || ids.size() > settings_.longest)
            return ngram_insertion::unfit;
        const auto [at, reached] = trie_.walk(ids);
        if (reached == ids.size() && trie_.slot(at) != ngram_trie::no_slot) {
            const std::uint32_t slot = trie_.slot(at);
            if (ngrams_[slot].target != target)
                return ngram_insertion::conflict;
            order_.touch(slot);
            return ngram_insertion::known;
        }
        const bool full = size_ >= settings_.capacity;
        if (full && (!Eviction::evicts || size_ == 0))
            return ngram_insertion::full;

        // What the eviction takes from the prefix it gives back.
        trie_.reserve(ids.size() - reached);
        full ? evict() : reserve_slot();
        order_.add(place(ids, target));
        ++counts_.inserts;
        return ngram_insertion::inserted;
    }

    /// An n-gram that was merged has been accepted: a hit. Returns whether it is held.
    bool use(std::span<const draft_id> ids) noexcept {
        const std::uint32_t slot = slot_of(ids);
        if (slot == ngram_trie::no_slot)
            return false;
        order_.touch(slot);
        ++counts_.hits;
        return true;
    }

    /// So many tokens have been processed.
    void count_tokens(std::size_t n) noexcept { counts_.tokens += n; }

    /// Evicts n-grams beyond the new capacity; if the policy evicts nothing, the capacity stays at
    /// least size(). Pre: capacity <= unlimited.
    void set_capacity(std::size_t capacity) noexcept {
        SPECDEC_PRECONDITION(capacity <= ngram_cache_settings::unlimited);
        if constexpr (Eviction::evicts)
            while (size_ > capacity)
                evict();
        settings_.capacity = capacity > size_ ? capacity : size_;
    }

    /// Forgets every n-gram and all counts; keeps settings and memory.
    void clear() noexcept {
        ++changes_.count;
        trie_.clear();
        order_.clear();
        ngrams_.clear();
        first_free_ = ngram_trie::no_slot;
        size_ = 0;
        lengths_ = {};
        counts_ = {};
    }

private:
    friend struct ngram_cache_codec; // ngram_cache_bytes.hpp

    struct ngram {
        node end = node::none; // of a free slot: the next free one
        target_id target;
    };

    [[nodiscard]] node at_end(std::span<const draft_id> ids) const {
        const auto [at, reached] = trie_.walk(ids);
        return reached == ids.size() ? at : node::none;
    }
    [[nodiscard]] std::uint32_t slot_of(std::span<const draft_id> ids) const {
        const node at = at_end(ids);
        return at == node::none ? ngram_trie::no_slot : trie_.slot(at);
    }

    void reserve_slot() {
        if (first_free_ != ngram_trie::no_slot)
            return;
        if (ngrams_.size() == ngrams_.capacity())
            ngrams_.reserve(ngrams_.size() + ngrams_.size() / 16 + 16);
        order_.reserve(ngrams_.capacity());
    }

    /// Pre: room for the slot and the nodes; not held.
    std::uint32_t place(std::span<const draft_id> ids, target_id target) noexcept {
        std::uint32_t slot = first_free_;
        if (slot != ngram_trie::no_slot) {
            first_free_ = static_cast<std::uint32_t>(ngrams_[slot].end);
        } else {
            slot = static_cast<std::uint32_t>(ngrams_.size());
            ngrams_.emplace_back();
        }
        ++changes_.count;
        ngrams_[slot] = {trie_.add(ids, slot), target};
        ++size_;
        ++lengths_[ids.size()];
        return slot;
    }

    void evict() noexcept {
        if constexpr (Eviction::evicts) {
            const std::uint32_t slot = order_.victim();
            order_.remove(slot);
            ngram& gone = ngrams_[slot];
            ++changes_.count;
            --lengths_[trie_.depth(gone.end)];
            trie_.remove(gone.end);
            gone = {node{first_free_}, {}};
            first_free_ = slot;
            --size_;
            ++counts_.evictions;
        }
    }

    ngram_cache_settings settings_;
    ngram_trie trie_;
    Eviction order_;
    std::vector<ngram> ngrams_; // [slots]
    std::uint32_t first_free_ = ngram_trie::no_slot;
    std::size_t size_ = 0;
    std::array<std::uint32_t, ngram_trie::longest + 1> lengths_{}; // n-grams held of each length
    ngram_cache_counts counts_;
    ngram_cache_changes changes_;
};

} // namespace specdec
