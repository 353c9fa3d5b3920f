// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#if defined(_OPENMP)
#include <omp.h> // omp_get_thread_num
#endif

namespace specdec::reference {

/// A range of indices.
struct share {
    std::size_t begin = 0;
    std::size_t end = 0;
};

/// One of the threads that run a piece of work together.
struct team_member {
    std::size_t rank = 0;
    std::size_t size = 1;

    /// This member's contiguous part of n items; the same part every time, so that it stays in the
    /// cache of its core.
    [[nodiscard]] share share_of(std::size_t n) const {
        return {n * rank / size, n * (rank + 1) / size};
    }
    /// Waits for all members.
    void barrier() const {
#if defined(_OPENMP)
        if (size > 1) {
#pragma omp barrier
        }
#endif
    }
};

/// Runs work(team_member) on each of `threads` threads (on the calling one alone where the program
/// was built without OpenMP). The work must not throw.
template <class Work>
void run_team(std::size_t threads, const Work& work) {
#if defined(_OPENMP)
    if (threads > 1) {
#pragma omp parallel num_threads(static_cast<int>(threads))
        work(team_member{static_cast<std::size_t>(omp_get_thread_num()),
                         static_cast<std::size_t>(omp_get_num_threads())});
        return;
    }
#endif
    static_cast<void>(threads);
    work(team_member{});
}

} // namespace specdec::reference
