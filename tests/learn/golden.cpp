// SPDX-License-Identifier: MIT
// Losses and gradients against torch's (tests/golden/losses.py).
#include <cstdlib>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include <specdec/learn/acceptance/acceptance_loss.hpp>
#include <specdec/learn/loss/exit_loss.hpp>
#include <specdec/learn/loss/forward_kl_loss.hpp>
#include <specdec/learn/loss/ngram_kl_loss.hpp>
#include <specdec/learn/loss/nll_loss.hpp>
#include <specdec/learn/loss/reverse_kl_loss.hpp>
#include <specdec/learn/loss/total_variation_loss.hpp>

#include "loss_toys.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace golden_tests {

using golden_case = std::map<std::string, std::vector<double>>;

std::vector<golden_case> read_cases() {
    std::ifstream in(SPECDEC_SOURCE_DIR "/tests/golden/losses.txt");
    std::vector<golden_case> cases;
    std::string name, number;
    std::size_t n = 0;
    while (in >> name >> n) {
        if (name == "case")
            cases.emplace_back();
        for (std::size_t i = 0; i < n && in >> number; ++i) // "-inf" is no number to a stream
            cases.back()[name].push_back(std::strtod(number.c_str(), nullptr));
    }
    return cases;
}

std::vector<float> narrowed(const std::vector<double>& row) {
    std::vector<float> out;
    for (const double value : row)
        out.push_back(static_cast<float>(value));
    return out;
}

id_map map_of(const std::vector<double>& to_target, std::size_t target) {
    std::vector<std::int32_t> forward, back(target, -1);
    for (const double t : to_target) {
        forward.push_back(static_cast<std::int32_t>(t));
        if (t >= 0)
            back[static_cast<std::size_t>(t)] = static_cast<std::int32_t>(forward.size()) - 1;
    }
    return {forward, back, 1, 2};
}

/// Largest differences seen, each as a share of the largest number.
double worst_value = 0, worst_gradient = 0;

void check(const std::vector<double>& golden, double value, std::span<const float> gradient) {
    REQUIRE(golden.size() == gradient.size() + 1);
    double largest = 0;
    for (std::size_t i = 1; i < golden.size(); ++i)
        largest = std::max(largest, std::abs(golden[i]));
    worst_value = std::max(worst_value, std::abs(value - golden[0]) / std::abs(golden[0]));
    for (std::size_t i = 0; i < gradient.size(); ++i)
        worst_gradient = std::max(
            worst_gradient, std::abs(static_cast<double>(gradient[i]) - golden[i + 1]) / largest);
}

TEST_CASE("losses and gradients are torch's") {
    constexpr double weight = 0.7;
    const auto cases = read_cases();
    REQUIRE(cases.size() == 5);
    for (const golden_case& golden : cases) {
        const double temperature = golden.at("case")[0];
        const auto target = narrowed(golden.at("target")), rows = narrowed(golden.at("rows"));
        const id_map map = map_of(golden.at("map"), target.size());
        const std::size_t size = map.draft_size();
        std::vector<draft_id> ids;
        for (const double d : golden.at("ids"))
            ids.push_back(draft_id{static_cast<std::int32_t>(d)});
        const logits_rows<draft_id> view(rows.data(), ids.size(), size, size);
        const auto p = make_law(logits_row<target_id>{target}, {});
        const shared_softmax q(view[0], map, temperature);
        std::vector<float> all(rows.size());
        const std::span<float> one = std::span(all).first(size);

        check(golden.at("forward"), forward_kl_loss(p, q, one, weight), one);
        check(golden.at("reverse"), reverse_kl_loss(p, q, one, weight, {1e-6}), one);
        check(golden.at("variation"), total_variation_loss(p, q, one, weight), one);
        check(golden.at("nll"), nll_loss(row_softmax(view[0], temperature), ids[0], one, weight),
              one);
        check(golden.at("ngram_nll"), ngram_nll_loss(view, ids, all, weight, temperature), all);
        check(golden.at("exits"),
              exit_loss(
                  view, all,
                  [](logits_row<draft_id> z, std::span<float> dz, double share) {
                      return nll_loss(row_softmax(z), draft_id{0}, dz, share);
                  },
                  weight),
              all);
        const target_id merged = id_at<target_id>(target.size() - 1);
        check(golden.at("ngram_kl"),
              ngram_kl_loss(p, merged, q, view.last(ids.size() - 1), ids, all, weight, {1e-6}),
              all);
        const auto head = narrowed(golden.at("head")), labels = narrowed(golden.at("labels"));
        std::vector<float> df(head.size());
        check(golden.at("acceptance"),
              acceptance_loss(head, labels, df, {weight * 0.5, weight * 6}), df);
    }
    CAPTURE(worst_value, worst_gradient);
    CHECK(worst_value < 1e-6); // softmax_law's own accuracy
    CHECK(worst_gradient < 1e-6);
}

} // namespace golden_tests
