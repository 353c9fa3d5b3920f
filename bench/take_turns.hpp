// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <string>
#include <vector>

/// The measuring protocol: all cases of a question take turns and each keeps its minimum; what
/// counts is the ratio of two minima of one run.
namespace bench {

struct timed_case {
    std::string name;
    std::function<void()> work;
    double seconds = 1e30;
};

/// `warm`: each is run once before it is timed: what it needs is in the caches that hold it.
inline void take_turns(std::vector<timed_case>& cases, int repetitions, bool warm = false) {
    for (int r = 0; r < repetitions; ++r)
        for (timed_case& c : cases) {
            if (warm)
                c.work();
            const auto begin = std::chrono::steady_clock::now();
            c.work();
            const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
            c.seconds = std::min(c.seconds, took.count());
        }
}

} // namespace bench
