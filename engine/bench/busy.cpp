// SPDX-License-Identifier: MIT
// Question: what part of its speed does a model keep beside one busy thread a core?
// bench_engine_busy [--threads N] [--busy N] [--seconds S] [--repetitions N] [PATH [DRAFTER]]
// A pass of one token each for a model; rounds of three drafted tokens and one pass over four for a
// pair. Without a path: random weights of SmolLM2-135M's shape, then this repository's small pair.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support.hpp"
#include <specdec_engine/load.hpp>

namespace ref = specdec::engine;

namespace {

struct settings {
    std::size_t threads = 0;
    std::size_t busy = std::max(1U, std::thread::hardware_concurrency());
    double seconds = 1.0;
    int repetitions = 5;
};

/// Threads that keep the cores busy as long as this lives.
class crowd {
public:
    explicit crowd(std::size_t n) {
        for (std::size_t i = 0; i < n; ++i)
            threads_.emplace_back([this] {
                while (!over_.load(std::memory_order_relaxed))
                    ;
            });
        if (n > 0) // until each is seen as a competitor
            std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    ~crowd() {
        over_ = true;
        for (std::thread& t : threads_)
            t.join();
    }
    crowd(const crowd&) = delete;
    crowd& operator=(const crowd&) = delete;

private:
    std::atomic<bool> over_ = false;
    std::vector<std::thread> threads_;
};

double rounds_a_second(const std::function<void()>& round, double seconds) {
    using clock = std::chrono::steady_clock;
    const auto begin = clock::now();
    for (int done = 1;; ++done) {
        round();
        const std::chrono::duration<double> took = clock::now() - begin;
        if (took.count() >= seconds)
            return done / took.count();
    }
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

void measure(const std::string& name, const settings& s, const std::function<void()>& round) {
    std::vector<double> idle;
    std::vector<double> beside;
    std::vector<double> kept;
    for (int r = 0; r < s.repetitions; ++r) {
        idle.push_back(rounds_a_second(round, s.seconds));
        const crowd others(s.busy);
        beside.push_back(rounds_a_second(round, s.seconds));
        kept.push_back(beside.back() / idle.back());
    }
    std::printf("%-28s %10.1f %10.1f %9.0f %%\n", name.c_str(), median(idle), median(beside),
                100 * median(kept));
    std::fflush(stdout);
}

constexpr std::size_t context = 64;

std::vector<std::int32_t> ids(std::size_t n) {
    std::vector<std::int32_t> result(n);
    for (std::size_t i = 0; i < n; ++i)
        result[i] = static_cast<std::int32_t>(i * 7 % 1000);
    return result;
}

void one_model(const std::string& name, ref::transformer t, const settings& s) {
    t.append(ids(context));
    const auto next = ids(1);
    measure(name, s, [&] {
        t.score(next);
        t.truncate(context);
    });
}

void pair(const std::string& name, ref::transformer target, ref::transformer drafter,
          const settings& s) {
    target.append(ids(context));
    drafter.append(ids(context));
    const auto one = ids(1), four = ids(4);
    measure(name, s, [&] {
        for (int i = 0; i < 3; ++i)
            drafter.score(one);
        target.score(four);
        drafter.truncate(context);
        target.truncate(context);
    });
}

} // namespace

int main(int argc, char** argv) {
    settings s;
    std::vector<std::string> paths;
    for (int i = 1; i < argc; ++i) {
        const std::string flag = argv[i];
        const auto number = [&] { return i + 1 < argc ? std::strtod(argv[++i], nullptr) : 0.0; };
        if (flag == "--threads")
            s.threads = static_cast<std::size_t>(number());
        else if (flag == "--busy")
            s.busy = static_cast<std::size_t>(number());
        else if (flag == "--seconds")
            s.seconds = number();
        else if (flag == "--repetitions")
            s.repetitions = static_cast<int>(number());
        else
            paths.push_back(flag);
    }
    ref::load_options options;
    options.context.threads = s.threads;
    options.context.capacity = context + 8;
    const auto load = [&](const std::string& path) { return ref::load_transformer(path, options); };

    std::printf("rounds a second alone and beside %zu busy threads, medians of %d windows of %g s\n"
                "%-28s %10s %10s %11s\n",
                s.busy, s.repetitions, s.seconds, "", "alone", "beside", "kept");
    if (paths.empty()) {
        one_model("SmolLM2-135M's shape",
                  {bench::random_weights<ref::bf16_bits>(bench::smollm2_shape()), options.context},
                  s);
        const std::string models = SPECDEC_SOURCE_DIR "/models/";
        paths = {models + "docs-target", models + "docs-drafter"};
    }
    one_model("model", load(paths[0]), s);
    if (paths.size() > 1) {
        one_model("drafter", load(paths[1]), s);
        pair("pair: 3 drafted, 1 pass of 4", load(paths[0]), load(paths[1]), s);
        ref::transformer target = load(paths[0]);
        options.context.team = target.team();
        pair("the same, one team for both", std::move(target), load(paths[1]), s);
    }
}
