// SPDX-License-Identifier: MIT
#include <specdec_engine/learn/panels/product_numbers.hpp>

#include <cmath>
#include <cstddef>
#include <vector>

#include <catch2/catch.hpp>

#include "learn/features/feature_samples.hpp"
#include "learn/taught.hpp"
#include "learn/toys.hpp"
#include <specdec_engine/learn/drafter_learner.hpp>
#include <specdec_engine/learn/features/feature_learner.hpp>

namespace product_numbers_tests {

using namespace specdec;
using namespace specdec::engine;

learner_settings with(product_numbers numbers, std::size_t threads = 1) {
    return {.loss = {.direct = direct_loss::forward_kl, .ngram = ngram_loss::none},
            .rate = 3e-3,
            .clip = 1e9,
            .sequences = 2,
            .length = 40,
            .threads = threads,
            .products = {numbers}};
}

/// The gradient of a first update, and the values behind three.
struct learnt {
    std::vector<float> gradient, values;
};
template <class Learner, class Sample>
learnt updates(Learner& learner, const std::vector<const Sample*>& both) {
    learnt found;
    CHECK(learner.learn(both).applied);
    found.gradient.assign(learner.gradient().begin(), learner.gradient().end());
    for (int i = 0; i < 2; ++i)
        (void)learner.learn(both);
    found.values.assign(learner.values().begin(), learner.values().end());
    return found;
}
learnt of_features(const learner_settings& s) {
    const std::vector<feature_sample> samples{feature_toys::some_sample(30, 1),
                                              feature_toys::some_sample(22, 2)};
    feature_learner learner(feature_toys::some_body<float>(), feature_toys::some_ends(), s,
                            {.depth = 3});
    return updates<feature_learner, feature_sample>(learner, {&samples[0], &samples[1]});
}
learnt of_texts(const learner_settings& s) {
    const id_map map = learning_toys::toy_map();
    const std::vector<distillation_sample> texts{learning_toys::toy_text(map, 30, 1),
                                                 learning_toys::toy_text(map, 22, 2)};
    const learning_toys::open_toy toy(learning_toys::form::tied);
    drafter_learner learner(read_parameters(toy.open()), map, s);
    return updates<drafter_learner, distillation_sample>(learner, {&texts[0], &texts[1]});
}

/// |a - b| / |b|
double difference(const std::vector<float>& a, const std::vector<float>& b) {
    double squares = 0, all = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        squares += std::pow(static_cast<double>(a[i]) - static_cast<double>(b[i]), 2);
        all += std::pow(static_cast<double>(b[i]), 2);
    }
    return std::sqrt(squares / all);
}

TEST_CASE("gradients of products in BF16 are those in F32 to its rounding") {
    for (const auto& gradient : {+[](const learner_settings& s) { return of_features(s).gradient; },
                                 +[](const learner_settings& s) { return of_texts(s).gradient; }}) {
        const double found =
            difference(gradient(with(product_numbers::bf16)), gradient(with(product_numbers::f32)));
        CHECK(found < 0.02);
        CHECK(found > 1e-5); // they are other numbers
    }
}

TEST_CASE("what is learnt in either numbers does not depend on the number of threads") {
    for (const product_numbers numbers : {product_numbers::f32, product_numbers::bf16})
        for (const auto& values : {+[](const learner_settings& s) { return of_features(s).values; },
                                   +[](const learner_settings& s) { return of_texts(s).values; }})
            CHECK(values(with(numbers, 1)) == values(with(numbers, 3)));
}

TEST_CASE("the faster numbers are BF16 where the CPU multiplies them") {
    CHECK(fastest_numbers(isa::avx512_bf16) == product_numbers::bf16);
    CHECK(fastest_numbers(isa::amx) == product_numbers::bf16);
    CHECK(fastest_numbers(isa::avx512) == product_numbers::f32);
    CHECK(fastest_numbers(isa::portable) == product_numbers::f32);
    CHECK(name(product_numbers::bf16) == "bf16");
}

} // namespace product_numbers_tests
