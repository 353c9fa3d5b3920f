// SPDX-License-Identifier: MIT
// Question: what do 1 to 16 positions of one sequence in one pass cost, as many nodes of a tree
// (each with two children, level by level, a path of which is kept), and one or two positions of
// each of several sequences, in plain reads of the weights (`reads`) and in passes of one position
// (`ones`); and in which precision, with which kernel, in which numbers of the cache and behind how
// long a context are they fast?
//     bench_engine_scoring [--threads N] [--contexts LIST] [--repetitions N]
//                          [--f32 | --precision LIST] [--kernels all] [--cache-type LIST] [PATH]
// LIST: f32, bf16, native, q8, auto, with commas: all of them take turns, one model each, and every
// time is told in that of the first one's single position, too (`first_ones`). `--kernels all`:
// each with every kernel that this CPU has. `--cache-type f32,bf16,q8`: each with every one of
// them. Without PATH: random weights of SmolLM2's shape, f32, bf16 or q8.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <memory>
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

struct questions {
    std::vector<ref::precision> precisions;
    std::vector<ref::cache_type> caches;
    std::vector<std::size_t> contexts;
    bool all_kernels = false;
    std::size_t repetitions = 15;
};

/// Models that take turns, and what tells their benchmarks apart.
struct models {
    std::deque<ref::transformer> all; // whose addresses stay
    std::vector<std::string> names;
};

models make_all(const questions& asked, const std::string& path, ref::load_options options) {
    models made;
    for (const ref::precision p : asked.precisions) {
        const auto add = [&](ref::transformer&& t) {
            made.names.push_back(std::string(name(p)) + "/" + std::string(t.kernel_name()) +
                                 "/cache:" + std::string(t.cache_name()) + "/");
            made.all.push_back(std::move(t));
        };
        options.number_format = p;
        options.context.instructions = ref::best_isa();
        options.context.cache = asked.caches.front();
        add(make(path, options));
        options.context.team = made.all.front().team();
        const ref::transformer& whole = made.all.back();
        for (std::size_t i = 1; i < asked.caches.size(); ++i) {
            options.context.cache = asked.caches[i];
            add(whole.another_context(options.context));
        }
        for (int i = static_cast<int>(ref::best_isa()) - 1; asked.all_kernels && i >= 0; --i) {
            options.context.instructions = static_cast<ref::isa>(i);
            ref::transformer next = made.all.back().another_context(options.context);
            if (next.kernel_name() != made.all.back().kernel_name())
                add(std::move(next));
        }
    }
    return made;
}

/// All models with the tokens of a context in every sequence.
struct scene {
    scene(const std::shared_ptr<models>& those, std::size_t tokens)
        : of(those), context(tokens), prompt(std::max<std::size_t>(tokens, 16)) {
        for (std::size_t i = 0; i < prompt.size(); ++i)
            prompt[i] = static_cast<std::int32_t>(i * 7 % of->all.front().config().vocabulary_size);
        for (ref::transformer& t : of->all)
            for (std::size_t s = 0; s < t.sequences(); ++s) {
                const std::span<const std::int32_t> all(prompt.data(), context);
                if (t.size(s) > context)
                    t.truncate(context, s);
                if (t.size(s) < context)
                    t.append(all.subspan(t.size(s)), s);
            }
    }

    std::shared_ptr<models> of;
    std::size_t context;
    std::vector<std::int32_t> prompt;
};

void score_positions(scene& s, ref::transformer& t, std::size_t n) {
    t.score({s.prompt.data(), n});
    t.truncate(s.context);
}

void score_tree(scene& s, ref::transformer& t, std::size_t n) {
    std::vector<std::size_t> parents(n), path;
    for (std::size_t i = 0; i < n; ++i)
        parents[i] = i == 0 ? specdec::tree_root : (i - 1) / 2;
    for (std::size_t i = 0; i < n; i = 2 * i + 1)
        path.push_back(i);
    const ref::sequence_part tree{0, {s.prompt.data(), n}, parents};
    t.score({&tree, 1});
    t.keep_path(path);
    t.truncate(s.context);
}

void score_sequences(scene& s, ref::transformer& t, std::size_t sequences, std::size_t n) {
    std::vector<ref::sequence_part> parts;
    for (std::size_t q = 0; q < sequences; ++q)
        parts.push_back({q, {s.prompt.data(), n}});
    t.score(parts);
    for (std::size_t q = 0; q < sequences; ++q)
        t.truncate(s.context, q);
}

