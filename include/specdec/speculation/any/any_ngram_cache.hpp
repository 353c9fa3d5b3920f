// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include <specdec/core/error.hpp>
#include <specdec/vocab/ngrams/eviction.hpp>
#include <specdec/vocab/ngrams/ngram_cache.hpp>
#include <specdec/vocab/ngrams/ngram_cache_bytes.hpp>

namespace specdec {

/// The n-gram cache of the rules `merge` and `merge_paper`.
struct cache_settings {
    /// Which n-gram is evicted from a full cache: "none" (no more are added), "lru" (the least
    /// recently used) or "lfu" (the least frequently used).
    std::string policy = "lfu";
    /// The most n-grams of the cache; 0: no limit.
    std::size_t capacity = 0;
    /// The file that the cache is read from when it is made, if the file exists, and that save()
    /// writes. Empty: no file.
    std::string file{};
};

/// Errors: specdec::error for a policy that there is not.
inline void validate(const cache_settings& s) {
    if (s.policy != "none" && s.policy != "lru" && s.policy != "lfu")
        fail("n-gram cache", "policy", "expected none, lru or lfu, found " + s.policy);
}

/// An n-gram cache whose eviction policy is chosen at run time. Its file is read and written by
/// ngram_cache_files.hpp.
class any_ngram_cache {
public:
    using node = ngram_trie::node;

    /// Empty, or what bytes() gave. Errors: specdec::error for a policy that there is not, and for
    /// bytes (named by settings.file) that are no cache or one of another pair.
    any_ngram_cache(const cache_settings& settings, std::uint64_t draft_fingerprint,
                    std::uint64_t target_fingerprint, std::optional<std::string_view> saved = {})
        : cache_(make(settings, draft_fingerprint, target_fingerprint, saved)),
          file_(settings.file) {}

    /// Where it is kept; "" nowhere.
    [[nodiscard]] const std::string& file() const { return file_; }
    [[nodiscard]] std::string bytes() const {
        return std::visit([](const auto& c) { return ngram_cache_codec::write(c); }, cache_);
    }

    [[nodiscard]] static constexpr node root() { return node::root; }
    [[nodiscard]] node step(node at, draft_id d) const {
        return std::visit([&](const auto& c) { return c.step(at, d); }, cache_);
    }
    [[nodiscard]] target_id target(node at) const {
        return std::visit([&](const auto& c) { return c.target(at); }, cache_);
    }
    template <class F>
    void for_each_child(node at, F&& f) const {
        std::visit([&](const auto& c) { c.for_each_child(at, f); }, cache_);
    }
    [[nodiscard]] std::uint64_t changes() const {
        return std::visit([](const auto& c) { return c.changes(); }, cache_);
    }
    ngram_insertion insert(std::span<const draft_id> ids, target_id t) {
        return std::visit([&](auto& c) { return c.insert(ids, t); }, cache_);
    }
    bool use(std::span<const draft_id> ids) {
        return std::visit([&](auto& c) { return c.use(ids); }, cache_);
    }
    void count_tokens(std::size_t n) {
        std::visit([&](auto& c) { c.count_tokens(n); }, cache_);
    }

    [[nodiscard]] std::size_t size() const {
        return std::visit([](const auto& c) { return c.size(); }, cache_);
    }
    [[nodiscard]] std::size_t memory() const {
        return std::visit([](const auto& c) { return c.memory(); }, cache_);
    }
    [[nodiscard]] ngram_cache_counts counts() const {
        return std::visit([](const auto& c) { return c.counts(); }, cache_);
    }

private:
    using variant_type = std::variant<ngram_cache<no_eviction>, ngram_cache<lru>, ngram_cache<lfu>>;

    static variant_type make(const cache_settings& settings, std::uint64_t draft,
                             std::uint64_t target, std::optional<std::string_view> saved) {
        validate(settings);
        if (settings.policy == "none")
            return make<no_eviction>(settings, draft, target, saved);
        if (settings.policy == "lru")
            return make<lru>(settings, draft, target, saved);
        return make<lfu>(settings, draft, target, saved);
    }
    template <class Policy>
    static ngram_cache<Policy> make(const cache_settings& settings, std::uint64_t draft,
                                    std::uint64_t target, std::optional<std::string_view> saved) {
        ngram_cache_settings wanted;
        if (settings.capacity > 0)
            wanted.capacity = settings.capacity;
        wanted.draft_fingerprint = draft;
        wanted.target_fingerprint = target;
        if (!saved)
            return ngram_cache<Policy>(wanted);
        auto cache = ngram_cache_codec::read<Policy>(*saved, settings.file, wanted);
        cache.set_capacity(wanted.capacity);
        return cache;
    }

    variant_type cache_;
    std::string file_;
};

} // namespace specdec
