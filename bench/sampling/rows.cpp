// SPDX-License-Identifier: MIT
// How close do the readers of one row of logits come to a plain read of it?
#include <cmath>
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

double number(target_id id) {
    return static_cast<double>(id.value);
}

} // namespace

int main() {
    for (const std::size_t vocabulary : {32000UL, 128256UL, 256000UL}) {
        const bench::arena rows(vocabulary);
        const philox_coin coin(1);
        std::uint64_t position = 0;
        std::vector<target_id> ids(64);
        const auto logits = [&](std::size_t r) { return logits_row<target_id>{rows.target(r)}; };
        const auto law_line = [&](const sampling_parameters& parameters) {
            return [&, parameters](std::size_t r) {
                return number(coin.pick({++position}, make_law(logits(r), parameters)));
            };
        };
        bench::table table(rows.rows());
        table.add("plain read", [&](std::size_t r) { return bench::plain_read(rows.target(r)); });
        table.add("argmax", [&](std::size_t r) { return number(argmax(logits(r))); });
        table.add("temperature 0", law_line({.temperature = 0}));
        table.add("log-sum-exp (softmax_law)",
                  [&](std::size_t r) { return make_law(logits(r), {}).log_sum_exp(); });
        table.add("sample", law_line({}));
        table.add("sample, temperature 0.3", law_line({.temperature = 0.3F}));
        table.add("sample, top_k 40", law_line({.top_k = 40}));
        table.add("sample, top_p 0.95", law_line({.top_p = 0.95F}), 2);
        table.add("sample, min_p 0.05", law_line({.min_p = 0.05F}));
        for (const std::size_t count : {8UL, 64UL})
            table.add("top " + std::to_string(count) + " ids", [&, count](std::size_t r) {
                return static_cast<double>(top_ids(logits(r), std::span(ids).first(count)));
            });
        table.add(
            "naive log-sum-exp", [&](std::size_t r) { return naive_log_sum_exp(rows.target(r)); },
            1);
        table.print(("V = " + std::to_string(vocabulary)).c_str());
    }
}