/// The cases of the m-th model.
void add_cases(bench::question<scene>& to, const ref::transformer& t, const std::string& of_model,
               std::size_t m, bool warm) {
    const std::size_t read = to.size();
    const std::string label = std::to_string(t.parameters()) + " parameters, " +
                              std::string(t.weights_name()) + ", " + std::to_string(t.threads()) +
                              " threads";
    const auto add = [&](const std::string& what, std::size_t positions, auto work) {
        const auto on_model = [m, work](scene& s) { work(s, s.of->all[m]); };
        auto& added = to.add(of_model + what, on_model);
        if (warm)
            added.before = on_model;
        added.label = label;
        added.ratios = {{"reads", read}, {"ones", read + 1}};
        if (m > 0)
            added.ratios.emplace_back("first_ones", 1);
        const auto rate = [](double n) {
            return benchmark::Counter(n, benchmark::Counter::kIsRate);
        };
        if (positions > 0)
            added.counters = {{"positions", rate(static_cast<double>(positions))}};
        else
            added.counters = {{"bytes", rate(static_cast<double>(t.weight_bytes().size()))}};
    };
    add("plain_read", 0,
        [](scene&, ref::transformer& of) { bench::read(of.weight_bytes(), *of.team()); });
    for (const std::size_t n : {1U, 2U, 3U, 4U, 5U, 6U, 7U, 8U, 12U, 16U})
        add("positions:" + std::to_string(n), n,
            [n](scene& s, ref::transformer& of) { score_positions(s, of, n); });
    for (const std::size_t n : {4U, 8U, 12U, 16U})
        add("tree:" + std::to_string(n), n,
            [n](scene& s, ref::transformer& of) { score_tree(s, of, n); });
    if (t.sequences() < most_sequences)
        return;
    for (const auto& [sequences, n] : {std::pair{4U, 1U}, {8U, 1U}, {16U, 1U}, {8U, 2U}})
        add("sequences:" + std::to_string(sequences) + "x" + std::to_string(n),
            std::size_t{sequences} * n,
            [sequences = sequences, n = n](scene& s, ref::transformer& of) {
                score_sequences(s, of, sequences, n);
            });
}

/// use(part) for each part of a list with commas.
template <class Use>
void for_parts(const std::string& list, const Use& use) {
    std::istringstream all(list);
    for (std::string one; std::getline(all, one, ',');)
        use(one);
}

const bench::registration here([] {
    bench::words& line = bench::command_line();
    ref::load_options options;
    options.context.threads = line.number("--threads", 2);
    questions asked;
    asked.all_kernels = line.text("--kernels", "") == "all";
    asked.repetitions = line.number("--repetitions", 15);
    const std::string contexts = line.text("--contexts", line.text("--context", "64"));
    for_parts(
        line.text("--precision", line.given("--f32") ? "f32" : "bf16"),
        [&](const std::string& one) { asked.precisions.push_back(ref::precision_named(one)); });
    for_parts(line.text("--cache-type", "auto"),
              [&](const std::string& one) { asked.caches.push_back(ref::cache_type_named(one)); });
    for_parts(contexts, [&](const std::string& one) {
        asked.contexts.push_back(std::strtoul(one.c_str(), nullptr, 10));
    });
    std::sort(asked.contexts.begin(), asked.contexts.end());
    options.context.capacity = asked.contexts.back() + 64;
    options.context.sequences = asked.contexts.back() <= side_by_side_up_to ? most_sequences : 1;
    const std::vector<std::string> paths = line.paths();
    const auto made =
        std::make_shared<models>(make_all(asked, paths.empty() ? "" : paths.front(), options));

    bool in_cache = false;
    for (const ref::transformer& t : made->all)
        in_cache = in_cache || t.forward_bytes() < cache_bytes;
    for (const std::size_t context : asked.contexts) {
        bench::question<scene> scoring(
            "scoring/context:" + std::to_string(context),
            {.repetitions = asked.repetitions, .unit = benchmark::kMillisecond}, made, context);
        for (std::size_t m = 0; m < made->all.size(); ++m)
            add_cases(scoring, made->all[m], made->names[m], m, in_cache);
    }
});

} // namespace
