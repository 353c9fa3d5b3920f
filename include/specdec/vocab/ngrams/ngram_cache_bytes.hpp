// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <specdec/core/error.hpp>
#include <specdec/core/token_id.hpp>
#include <specdec/vocab/ngrams/ngram_cache.hpp>
#include <specdec/vocab/table/saved_bytes.hpp>

namespace specdec {

/// The bytes of a saved n-gram cache, version 1, all numbers little-endian:
///
///     magic "specdec n-grams\n", version u32, policy 4 bytes ("none", "lru ", "lfu ")
///     fingerprints of both vocabularies 2 x u64, capacity u64, longest u64
///     hits, inserts, evictions, tokens 4 x u64, number of n-grams u64
///     for every n-gram, in the order of for_each:
///         its place in the order of eviction u32 (without eviction: its number),
///         frequency u32, target token u32, length u32, draft tokens u32 each
///     checksum u64 of all bytes before it
///
/// A cache that was read behaves as the one that was written, now and later: same walks, same
/// evictions.
struct ngram_cache_codec {
    static constexpr std::string_view magic = "specdec n-grams\n";
    static constexpr std::uint32_t version = 1;

    /// Complexity: linear. Errors: std::bad_alloc.
    template <class Eviction>
    [[nodiscard]] static std::string write(const ngram_cache<Eviction>& cache) {
        std::vector<std::uint32_t> places(cache.ngrams_.size());
        std::uint32_t n = 0;
        if constexpr (Eviction::evicts)
            for (std::uint32_t s = cache.order_.victim(); n < cache.size();
                 s = cache.order_.after(s))
                places[s] = n++;
        else
            cache.trie_.for_each(
                [&](std::span<const draft_id>, std::uint32_t s) { places[s] = n++; });

        std::string out(magic);
        put_number(out, version);
        out.append(policy<Eviction>());
        const ngram_cache_settings& settings = cache.settings_;
        const ngram_cache_counts& counts = cache.counts_;
        for (const std::uint64_t field :
             {settings.draft_fingerprint, settings.target_fingerprint,
              std::uint64_t{settings.capacity}, std::uint64_t{settings.longest}, counts.hits,
              counts.inserts, counts.evictions, counts.tokens, std::uint64_t{cache.size()}})
            put_number(out, field);
        cache.trie_.for_each([&](std::span<const draft_id> ids, std::uint32_t s) {
            put_number(out, places[s]);
            put_number(out, cache.order_.frequency(s));
            put_number(out, cache.ngrams_[s].target.value);
            put_number(out, static_cast<std::uint32_t>(ids.size()));
            for (const draft_id d : ids)
                put_number(out, d.value);
        });
        put_number(out, checksum_of(out));
        return out;
    }

    /// Takes any bytes. Returns the cache that was written, or throws an error that names `source`,
    /// the field and what was expected there. A foreign cache is one of other vocabularies than
    /// `expected` names; its other settings are those of the file. Complexity: linear; nothing is
    /// allocated that the size of the bytes does not warrant.
    template <class Eviction>
    [[nodiscard]] static ngram_cache<Eviction>
    read(std::string_view bytes, const std::string& source, const ngram_cache_settings& expected) {
        saved_bytes in(bytes, source, magic, version, "a saved n-gram cache");
        const std::string_view found_policy = in.take(4, "policy");
        in.expect(found_policy == policy<Eviction>(), "eviction policy",
                  "expected " + policy<Eviction>() + ", the file has " + std::string(found_policy));
        ngram_cache_settings settings;
        settings.draft_fingerprint = in.get<std::uint64_t>("draft fingerprint");
        settings.target_fingerprint = in.get<std::uint64_t>("target fingerprint");
        in.expect(settings.draft_fingerprint == expected.draft_fingerprint, "draft fingerprint",
                  "expected the drafter's vocabulary, the cache was learned with another");
        in.expect(settings.target_fingerprint == expected.target_fingerprint, "target fingerprint",
                  "expected the target's vocabulary, the cache was learned with another");
        settings.capacity =
            static_cast<std::size_t>(in.at_most(ngram_cache_settings::unlimited, "capacity"));
        settings.longest = static_cast<std::size_t>(in.at_most(ngram_trie::longest, "longest"));
        in.expect(settings.longest >= 2, "longest", "expected at least 2");

        ngram_cache<Eviction> cache(settings);
        ngram_cache_counts counts;
        counts.hits = in.get<std::uint64_t>("hits");
        counts.inserts = in.get<std::uint64_t>("inserts");
        counts.evictions = in.get<std::uint64_t>("evictions");
        counts.tokens = in.get<std::uint64_t>("tokens");
        const std::uint64_t most = in.left() / smallest_ngram;
        const std::uint64_t size =
            in.at_most(most < settings.capacity ? most : std::uint64_t{settings.capacity},
                       "number of n-grams");
        read_ngrams(in, static_cast<std::size_t>(size), cache);
        in.expect(in.left() == 0, "end", "expected nothing after the last n-gram");
        cache.counts_ = counts;
        return cache;
    }

private:
    static constexpr std::uint64_t smallest_ngram = 6 * sizeof(std::uint32_t);
    static constexpr std::uint64_t most_ids = 0x7fffffffu;

    template <class Eviction>
    static void read_ngrams(saved_bytes& in, std::size_t size, ngram_cache<Eviction>& cache) {
        std::vector<std::uint32_t> slots(size, ngram_trie::no_slot); // by place in the order
        std::vector<std::uint32_t> frequencies(size);                // by slot
        std::array<draft_id, ngram_trie::longest> ids;
        const auto id = [&in](std::string_view field) {
            return static_cast<std::int32_t>(
                in.at_most(most_ids, field, in.get<std::uint32_t>(field)));
        };
        for (std::size_t i = 0; i < size; ++i) {
            const auto place = in.get<std::uint32_t>("place");
            in.expect(place < size && slots[place] == ngram_trie::no_slot, "place",
                      "expected every number below that of the n-grams once");
            const auto frequency = in.get<std::uint32_t>("frequency");
            in.expect(frequency > 0, "frequency", "expected at least 1");
            const target_id target{id("target token")};
            const auto length = in.get<std::uint32_t>("length");
            in.expect(length >= 2 && length <= cache.settings_.longest, "length",
                      "expected 2 to " + std::to_string(cache.settings_.longest));
            for (std::size_t k = 0; k < length; ++k)
                ids[k] = draft_id{id("draft token")};

            const std::span<const draft_id> ngram(ids.data(), length);
            const auto [at, reached] = cache.trie_.walk(ngram);
            in.expect(reached < length || cache.trie_.slot(at) == ngram_trie::no_slot,
                      "draft tokens", "expected every n-gram once");
            cache.trie_.reserve(length - reached);
            cache.reserve_slot();
            slots[place] = cache.place(ngram, target);
            frequencies[slots[place]] = frequency;
        }
        std::uint32_t before = 0;
        for (const std::uint32_t slot : slots) {
            if constexpr (Eviction::by_frequency) {
                in.expect(frequencies[slot] >= before, "frequency",
                          "expected to be ascending in the order of eviction");
                before = frequencies[slot];
            }
            cache.order_.restore(slot, frequencies[slot]);
        }
    }

    template <class Eviction>
    static std::string policy() {
        std::string name(Eviction::name);
        name.resize(4, ' '); // so wide is the field
        return name;
    }
};

} // namespace specdec
