// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits> // std::make_unsigned_t
#include <vector>

#include <specdec/core/error.hpp>
#include <specdec/core/token_id.hpp>
#include <specdec/vocab/ngrams/ngram_cache.hpp>

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
        put(out, version);
        out.append(policy<Eviction>());
        const ngram_cache_settings& settings = cache.settings_;
        const ngram_cache_counts& counts = cache.counts_;
        for (const std::uint64_t field :
             {settings.draft_fingerprint, settings.target_fingerprint,
              std::uint64_t{settings.capacity}, std::uint64_t{settings.longest}, counts.hits,
              counts.inserts, counts.evictions, counts.tokens, std::uint64_t{cache.size()}})
            put(out, field);
        cache.trie_.for_each([&](std::span<const draft_id> ids, std::uint32_t s) {
            put(out, places[s]);
            put(out, cache.order_.frequency(s));
            put(out, cache.ngrams_[s].target.value);
            put(out, static_cast<std::uint32_t>(ids.size()));
            for (const draft_id d : ids)
                put(out, d.value);
        });
        put(out, checksum(out));
        return out;
    }

    /// Takes any bytes. Returns the cache that was written, or throws an error that names `source`,
    /// the field and what was expected there. A foreign cache is one of other vocabularies than
    /// `expected` names; its other settings are those of the file. Complexity: linear; nothing is
    /// allocated that the size of the bytes does not warrant.
    template <class Eviction>
    [[nodiscard]] static ngram_cache<Eviction>
    read(std::string_view bytes, const std::string& source, const ngram_cache_settings& expected) {
        reader in{bytes, source};
        in.expect(bytes.starts_with(magic), "magic", "expected the bytes of a saved n-gram cache");
        in.at = magic.size();
        const auto found_version = in.get<std::uint32_t>("version");
        in.expect(found_version == version, "version",
                  "expected " + std::to_string(version) + ", the file has " +
                      std::to_string(found_version));
        in.expect(in.left() >= sizeof(std::uint64_t), "checksum",
                  "expected a whole file, it is torn");
        in.bytes.remove_suffix(sizeof(std::uint64_t));
        reader end{bytes, source, in.bytes.size()};
        in.expect(end.get<std::uint64_t>("checksum") == checksum(in.bytes), "checksum",
                  "expected that of the bytes before it, the file is torn or corrupt");

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
        in.expect(in.left() == 0, "end", "expected nothing behind the last n-gram");
        cache.counts_ = counts;
        return cache;
    }

    /// The step of vocabulary::fingerprint over the bytes and their number. Every step is a
    /// bijection of what was before and of its byte: a single wrong byte never goes unseen.
    static std::uint64_t checksum(std::string_view bytes) {
        std::uint64_t hash = 0xcbf29ce484222325u ^ bytes.size();
        for (const char c : bytes) {
            hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
            hash ^= hash >> 29;
        }
        return hash;
    }

private:
    static constexpr std::uint64_t smallest_ngram = 6 * sizeof(std::uint32_t);
    static constexpr std::uint64_t most_ids = 0x7fffffffu;

    struct reader {
        std::string_view bytes;
        const std::string& source;
        std::size_t at = 0;

        [[nodiscard]] std::size_t left() const { return bytes.size() - at; }
        void expect(bool good, std::string_view field, const std::string& what) const {
            if (!good)
                fail(source, std::string(field), what);
        }
        std::string_view take(std::size_t n, std::string_view field) {
            expect(n <= left(), field, "expected more bytes, the file ends here");
            at += n;
            return bytes.substr(at - n, n);
        }
        template <class T>
        T get(std::string_view field) {
            T value = 0;
            const std::string_view raw = take(sizeof(T), field);
            for (std::size_t i = 0; i < sizeof(T); ++i)
                value |= static_cast<T>(T{static_cast<unsigned char>(raw[i])} << (8 * i));
            return value;
        }
        std::uint64_t at_most(std::uint64_t most, std::string_view field) {
            return at_most(most, field, get<std::uint64_t>(field));
        }
        std::uint64_t at_most(std::uint64_t most, std::string_view field,
                              std::uint64_t value) const {
            expect(value <= most, field,
                   "expected at most " + std::to_string(most) + ", the file has " +
                       std::to_string(value));
            return value;
        }
    };

    template <class Eviction>
    static void read_ngrams(reader& in, std::size_t size, ngram_cache<Eviction>& cache) {
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

    template <class T>
    static void put(std::string& out, T value) {
        const auto bits = static_cast<std::make_unsigned_t<T>>(value);
        for (std::size_t i = 0; i < sizeof(T); ++i)
            out += static_cast<char>(bits >> (8 * i) & 0xff);
    }
};

} // namespace specdec
