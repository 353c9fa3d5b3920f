// SPDX-License-Identifier: MIT
// What does a rejection step cost (target row not seen before, draft law known from drafting,
// proposal rejected, replacement drawn), in reads of the target row and against the textbook form?
#include <cmath>
#include <vector>

#include <specdec/sampling/coin/philox_coin.hpp>
#include <specdec/sampling/law/softmax_law.hpp>
#include <specdec/sampling/residual.hpp>

#include "arena.hpp"

using namespace specdec;

namespace {

void naive_softmax(std::span<const float> row, std::vector<float>& p) {
    const float maximum = *std::max_element(row.begin(), row.end());
    float sum = 0;
    for (std::size_t i = 0; i < row.size(); ++i)
        sum += p[i] = std::exp(row[i] - maximum);
    for (float& value : p)
        value /= sum;
}

} // namespace

int main() {
    for (const std::size_t vocabulary : {32000UL, 128256UL, 256000UL}) {
        const bench::arena rows(vocabulary);
        const philox_coin coin(1);
        std::uint64_t position = 0;
        const auto target = [&](std::size_t r) { return logits_row<target_id>{rows.target(r)}; };
        std::vector<softmax_law<target_id>> drafts; // made when drafting, not part of the step
        for (std::size_t r = 0; r < rows.rows(); ++r)
            drafts.emplace_back(logits_row<target_id>{rows.draft(r)});
        const auto step = [&](std::uint32_t attempts) {
            return [&, attempts](std::size_t r) {
                const softmax_law p(target(r));
                return static_cast<double>(
                    draw_residual(p, drafts[r], coin, ++position, {attempts}).value);
            };
        };
        std::vector<float> p(vocabulary), q(vocabulary);
        bench::table table(rows.rows());
        table.add("plain read of the target row",
                  [&](std::size_t r) { return bench::plain_read(rows.target(r)); });
        table.add("thinning", step(32));
        table.add("exact residual law", step(0), 2);
        table.add(
            "naive: softmax, subtract, scan",
            [&](std::size_t r) {
                naive_softmax(rows.target(r), p);
                naive_softmax(rows.draft(r), q);
                float mass = 0;
                for (std::size_t i = 0; i < p.size(); ++i)
                    mass += p[i] = std::max(p[i] - q[i], 0.0F);
                for (float& value : p)
                    value /= mass;
                float left = static_cast<float>(coin.uniform({++position}));
                std::size_t i = 0;
                while (i + 1 < p.size() && (left -= p[i]) >= 0)
                    ++i;
                return static_cast<double>(i);
            },
            1);
        double variation = 0;
        for (std::size_t r = 0; r < 8; ++r)
            variation += residual_law(softmax_law(target(r)), drafts[r]).mass() / 8;
        table.print(
            ("V = " + std::to_string(vocabulary) + ", total variation " + std::to_string(variation))
                .c_str());
        std::printf("naive / thinning, cold: %.1f\n\n", table.cold(3) / table.cold(1));
    }
}
