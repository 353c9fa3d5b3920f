// SPDX-License-Identifier: MIT
// The main program of all benchmarks. It returns 0 if at least one ran, and none failed.
#include <cstdio>
#include <exception>

#include <benchmark/benchmark.h>

#include "program.hpp"

int main(int argc, char** argv) {
    benchmark::Initialize(&argc, argv);
    try {
        bench::command_line().assign({argv + 1, argv + argc});
        for (const auto& add : bench::registrations())
            add();
        bench::command_line().refuse_unread();
    } catch (const std::exception& problem) {
        std::fprintf(stderr, "%s\n", problem.what());
        return 1;
    }
    const bool none = benchmark::RunSpecifiedBenchmarks() == 0;
    benchmark::Shutdown();
    return none || bench::failed ? 1 : 0;
}
