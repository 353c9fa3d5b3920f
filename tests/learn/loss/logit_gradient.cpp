// SPDX-License-Identifier: MIT
#include <specdec/learn/loss/logit_gradient.hpp>

#include <limits>
#include <vector>

#include "learn/loss_toys.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace logit_gradient_tests {

TEST_CASE("the chain rule of the softmax, for any derivatives in log q") {
    require_holds([] {
        const loss_toy toy = *loss_toys();
        const double temperature = *loss_temperatures();
        const row_softmax q({toy.z}, temperature);
        std::vector<float> out(toy.draft(), 77); // overwritten
        logit_gradient gradient(q, out);
        std::vector<double> w(toy.draft());
        for (std::size_t i = 0; i < w.size(); ++i)
            if (toy.z[i] != forbidden) {
                w[i] = static_cast<double>(*any_in(0, 6)) / 2 - 1;
                gradient.add(id_at<draft_id>(i), w[i] / 2);
                gradient.add(id_at<draft_id>(i), w[i] / 2); // adds up
            }
        gradient.finish(3);
        RC_ASSERT(gradient_error(
                      [&](const row_of_doubles& z) {
                          const auto p = plain_softmax(z, temperature);
                          long double sum = 0;
                          for (std::size_t i = 0; i < z.size(); ++i)
                              if (w[i] != 0)
                                  sum += 3 * w[i] * std::log(p[i]);
                          return sum;
                      },
                      toy.z, out) == "");
    });
}

TEST_CASE("spans that do not fit, and weights that are no numbers, are refused") {
    std::vector<float> z(8, 0), small(7), out(8);
    const row_softmax q({z});
    CHECK_THROWS_WITH(logit_gradient(q, small), Catch::Contains("gradient: size"));
    CHECK_THROWS_WITH(logit_gradient(q, z), Catch::Contains("gradient: memory"));
    std::vector<float> both(12, 0);
    const row_softmax front({std::span(both).first(8)});
    CHECK_THROWS_WITH(logit_gradient(front, std::span(both).subspan(4)),
                      Catch::Contains("gradient: memory"));
    const row_softmax back({std::span(both).subspan(4)});
    CHECK_THROWS_WITH(logit_gradient(back, std::span(both).first(8)),
                      Catch::Contains("gradient: memory"));
    CHECK_NOTHROW(
        logit_gradient(row_softmax({std::span(both).first(6)}), std::span(both).subspan(6)));
    for (const double scale :
         {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
        logit_gradient gradient(q, out);
        CHECK_THROWS_WITH(gradient.finish(scale), Catch::Contains("gradient: weight"));
    }
}

} // namespace logit_gradient_tests
