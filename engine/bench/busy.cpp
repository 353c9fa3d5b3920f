// SPDX-License-Identifier: MIT
// Question: what part of its speed does a model keep beside one busy thread a core?
//     bench_engine_busy [--threads N] [--busy N] [--seconds S] [--repetitions N] [PATH [DRAFTER]]
// A pass of one token each for a model; rounds of three drafted tokens and one pass over four for a
// pair. Times are medians of windows of S seconds, and `ratio` is the median of beside / alone:
// what is left of the speed is 1 / ratio. Without a path: random weights of SmolLM2-135M's shape,
// then this repository's small pair.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "support.hpp"
#include <specdec_engine/load.hpp>

namespace ref = specdec::engine;

namespace {

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

constexpr std::size_t context = 64;

std::vector<std::int32_t> ids(std::size_t n) {
    std::vector<std::int32_t> result(n);
    for (std::size_t i = 0; i < n; ++i)
        result[i] = static_cast<std::int32_t>(i * 7 % 1000);
    return result;
}

using round_maker = std::function<std::function<void()>()>; ///< loads what the round needs
using load_model = std::function<ref::transformer(const ref::context_options&)>;

struct scene {
    std::function<void()> round;
    std::optional<crowd> others;

    explicit scene(const round_maker& make) : round(make()) {}
};

struct settings {
    std::size_t busy, repetitions;
    double seconds;
};

void add_question(const std::string& name, const settings& s, const round_maker& make) {
    bench::question<scene> busy("busy/" + name,
                                {.repetitions = s.repetitions,
                                 .unit = benchmark::kMicrosecond,
                                 .reported = bench::statistic::median},
                                make);
    const auto window = [s](scene& at) {
        using clock = std::chrono::steady_clock;
        const auto begin = clock::now();
        for (std::size_t done = 1;; ++done) {
            at.round();
            const std::chrono::duration<double> took = clock::now() - begin;
            if (took.count() >= s.seconds)
                return done;
        }
    };
    const auto add = [&](const char* what, std::size_t threads) {
        auto& added = busy.add(what, window);
        added.before = [threads](scene& at) {
            at.others.reset();
            at.others.emplace(threads);
        };
        added.counters = {{"rounds", benchmark::Counter(1, benchmark::Counter::kIsRate)}};
    };
    add("alone", 0);
    add("beside", s.busy);
}

round_maker one_model(const load_model& load, const ref::context_options& options) {
    return [=] {
        const auto t = std::make_shared<ref::transformer>(load(options));
        t->append(ids(context));
        return [t, next = ids(1)] {
            t->score(next);
            t->truncate(context);
        };
    };
}

round_maker pair(const load_model& load, const load_model& load_drafter,
                 ref::context_options options, bool one_team) {
    return [=]() mutable {
        const auto target = std::make_shared<ref::transformer>(load(options));
        ref::context_options beside = options;
        if (one_team)
            beside.team = target->team();
        const auto drafter = std::make_shared<ref::transformer>(load_drafter(beside));
        target->append(ids(context));
        drafter->append(ids(context));
        return [target, drafter, one = ids(1), four = ids(4)] {
            for (int i = 0; i < 3; ++i)
                drafter->score(one);
            target->score(four);
            drafter->truncate(context);
            target->truncate(context);
        };
    };
}

load_model file(const std::string& path) {
    return [path](const ref::context_options& options) {
        ref::load_options all;
        all.context = options;
        return ref::load_transformer(path, all);
    };
}

const bench::registration here([] {
    bench::words& line = bench::command_line();
    const std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
    const settings s{line.number("--busy", cores), line.number("--repetitions", 5),
                     line.real("--seconds", 1)};
    ref::context_options options;
    options.threads = line.number("--threads", 0);
    options.capacity = context + 8;
    std::vector<std::string> paths = line.paths();
    if (paths.empty()) {
        const load_model random = [](const ref::context_options& of) {
            return ref::transformer(bench::random_weights<ref::bf16_bits>(bench::smollm2_shape()),
                                    of);
        };
        add_question("smollm2_shape", s, one_model(random, options));
        paths = {SPECDEC_SOURCE_DIR "/models/docs-target",
                 SPECDEC_SOURCE_DIR "/models/docs-drafter"};
    }
    add_question("model", s, one_model(file(paths[0]), options));
    if (paths.size() > 1) {
        const load_model target = file(paths[0]), drafter = file(paths[1]);
        add_question("drafter", s, one_model(drafter, options));
        add_question("pair", s, pair(target, drafter, options, false));
        add_question("pair_one_team", s, pair(target, drafter, options, true));
    }
});

} // namespace
