// SPDX-License-Identifier: MIT
//
// Laws as a compiler's flags make them: compiled with each set of them (see CMakeLists.txt), it
// succeeds where every number is what the documentation promises. No test library: a second each.
#include <cmath>
#include <cstdio>
#include <map>
#include <span>
#include <stdexcept>
#include <vector>

#include <specdec/core/proposal.hpp>
#include <specdec/sampling/coin/exponential_race.hpp>
#include <specdec/sampling/law/row_spread.hpp>
#include <specdec/sampling/law/softmax_law.hpp>
#include <specdec/sampling/residual.hpp>
#include <specdec/verify/token_rejection.hpp>

#include "support/enumeration/enumerate.hpp"
#include "support/enumeration/interval_coin.hpp"

using namespace specdec;

namespace {

using law = softmax_law<target_id>;

int wrong = 0;
void expect(bool holds, const char* what) {
    if (!holds)
        std::printf("wrong: %s\n", what);
    wrong += holds ? 0 : 1;
}

bool near(double a, double b, double within) {
    return std::fabs(a - b) <= within * std::fabs(b);
}

template <class F>
bool refused(F&& f) {
    try {
        f();
    } catch (const std::runtime_error&) {
        return true;
    }
    return false;
}

std::vector<float> row_of(std::size_t n, float height) {
    std::vector<float> row(n);
    for (std::size_t i = 0; i < n; ++i)
        row[i] = height * std::sin(0.37F * static_cast<float>(i));
    return row;
}

void weights_are_exponentials() {
    const std::vector<float> row = row_of(1003, 7);
    const auto e = row_kernels::make_exponent(7, row_kernels::make_scale(1));
    std::vector<const row_kernels::table*> tables{&row_kernels::portable::functions,
                                                  &row_kernels::best()};
    for (const row_kernels::table* t : tables) {
        std::vector<float> w(row.size());
        t->weigh(row.data(), w.data(), row.size(), e);
        double sum = 0;
        bool good = true;
        for (std::size_t i = 0; i < row.size(); ++i) {
            sum += static_cast<double>(w[i]);
            good = good &&
                   near(static_cast<double>(w[i]), std::exp(static_cast<double>(row[i]) - 7), 4e-6);
        }
        expect(good, "a weight");
        float most = 0;
        expect(near(t->sum(row.data(), row.size(), e, most), sum, 1e-13), "their sum");
    }
}

void laws_are_softmaxes() {
    for (const float height : {0.01F, 1.0F, 20.0F}) {
        std::vector<float> row = row_of(777, height);
        row[13] = -row_kernels::infinity;
        const law p{logits_row<target_id>{row}};
        double sum = 0, reached = 0;
        for (const float l : row)
            sum += std::exp(static_cast<double>(l));
        expect(near(p.log_sum_exp(), std::log(sum), 1e-6), "log_sum_exp");
        bool good = true;
        for (std::size_t i = 0; i < row.size(); ++i) {
            const target_id id = id_at<target_id>(i);
            const double q = p.probability(id);
            good = good && near(q, std::exp(static_cast<double>(row[i])) / sum, 1e-5);
            if (q > 1e-9)
                good = good && p.at(reached + q / 2) == id;
            reached += q;
        }
        expect(good, "a probability, or a draw of it");
        expect(near(reached, 1, 1e-12), "the sum of all");
        const row_spread spread(row, row_reading::entropy);
        double entropy = 0;
        for (const float l : row)
            if (l > -row_kernels::infinity)
                entropy -= std::exp(static_cast<double>(l)) / sum *
                           (static_cast<double>(l) - std::log(sum));
        expect(near(spread.entropy, entropy, 1e-5), "entropy");
    }
}

void zeros_of_both_signs_are_equal() {
    const std::vector<float> row{1, 0.0F, -0.0F, -1};
    for (const std::size_t k : {2U, 3U}) {
        const law p(logits_row<target_id>{row}, {.top_k = k});
        expect(near(p.probability(target_id{1}), p.probability(target_id{2}), 0), "top_k of zeros");
    }
    const law p(logits_row<target_id>{row}, {.top_p = 0.7F});
    expect(near(p.probability(target_id{1}), p.probability(target_id{2}), 0), "top_p of zeros");
}

void broken_rows_are_refused() {
    for (const float temperature : {0.0F, 1.0F})
        for (const float bad : {row_kernels::infinity, __builtin_nanf(""), -__builtin_nanf("")})
            for (const std::size_t at : {std::size_t{0}, std::size_t{130}, std::size_t{776}}) {
                std::vector<float> row = row_of(777, 3);
                row[at] = bad;
                expect(refused([&] {
                           (void)law(logits_row<target_id>{row}, {.temperature = temperature});
                       }),
                       "a row with NaN or +infinity");
            }
}

void races_are_won_by_the_first() {
    const std::vector<float> row = row_of(777, 3);
    const law p{logits_row<target_id>{row}};
    std::vector<std::uint32_t> keys(row.size());
    for (std::size_t i = 0; i < keys.size(); ++i)
        keys[i] = static_cast<std::uint32_t>(i + 1) * 0x9E3779B1U;
    for (std::uint64_t place = 1; place <= 50; ++place) {
        const race_noise noise({5, 0}, place);
        std::size_t first = 0;
        double least = 1e300;
        for (std::size_t i = 0; i < keys.size(); ++i)
            if (const double t = noise.exponential(keys[i]) / p.probability(id_at<target_id>(i));
                t < least) {
                first = i;
                least = t;
            }
        expect(race_winner(p, keys, noise) == id_at<target_id>(first), "a race");
    }
}

/// The law of the first token of a round with one proposal x ~ q is p.
void rejection_is_lossless() {
    constexpr token_rejection rule{.thinning = {1, 1}};
    const std::vector<float> target = row_of(4, 2), draft = row_of(4, -1);
    const law p{logits_row<target_id>{target}}, q{logits_row<target_id>{draft}};
    std::map<int, double> found;
    enumerate<interval_coin>([&](interval_coin& coin) {
        const proposal<law> x[] = {proposal<law>::draw(q, coin, {0, purpose::draft})};
        const auto law_at = [&](std::size_t) { return p; };
        const verdict v = rule(law_at, std::span<const proposal<law>>(x), coin, 0);
        found[(v.accepted > 0 ? x[0].token() : v.next).value] += coin.probability();
    });
    double off = 0;
    for (int t = 0; t < 4; ++t)
        off += std::fabs(found[t] - p.probability(target_id{t}));
    expect(off < 1e-12, "token rejection");
}

} // namespace

int main() {
    weights_are_exponentials();
    laws_are_softmaxes();
    zeros_of_both_signs_are_equal();
    broken_rows_are_refused();
    races_are_won_by_the_first();
    rejection_is_lossless();
    return wrong > 0 ? 1 : 0;
}
