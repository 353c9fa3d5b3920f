// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>

#include "program.hpp"

namespace bench {

/// What is reported of all turns of a case.
enum class statistic {
    least,  ///< the shortest time, and ratios of two shortest times
    median, ///< the median time, and medians of the ratios of two times of one turn
};

struct question_settings {
    std::size_t repetitions = 11; ///< turns; the flag --repetitions takes precedence
    benchmark::TimeUnit unit = benchmark::kMicrosecond;
    statistic reported = statistic::least;
};

/// A question to which several cases belong, each a benchmark NAME/CASE of Google Benchmark. The
/// first of them that Google Benchmark runs measures all: they take turns in one scene, and each
/// keeps its shortest time. So a ratio is one of two times of one run, which is what counts on a
/// machine that is faster at one moment than at another. If Google Benchmark repeats its
/// benchmarks, all turns are taken again.
///
/// Scene: what the cases work on. It is made when the question is measured, and destroyed then.
/// Errors: an exception of a scene or a case fails its benchmark, and the program.
template <class Scene>
class question {
public:
    /// What is timed, and which counters are reported with its time.
    struct timed_case {
        std::function<double(Scene&)> work;      ///< returns how often it did what is timed
        std::function<void(Scene&)> before = {}; ///< runs before each turn, and is not timed
        benchmark::UserCounters counters = {};   ///< a rate is one of a call
        std::string label = {};
        /// Counters with the time of this case in times of another one, by its place.
        std::vector<std::pair<std::string, std::size_t>> ratios = {{"ratio", 0}};
    };

    /// The arguments are those of the scene's constructor, and are copied.
    template <class... Arguments>
    explicit question(std::string name, question_settings settings, Arguments... arguments)
        : all_(std::make_shared<content>()) {
        all_->name = std::move(name);
        all_->settings = settings;
        all_->settings.repetitions =
            std::max<std::size_t>(1, command_line().number("--repetitions", settings.repetitions));
        all_->make = [arguments...] { return std::make_unique<Scene>(arguments...); };
    }

    /// Adds a case and registers its benchmark. Work that returns nothing does once what is timed.
    template <class Work>
    timed_case& add(const std::string& name, Work work) {
        timed_case& added = all_->cases.emplace_back();
        if constexpr (std::is_void_v<std::invoke_result_t<Work&, Scene&>>)
            added.work = [work = std::move(work)](Scene& scene) mutable {
                work(scene);
                return 1.0;
            };
        else
            added.work = [work = std::move(work)](Scene& scene) mutable {
                return static_cast<double>(work(scene));
            };
        benchmark::RegisterBenchmark(
            (all_->name + "/" + name).c_str(),
            [all = all_, i = size() - 1](benchmark::State& state) { all->report(i, state); })
            ->UseManualTime()
            ->Iterations(1)
            ->Unit(all_->settings.unit);
        return added;
    }

    [[nodiscard]] std::size_t size() const { return all_->cases.size(); }

    /// Further counters of a case, given its place, from the scene after all turns and the reported
    /// seconds of all cases.
    using counting = std::function<benchmark::UserCounters(Scene&, std::size_t place,
                                                           const std::vector<double>& seconds)>;
    void count(counting counters) { all_->count = std::move(counters); }

private:
    struct measurement {
        std::vector<std::vector<double>> turns; ///< [case][turn], seconds
        std::vector<double> reported;           ///< [case], seconds
        std::vector<benchmark::UserCounters> counters;
    };

    struct content {
        std::string name;
        question_settings settings;
        std::function<std::unique_ptr<Scene>()> make;
        counting count;
        std::deque<timed_case> cases; // whose addresses stay
        std::vector<measurement> measured;
        std::vector<std::size_t> told; ///< [case], how many measurements it has reported

        void measure() {
            const std::unique_ptr<Scene> scene = make();
            measurement now{std::vector<std::vector<double>>(cases.size()), {}, {}};
            for (std::size_t turn = 0; turn < settings.repetitions; ++turn)
                for (std::size_t i = 0; i < cases.size(); ++i) {
                    if (cases[i].before)
                        cases[i].before(*scene);
                    const auto begin = std::chrono::steady_clock::now();
                    const double calls = cases[i].work(*scene);
                    const std::chrono::duration<double> took =
                        std::chrono::steady_clock::now() - begin;
                    now.turns[i].push_back(took.count() / calls);
                }
            for (const std::vector<double>& seconds : now.turns)
                now.reported.push_back(shortest_counts() ? shortest(seconds) : median(seconds));
            for (std::size_t i = 0; i < cases.size(); ++i)
                now.counters.push_back(counters(i, *scene, now));
            measured.push_back(std::move(now));
        }

        [[nodiscard]] bool shortest_counts() const { return settings.reported == statistic::least; }

        benchmark::UserCounters counters(std::size_t i, Scene& scene, const measurement& now) {
            benchmark::UserCounters all = cases[i].counters;
            for (const auto& [counter, place] : cases[i].ratios) {
                const double of_shortest = shortest(now.turns[i]) / shortest(now.turns[place]);
                all[counter] =
                    shortest_counts() ? of_shortest : median_ratio(now.turns[i], now.turns[place]);
                if (!shortest_counts())
                    all["shortest_" + counter] = of_shortest;
            }
            if (count)
                all.merge(count(scene, i, now.reported));
            return all;
        }

        void report(std::size_t i, benchmark::State& to) {
            try {
                told.resize(cases.size());
                if (told[i] == measured.size())
                    measure();
            } catch (const std::exception& problem) {
                return fail(to, problem.what());
            }
            const measurement& now = measured[told[i]++];
            for (auto _ : to)
                to.SetIterationTime(now.reported[i]);
            to.counters = now.counters[i];
            if (!cases[i].label.empty())
                to.SetLabel(cases[i].label);
        }

        static double shortest(const std::vector<double>& seconds) {
            return *std::min_element(seconds.begin(), seconds.end());
        }
        static double median(std::vector<double> values) {
            std::sort(values.begin(), values.end());
            return values[values.size() / 2];
        }
        static double median_ratio(std::vector<double> a, const std::vector<double>& b) {
            for (std::size_t turn = 0; turn < a.size(); ++turn)
                a[turn] /= b[turn];
            return median(std::move(a));
        }
    };

    std::shared_ptr<content> all_;
};

} // namespace bench
