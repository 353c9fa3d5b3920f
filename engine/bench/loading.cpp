// SPDX-License-Identifier: MIT
// Question: how long does loading a model take in each precision, and how much memory at its peak?
//     bench_engine_loading [--threads N] [--precision LIST] [--context N] [PATH...]
// Each loading is a process of its own. `needed` are the bytes of the packed weights; a file's
// pages are counted among a process's memory, so a `peak` of the file and what is needed is the
// least there is: `excess`, (peak - needed) / file, should stay below 1.3. Without PATH:
// models/docs-target.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <exception>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <specdec_engine/load.hpp>

#include "program.hpp"

namespace ref = specdec::engine;

namespace {

double size_of(const std::filesystem::path& path) {
    if (!std::filesystem::is_directory(path))
        return static_cast<double>(std::filesystem::file_size(path));
    double sum = 0;
    for (const auto& file : std::filesystem::directory_iterator(path))
        if (file.path().extension() == ".safetensors")
            sum += static_cast<double>(file.file_size());
    return sum;
}

struct answer {
    double seconds = 0, needed = 0; ///< bytes of packed weights
    char text[120] = {};            ///< the weights and the kernel, or what went wrong
    bool loaded = false;
};

answer load(const std::string& path, const ref::load_options& options) {
    answer found;
    const auto tell = [&](const std::string& text) {
        text.copy(found.text, sizeof found.text - 1);
    };
    try {
        const auto begin = std::chrono::steady_clock::now();
        const ref::transformer t = ref::load_transformer(path, options);
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
        found.seconds = took.count();
        found.needed = static_cast<double>(t.weight_bytes().size());
        found.loaded = true;
        tell(std::string(t.weights_name()) + " on " + std::string(t.kernel_name()));
    } catch (const std::exception& problem) {
        tell(problem.what());
    }
    return found;
}

/// Loads once, in a process of its own.
void loading(benchmark::State& state, const std::string& path, const ref::load_options& options) {
    for (auto _ : state) {
        int ends[2];
        if (::pipe(ends) != 0)
            return bench::fail(state, "no pipe");
        const pid_t child = ::fork();
        if (child == 0) {
            const answer found = load(path, options);
            const bool written = ::write(ends[1], &found, sizeof found) == sizeof found;
            ::_exit(written ? 0 : 1);
        }
        ::close(ends[1]);
        answer found;
        const bool read = ::read(ends[0], &found, sizeof found) == sizeof found;
        rusage used{};
        ::wait4(child, nullptr, 0, &used);
        ::close(ends[0]);
        if (!read || !found.loaded)
            return bench::fail(state, read ? found.text : "the process that loads has ended");
        const double peak = static_cast<double>(used.ru_maxrss) * 1024, file = size_of(path);
        state.SetIterationTime(found.seconds);
        state.SetLabel(found.text);
        state.counters = {{"peak", peak},
                          {"needed", found.needed},
                          {"file", file},
                          {"excess", (peak - found.needed) / file}};
    }
}

const bench::registration here([] {
    bench::words& line = bench::command_line();
    ref::load_options options;
    options.context.threads = line.number("--threads", 2);
    options.context.capacity = line.number("--context", 64);
    std::istringstream all(line.text("--precision", "f32,bf16,native,q8"));
    std::vector<std::string> paths = line.paths();
    paths.resize(std::max<std::size_t>(1, paths.size()), SPECDEC_SOURCE_DIR "/models/docs-target");
    for (std::string one; std::getline(all, one, ',');) {
        options.number_format = ref::precision_named(one);
        for (const std::string& path : paths)
            benchmark::RegisterBenchmark(
                ("loading/" + std::filesystem::path(path).filename().string() + "/" + one).c_str(),
                [=](benchmark::State& state) { loading(state, path, options); })
                ->UseManualTime()
                ->Iterations(1)
                ->Unit(benchmark::kMillisecond);
    }
});

} // namespace
