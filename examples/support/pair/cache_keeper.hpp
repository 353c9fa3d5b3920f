// SPDX-License-Identifier: MIT
#pragma once

#include <exception>

#include <specdec/core/error.hpp>
#include <specdec/speculation/any/ngram_cache_files.hpp>
#include <specdec/speculation/decoder.hpp>

namespace specdec::examples {

/// A file for n-grams that nothing reads or writes is refused. `used`: a rule is run that has some.
inline void expect_use_of_cache(const cache_settings& cache, bool used) {
    if (!cache.file.empty() && !used)
        throw error("--cache", cache.file, "expected a rule that has n-grams beside it: merge");
}

/// Saves what a decoder has learned: where all went well by save(), and also on the way out of an
/// error, which then has the word.
class cache_keeper {
public:
    explicit cache_keeper(const decoder& d) : decoder_(d), before_(std::uncaught_exceptions()) {}
    cache_keeper(const cache_keeper&) = delete;
    cache_keeper& operator=(const cache_keeper&) = delete;
    ~cache_keeper() {
        if (std::uncaught_exceptions() == before_)
            return;
        try {
            save();
        } catch (const std::exception&) { // the first error is on its way
        }
    }

    void save() const {
        if (const any_ngram_cache* cache = decoder_.cache())
            specdec::save(*cache);
    }

private:
    const decoder& decoder_;
    int before_;
};

} // namespace specdec::examples
