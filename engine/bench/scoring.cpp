// SPDX-License-Identifier: MIT
// Question: what do 1 to 16 positions of one sequence in one pass cost, as many nodes of a tree
// (each with two children, level by level, a path of which is kept), and one or two positions of
// each of several sequences, in plain reads of the weights and in passes of one position; and in
// which precision, with which kernel, in which numbers of the cache and behind how long a context
// are they fast? bench_engine_scoring [--threads N] [--contexts LIST] [--repetitions N]
//                         [--f32 | --precision LIST] [--kernels all] [--cache-type LIST] [PATH]
// LIST: f32, bf16, native, q8, auto, with commas: all of them take turns, one model each, and every
// time is told in that of the first one's single position, too. `--kernels all`: each with every
// kernel that this CPU has. `--cache-type f32,bf16,q8`: each with every one of them. Without PATH:
// random weights of SmolLM2's shape, f32, bf16 or q8.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <exception>
#include <span>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "support.hpp"
#include <specdec/core/model/tree_scoring.hpp>
#include <specdec_engine/load.hpp>

namespace ref = specdec::engine;

namespace {

constexpr std::size_t most_sequences = 16;
constexpr std::size_t cache_bytes = std::size_t{24} << 20; // weights that stay in a large cache
constexpr std::size_t side_by_side_up_to = 512; // tokens: caches of more would be gigabytes

ref::transformer make(const std::string& path, const ref::load_options& options) {
    const auto random = [&]<class Format>(Format) {
        return ref::transformer(bench::random_weights<Format>(bench::smollm2_shape()),
                                options.context);
    };
    if (!path.empty())
        return ref::load_transformer(path, options);
    switch (options.number_format) {
    case ref::precision::f32:
        return random(float{});
    case ref::precision::q8:
        return random(ref::quantised{});
    case ref::precision::bf16:
    case ref::precision::native:
    case ref::precision::automatic:
        break;
    }
    return random(ref::bf16_bits{});
}

void add_cases(std::vector<bench::timed_case>& cases, ref::transformer& t,
               const std::vector<std::int32_t>& prompt, std::size_t context) {
    cases.push_back({"plain read", [&t] { bench::read(t.weight_bytes(), *t.team()); }});
    for (const std::size_t n : {1U, 2U, 3U, 4U, 5U, 6U, 7U, 8U, 12U, 16U})
        cases.push_back({std::to_string(n) + " positions", [&t, &prompt, context, n] {
                             t.score({prompt.data(), n});
                             t.truncate(context);
                         }});
    for (const std::size_t n : {4U, 8U, 12U, 16U})
        cases.push_back({"tree of " + std::to_string(n), [&t, &prompt, context, n] {
                             std::vector<std::size_t> parents(n), path;
                             for (std::size_t i = 0; i < n; ++i)
                                 parents[i] = i == 0 ? specdec::tree_root : (i - 1) / 2;
                             for (std::size_t i = 0; i < n; i = 2 * i + 1)
                                 path.push_back(i);
                             const ref::sequence_part tree{0, {prompt.data(), n}, parents};
                             t.score({&tree, 1});
                             t.keep_path(path);
                             t.truncate(context);
                         }});
    if (t.sequences() < most_sequences)
        return;
    for (const auto& [sequences, n] : {std::pair{4U, 1U}, {8U, 1U}, {16U, 1U}, {8U, 2U}})
        cases.push_back({std::to_string(sequences) + " x " + std::to_string(n),
                         [&t, &prompt, context, sequences, n] {
                             std::vector<ref::sequence_part> parts;
                             for (std::size_t s = 0; s < sequences; ++s)
                                 parts.push_back({s, {prompt.data(), n}});
                             t.score(parts);
                             for (std::size_t s = 0; s < sequences; ++s)
                                 t.truncate(context, s);
                         }});
}

struct questions {
    std::vector<ref::precision> precisions;
    std::vector<ref::cache_type> caches;
    std::vector<std::size_t> contexts;
    bool all_kernels = false;
    int repetitions = 15;
};

std::deque<ref::transformer> make_all(const questions& asked, const std::string& path,
                                      ref::load_options options) {
    std::deque<ref::transformer> models; // whose addresses stay
    for (const ref::precision p : asked.precisions) {
        options.number_format = p;
        options.context.instructions = ref::best_isa();
        options.context.cache = asked.caches.front();
        models.push_back(make(path, options));
        options.context.team = models.front().team();
        const ref::transformer& whole = models.back();
        for (std::size_t i = 1; i < asked.caches.size(); ++i) {
            options.context.cache = asked.caches[i];
            models.push_back(whole.another_context(options.context));
        }
        for (int i = static_cast<int>(ref::best_isa()) - 1; asked.all_kernels && i >= 0; --i) {
            options.context.instructions = static_cast<ref::isa>(i);
            ref::transformer next = models.back().another_context(options.context);
            if (next.kernel_name() != models.back().kernel_name())
                models.push_back(std::move(next));
        }
    }
    return models;
}

void run(std::deque<ref::transformer>& models, std::size_t context, int repetitions) {
    std::vector<std::int32_t> prompt(std::max<std::size_t>(context, 16));
    for (std::size_t i = 0; i < prompt.size(); ++i)
        prompt[i] = static_cast<std::int32_t>(i * 7 % models.front().config().vocabulary_size);
    std::vector<bench::timed_case> cases;
    for (ref::transformer& t : models) {
        for (std::size_t s = 0; s < t.sequences(); ++s) {
            const std::span<const std::int32_t> all(prompt.data(), context);
            t.append(all.subspan(t.size(s)), s);
        }
        add_cases(cases, t, prompt, context);
    }
    bool in_cache = false;
    for (const ref::transformer& t : models)
        in_cache = in_cache || t.forward_bytes() < cache_bytes;
    bench::take_turns(cases, repetitions, in_cache);

    const std::size_t each = cases.size() / models.size();
    for (std::size_t m = 0; m < models.size(); ++m) {
        const ref::transformer& t = models[m];
        std::printf(
            "%zu parameters, %s, %s, cache %s, %zu threads, context %zu, %.1f MB of weights "
            "a pass\n",
            t.parameters(), std::string(t.weights_name()).c_str(),
            std::string(t.kernel_name()).c_str(), std::string(t.cache_name()).c_str(), t.threads(),
            context, static_cast<double>(t.forward_bytes()) * 1e-6);
        std::printf("%-12s %10s %10s %10s%s\n", "", "ms", "/ read", "/ one",
                    m > 0 ? "   / the first's one" : "");
        for (std::size_t i = m * each; i < (m + 1) * each; ++i) {
            const bench::timed_case& c = cases[i];
            std::printf("%-12s %10.3f %10.2f %10.2f", c.name.c_str(), 1e3 * c.seconds,
                        c.seconds / cases[m * each].seconds,
                        c.seconds / cases[m * each + 1].seconds);
            if (m > 0)
                std::printf(" %10.2f", c.seconds / cases[1].seconds);
            std::printf("\n");
        }
    }
    std::fflush(stdout);
}

/// use(part) for each part of a list with commas.
template <class Use>
void for_parts(const std::string& list, const Use& use) {
    std::istringstream all(list);
    for (std::string one; std::getline(all, one, ',');)
        use(one);
}

} // namespace

