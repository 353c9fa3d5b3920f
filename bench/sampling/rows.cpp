// SPDX-License-Identifier: MIT
// Question: how close do the readers of one row of logits come to a plain read of it?
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <specdec/sampling/coin/philox_coin.hpp>
#include <specdec/sampling/law/draw.hpp>
#include <specdec/sampling/law/softmax_law.hpp>

#include "arena.hpp"

using namespace specdec;

namespace {

double naive_log_sum_exp(std::span<const float> row) {
    float maximum = row[0];
    for (const float logit : row)
        maximum = std::max(maximum, logit);
    float sum = 0;
    for (const float logit : row)
        sum += std::exp(logit - maximum);
    return static_cast<double>(maximum + std::log(sum));
}

struct scene : bench::row_scene {
    using row_scene::row_scene;

    philox_coin coin{1};
    std::uint64_t position = 0;
    std::vector<target_id> ids = std::vector<target_id>(64);

    [[nodiscard]] logits_row<target_id> logits(std::size_t r) const { return {rows.target(r)}; }
};

auto sample(const sampling_parameters& parameters) {
    return [parameters](scene& s, std::size_t r) {
        return s.coin.pick({++s.position}, make_law(s.logits(r), parameters));
    };
}

const bench::registration here([] {
    for (const std::size_t vocabulary : {32000UL, 128256UL, 256000UL}) {
        bench::question<scene> rows("rows/vocabulary:" + std::to_string(vocabulary), {},
                                    vocabulary);
        const auto add = [&](const std::string& name, auto run, std::size_t calls = 24) {
            bench::add_of_row(rows, name, run, calls);
        };
        bench::add_plain_read(rows);
        add("argmax", [](scene& s, std::size_t r) { return argmax(s.logits(r)); });
        add("temperature_0", sample({.temperature = 0}));
        add("log_sum_exp",
            [](scene& s, std::size_t r) { return make_law(s.logits(r), {}).log_sum_exp(); });
        add("sample", sample({}));
        add("sample_temperature_0.3", sample({.temperature = 0.3F}));
        add("sample_top_k_40", sample({.top_k = 40}));
        add("sample_top_p_0.95", sample({.top_p = 0.95F}), 2);
        add("sample_min_p_0.05", sample({.min_p = 0.05F}));
        for (const std::size_t count : {8UL, 64UL})
            add("top_" + std::to_string(count) + "_ids", [count](scene& s, std::size_t r) {
                return top_ids(s.logits(r), std::span(s.ids).first(count));
            });
        add(
            "naive_log_sum_exp",
            [](scene& s, std::size_t r) { return naive_log_sum_exp(s.rows.target(r)); }, 1);
    }
});

} // namespace
