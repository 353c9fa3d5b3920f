// SPDX-License-Identifier: MIT
// Descends the losses of papers for those parts of a drafter that no learner here trains: a routed
// head's router, several exits, features. Prints each loss before and after, and a bound that it
// cannot go below.
//
//     paper_losses --steps 500 --seed 1
//
// What is trained here are the numbers themselves, random at first. A training of a network hands
// the same gradients to its reverse pass.
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <random>
#include <span>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "papers/exit_loss.hpp"
#include "papers/feature_loss.hpp"
#include "papers/router_loss.hpp"
#include "support/program/program.hpp"
#include <specdec/sampling/law/softmax_law.hpp>

namespace {

using namespace specdec;

constexpr std::size_t vocabulary = 12, groups = 3, exits = 3;
constexpr std::size_t steps_of_text = 2, positions = 4, width = 16; // of features

std::vector<float> random_numbers(std::mt19937& random, std::size_t size) {
    std::normal_distribution<float> normal;
    std::vector<float> numbers(size);
    for (float& x : numbers)
        x = normal(random);
    return numbers;
}

/// Takes x down the gradient of loss(x, gradient) and prints what comes of it.
template <class Loss>
void descend(const char* name, std::vector<float> x, unsigned steps, float rate, double bound,
             Loss&& loss) {
    std::vector<float> gradient(x.size());
    const double before = loss(x, gradient);
    for (unsigned i = 0; i < steps; ++i) {
        loss(x, gradient);
        for (std::size_t k = 0; k < x.size(); ++k)
            x[k] -= rate * gradient[k];
    }
    std::printf("%-16s %9.4f %9.4f %9.4f\n", name, before, loss(x, gradient), bound);
}

void descend_all(unsigned steps, unsigned seed) {
    std::mt19937 random(seed);
    std::printf("%-16s %9s %9s %9s\n", "loss", "before", "after", "bound");

    // The router learns how much of the target's law lies in each group: the entropy of that is
    // left.
    const std::vector<float> target_row = random_numbers(random, vocabulary);
    const auto p = make_law(logits_row<target_id>{target_row}, {});
    const auto parts = token_groups<draft_id>::equal_parts(vocabulary, groups);
    double entropy = 0;
    for (std::size_t g = 0; g < groups; ++g) {
        double mass = 0;
        for (const draft_id d : parts[g])
            mass += p.probability(id_at<target_id>(d.index()));
        entropy -= mass * std::log(mass);
    }
    descend("router_loss", random_numbers(random, groups), steps, 1, entropy,
            [&](std::span<const float> route, std::span<float> gradient) {
                return papers::router_loss(p, parts, route, gradient);
            });

    // The logits of each exit learn the text's next token.
    descend("exit_loss", random_numbers(random, exits * vocabulary), steps, exits, 0,
            [&](std::span<const float> rows, std::span<float> gradient) {
                return papers::exit_loss(
                    logits_rows<draft_id>(rows.data(), exits, vocabulary, vocabulary), gradient,
                    [](logits_row<draft_id> z, std::span<float> dz, double weight) {
                        return nll_loss(row_softmax(z), draft_id{0}, dz, weight);
                    });
            });

    // Features learn the target's: by their numbers, then by their directions.
    const std::vector<float> wanted = random_numbers(random, positions * width);
    descend("regression_loss", random_numbers(random, wanted.size()), steps,
            static_cast<float>(wanted.size()) / 2, 0,
            [&](std::span<const float> made, std::span<float> gradient) {
                return papers::regression_loss(made, wanted, gradient);
            });
    std::vector<float> views;
    // Where all else is far away, each of a position's n others has 1 / n: log n is left.
    descend("alignment_loss", random_numbers(random, steps_of_text * wanted.size()), steps, 0.2F,
            std::log(static_cast<double>(steps_of_text)),
            [&](std::span<const float> made, std::span<float> gradient) {
                views.assign(made.begin(), made.end());
                views.insert(views.end(), wanted.begin(), wanted.end());
                return papers::alignment_loss(views, positions, width, gradient);
            });
}

} // namespace

int main(int argc, char** argv) {
    CLI::App app("Descends the losses of papers for which there is no learner here.",
                 "paper_losses");
    unsigned steps = 500, seed = 1;
    app.add_option("--steps", steps, "of gradient descent, at most 100000")
        ->check(CLI::Range(0, 100'000))
        ->capture_default_str();
    app.add_option("--seed", seed, "of the random numbers that it begins with")
        ->capture_default_str();
    return examples::run_program(app, argc, argv, [&] { descend_all(steps, seed); });
}
