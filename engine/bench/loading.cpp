// SPDX-License-Identifier: MIT
// Question: how long does loading a model take in each precision, and how much memory at its peak?
// bench_engine_loading [--threads N] [--precision LIST] [--context N] [PATH]
// Each precision in a process of its own. "Needed" are the packed weights; a file's pages are
// counted among a process's memory, so a peak of the file and what is needed is the least there is:
// the last column should stay below 1.3. Without PATH: models/docs-target.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <sstream>
#include <string>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <specdec_engine/load.hpp>

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
    bool loaded = false;
};

answer load(const std::string& path, const ref::load_options& options) {
    const auto begin = std::chrono::steady_clock::now();
    const ref::transformer t = ref::load_transformer(path, options);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    std::fprintf(stderr, "%s on %s\n", std::string(t.weights_name()).c_str(),
                 std::string(t.kernel_name()).c_str());
    return {took.count(), static_cast<double>(t.weight_bytes().size()), true};
}

void measure(const std::string& path, const ref::load_options& options) {
    int ends[2];
    if (::pipe(ends) != 0)
        return;
    const pid_t child = ::fork();
    if (child == 0) {
        answer found;
        try {
            found = load(path, options);
        } catch (const std::exception& problem) {
            std::fprintf(stderr, "%s\n", problem.what());
        }
        const bool written = ::write(ends[1], &found, sizeof found) == sizeof found;
        ::_exit(written ? 0 : 1);
    }
    answer found;
    const bool read = ::read(ends[0], &found, sizeof found) == sizeof found;
    rusage used{};
    ::wait4(child, nullptr, 0, &used);
    ::close(ends[0]);
    ::close(ends[1]);
    if (!read || !found.loaded)
        return;
    const double peak = static_cast<double>(used.ru_maxrss) * 1024, file = size_of(path);
    std::printf("%-6s %8.2f s %10.1f MB peak %10.1f needed %10.1f file %6.2f (peak - needed) / "
                "file\n",
                std::string(name(options.number_format)).c_str(), found.seconds, peak * 1e-6,
                found.needed * 1e-6, file * 1e-6, (peak - found.needed) / file);
}

} // namespace

int main(int argc, char** argv) {
    ref::load_options options;
    options.context.threads = 2;
    options.context.capacity = 64;
    std::string path = SPECDEC_SOURCE_DIR "/models/docs-target", precisions = "f32,bf16,native,q8";
    for (int i = 1; i < argc; ++i) {
        const std::string flag = argv[i];
        const auto value = [&] { return std::string(i + 1 < argc ? argv[++i] : ""); };
        if (flag == "--threads")
            options.context.threads = std::strtoul(value().c_str(), nullptr, 10);
        else if (flag == "--context")
            options.context.capacity = std::strtoul(value().c_str(), nullptr, 10);
        else if (flag == "--precision")
            precisions = value();
        else
            path = flag;
    }
    try {
        std::istringstream all(precisions);
        for (std::string one; std::getline(all, one, ',');) {
            options.number_format = ref::precision_named(one);
            measure(path, options);
        }
    } catch (const std::exception& problem) {
        std::fprintf(stderr, "%s\n", problem.what());
        return 1;
    }
}
