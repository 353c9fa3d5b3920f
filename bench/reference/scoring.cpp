// SPDX-License-Identifier: MIT
// Question: what do 1 to 12 positions of one sequence in one pass cost, and one or two positions of
// each of several, in plain reads of the weights and in passes of one position?
// bench_reference_scoring [--threads N] [--context N] [--f32] [--repetitions N] [PATH]
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "support.hpp"
#include <specdec/reference/load.hpp>

namespace ref = specdec::reference;

int main(int argc, char** argv) {
    ref::load_options options;
    options.context.threads = 2;
    std::size_t context = 64;
    int repetitions = 15;
    std::string path;
    for (int i = 1; i < argc; ++i) {
        const std::string flag = argv[i];
        const auto number = [&] { return i + 1 < argc ? std::strtoul(argv[++i], nullptr, 10) : 0; };
        if (flag == "--threads")
            options.context.threads = number();
        else if (flag == "--context")
            context = number();
        else if (flag == "--repetitions")
            repetitions = static_cast<int>(number());
        else if (flag == "--f32")
            options.number_format = ref::precision::f32;
        else
            path = flag;
    }
    constexpr std::size_t most_sequences = 8;
    options.context.capacity = context + 64;
    options.context.sequences = most_sequences;
    const bool full = options.number_format == ref::precision::f32;
    ref::transformer t =
        !path.empty() ? ref::load_transformer(path, options)
        : full        ? ref::transformer(bench::random_weights<float>(bench::smollm2_shape()),
                                         options.context)
               : ref::transformer(bench::random_weights<ref::bf16_bits>(bench::smollm2_shape()),
                                  options.context);

    std::vector<std::int32_t> prompt(context);
    for (std::size_t i = 0; i < context; ++i)
        prompt[i] = static_cast<std::int32_t>(i * 7 % t.config().vocabulary_size);
    for (std::size_t s = 0; s < most_sequences; ++s)
        t.append(prompt, s);

    std::vector<bench::timed_case> cases;
    cases.push_back({"plain read", [&] { bench::read(t.weight_bytes(), *t.team()); }});
    for (const std::size_t n : {1U, 2U, 3U, 4U, 5U, 6U, 7U, 8U, 12U})
        cases.push_back({std::to_string(n) + " positions", [&t, &prompt, context, n] {
                             t.score({prompt.data(), n});
                             t.truncate(context);
                         }});
    for (const auto& [sequences, n] : {std::pair{4U, 1U}, {8U, 1U}, {8U, 2U}})
        cases.push_back({std::to_string(sequences) + " x " + std::to_string(n),
                         [&t, &prompt, context, sequences, n] {
                             std::vector<ref::sequence_part> parts;
                             for (std::size_t s = 0; s < sequences; ++s)
                                 parts.push_back({s, {prompt.data(), n}});
                             t.score(parts);
                             for (std::size_t s = 0; s < sequences; ++s)
                                 t.truncate(context, s);
                         }});
    bench::take_turns(cases, repetitions);

    std::printf("%zu parameters, %s, %s, %zu threads, context %zu, %.1f MB of weights a pass\n",
                t.parameters(), std::string(name(t.number_format())).c_str(),
                std::string(t.kernel_name()).c_str(), t.threads(), context,
                static_cast<double>(t.forward_bytes()) * 1e-6);
    std::printf("%-12s %10s %10s %10s\n", "", "ms", "/ read", "/ one");
    for (const bench::timed_case& c : cases)
        std::printf("%-12s %10.3f %10.2f %10.2f\n", c.name.c_str(), 1e3 * c.seconds,
                    c.seconds / cases[0].seconds, c.seconds / cases[1].seconds);
}
