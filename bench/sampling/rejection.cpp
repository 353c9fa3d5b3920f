// SPDX-License-Identifier: MIT
// Question: what does a rejection step cost (target row not seen before, draft law known from
// drafting, proposal rejected, replacement drawn), in reads of the target row and against the
// textbook form? `total_variation`: between target and draft.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
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

struct scene : bench::row_scene {
    explicit scene(std::size_t vocabulary) : row_scene(vocabulary), p(vocabulary), q(vocabulary) {
        for (std::size_t r = 0; r < rows.rows(); ++r)
            drafts.emplace_back(logits_row<target_id>{rows.draft(r)});
    }
    [[nodiscard]] softmax_law<target_id> target(std::size_t r) const {
        return softmax_law(logits_row<target_id>{rows.target(r)});
    }

    philox_coin coin{1};
    std::uint64_t position = 0;
    std::vector<softmax_law<target_id>> drafts; ///< made when drafting, not part of the step
    std::vector<float> p, q;
};

auto step(std::uint32_t attempts) {
    return [attempts](scene& s, std::size_t r) {
        return draw_residual(s.target(r), s.drafts[r], s.coin, ++s.position, {attempts});
    };
}

std::size_t naive_step(scene& s, std::size_t r) {
    naive_softmax(s.rows.target(r), s.p);
    naive_softmax(s.rows.draft(r), s.q);
    float mass = 0;
    for (std::size_t i = 0; i < s.p.size(); ++i)
        mass += s.p[i] = std::max(s.p[i] - s.q[i], 0.0F);
    for (float& value : s.p)
        value /= mass;
    float left = static_cast<float>(s.coin.uniform({++s.position}));
    std::size_t i = 0;
    while (i + 1 < s.p.size() && (left -= s.p[i]) >= 0)
        ++i;
    return i;
}

const bench::registration here([] {
    for (const std::size_t vocabulary : {32000UL, 128256UL, 256000UL}) {
        bench::question<scene> rejection("rejection/vocabulary:" + std::to_string(vocabulary), {},
                                         vocabulary);
        bench::add_plain_read(rejection);
        bench::add_of_row(rejection, "thinning", step(32));
        bench::add_of_row(rejection, "exact_residual_law", step(0), 2);
        bench::add_of_row(rejection, "naive", naive_step, 1);
        rejection.count([](scene& s, std::size_t, const auto&) -> benchmark::UserCounters {
            double variation = 0;
            for (std::size_t r = 0; r < 8; ++r)
                variation += residual_law(s.target(r), s.drafts[r]).mass() / 8;
            return {{"total_variation", variation}};
        });
    }
});

} // namespace
