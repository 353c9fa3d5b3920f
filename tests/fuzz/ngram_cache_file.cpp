// SPDX-License-Identifier: MIT
// Any bytes, as they are and under a right checksum: a saved n-gram cache is a specdec::error or a
// cache that can be used, and that is the same when it is saved and read again.
#include <cstddef>
#include <cstdint>
#include <cstdlib> // std::abort
#include <string>
#include <string_view>
#include <vector>

#include <specdec/core/error.hpp>
#include <specdec/vocab/ngrams/ngram_cache_bytes.hpp>

namespace {

using namespace specdec;

constexpr ngram_cache_settings expected{.draft_fingerprint = 1, .target_fingerprint = 2};

template <class Eviction>
void check(std::string_view bytes) {
    const std::string source = "fuzz";
    try {
        auto cache = ngram_cache_codec::read<Eviction>(bytes, source, expected);
        std::vector<std::vector<draft_id>> held;
        cache.for_each([&held](std::span<const draft_id> d, target_id, std::uint32_t) {
            held.emplace_back(d.begin(), d.end());
        });
        const std::string written = ngram_cache_codec::write(cache);
        if (ngram_cache_codec::write(
                ngram_cache_codec::read<Eviction>(written, source, expected)) != written)
            std::abort();
        if (held.size() != cache.size() || cache.size() > cache.capacity())
            std::abort();
        for (const auto& d : held)
            if (!cache.use(d) || !cache.find(d).valid())
                std::abort();
        cache.set_capacity(held.size() / 2);
        for (auto& d : held) {
            cache.insert(d, target_id{3});
            d.back() = draft_id{4};
            cache.insert(d, target_id{5});
        }
    } catch (const error&) {
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::string bytes(reinterpret_cast<const char*>(data), size);
    for (const bool sealed : {false, true}) {
        if (sealed) {
            if (size < 8)
                break;
            const std::uint64_t sum = checksum_of(std::string_view(bytes).substr(0, size - 8));
            for (std::size_t i = 0; i < 8; ++i)
                bytes[size - 8 + i] = static_cast<char>(sum >> (8 * i));
        }
        check<no_eviction>(bytes);
        check<lru>(bytes);
        check<lfu>(bytes);
    }
    return 0;
}