int main(int argc, char** argv) {
    ref::load_options options;
    options.context.threads = 2;
    questions asked;
    std::string path, precisions = "bf16", caches = "auto", contexts = "64";
    for (int i = 1; i < argc; ++i) {
        const std::string flag = argv[i];
        const auto value = [&] { return std::string(i + 1 < argc ? argv[++i] : ""); };
        const auto number = [&] { return std::strtoul(value().c_str(), nullptr, 10); };
        if (flag == "--threads")
            options.context.threads = number();
        else if (flag == "--contexts" || flag == "--context")
            contexts = value();
        else if (flag == "--cache-type")
            caches = value();
        else if (flag == "--repetitions")
            asked.repetitions = static_cast<int>(number());
        else if (flag == "--f32")
            precisions = "f32";
        else if (flag == "--precision")
            precisions = value();
        else if (flag == "--kernels")
            asked.all_kernels = value() == "all";
        else
            path = flag;
    }
    try {
        for_parts(precisions, [&](const std::string& one) {
            asked.precisions.push_back(ref::precision_named(one));
        });
        for_parts(caches, [&](const std::string& one) {
            asked.caches.push_back(ref::cache_type_named(one));
        });
        for_parts(contexts, [&](const std::string& one) {
            asked.contexts.push_back(std::strtoul(one.c_str(), nullptr, 10));
        });
        std::sort(asked.contexts.begin(), asked.contexts.end());
        options.context.capacity = asked.contexts.back() + 64;
        options.context.sequences =
            asked.contexts.back() <= side_by_side_up_to ? most_sequences : 1;
        std::deque<ref::transformer> models = make_all(asked, path, options);
        for (const std::size_t context : asked.contexts)
            run(models, context, asked.repetitions);
    } catch (const std::exception& problem) {
        std::fprintf(stderr, "%s\n", problem.what());
        return 1;
    }
}
