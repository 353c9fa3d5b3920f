// SPDX-License-Identifier: MIT
#pragma once

#include <exception>
#include <string>
#include <utility>

#include "support/pair/loaded_pair.hpp"
#include <specdec/core/error.hpp>
#include <specdec/speculation/any/ngram_cache_files.hpp>

namespace specdec::examples {

/// Settings of n-grams that nothing keeps are refused. `used`: a rule is run that has some.
inline void expect_use_of_cache(const cache_settings& cache, bool used) {
    if (used)
        return;
    const char* const wanted = "expected a rule that has n-grams with it: merge";
    const cache_settings usual;
    if (!cache.file.empty())
        throw error("--cache", cache.file, wanted);
    if (cache.capacity != usual.capacity)
        throw error("--cache-size", std::to_string(cache.capacity), wanted);
    if (cache.policy != usual.policy)
        throw error("--cache-policy", cache.policy, wanted);
}

/// Saves what was learnt: where all went well by save(), and also on the way out of an error, which
/// then has the word.
template <class Save>
class saved_anyway {
public:
    explicit saved_anyway(Save save)
        : save_(std::move(save)), before_(std::uncaught_exceptions()) {}
    saved_anyway(const saved_anyway&) = delete;
    saved_anyway& operator=(const saved_anyway&) = delete;
    ~saved_anyway() {
        if (saved_ || std::uncaught_exceptions() == before_)
            return;
        try {
            save();
        } catch (const std::exception&) { // the first error is on its way
        }
    }

    void save() {
        save_();
        saved_ = true;
    }

private:
    Save save_;
    int before_;
    bool saved_ = false;
};

/// The n-grams that a pair has learnt, and the counts of its texts.
[[nodiscard]] inline auto cache_keeper(const loaded_pair& pair) {
    return saved_anyway([&pair] {
        if (const any_ngram_cache* cache = pair->cache())
            specdec::save(*cache);
        if (pair.counts)
            pair.counts->save();
    });
}

} // namespace specdec::examples
