// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include <specdec/core/basic/builtins.hpp>
#include <specdec/core/error.hpp>
#include <specdec/learn/acceptance/acceptance_examples.hpp>
#include <specdec/learn/acceptance/acceptance_head.hpp>
#include <specdec/learn/acceptance/acceptance_loss.hpp>

namespace specdec {

struct acceptance_learner_settings {
    double rate = 1e-3;
    double decay = 0.01; ///< of every number, in parts of the rate
    acceptance_weights weights{};
    double usual = 0.6; ///< share that is kept, before anything is known
};

/// Trains an acceptance head: AdamW (Loshchilov and Hutter, arXiv 1711.05101, Alg. 2; beta 0.9 and
/// 0.999) on acceptance_loss. It begins with A random and C, w zero, so that it predicts `usual`.
/// Memory: four numbers a parameter, at construction; a step allocates nothing.
class acceptance_learner {
public:
    /// `uniform`: the randomness of A. Errors: specdec::error for settings that are none.
    template <UniformSource U>
    acceptance_learner(acceptance_shape shape, U&& uniform,
                       acceptance_learner_settings settings = {})
        : shape_(shape), settings_(settings), parameters_(shape.parameters()),
          gradient_(shape.parameters()), first_(shape.parameters()), second_(shape.parameters()) {
        if (!(settings.rate > 0 && settings.rate < 1 && settings.decay >= 0 && settings.decay <= 1))
            fail("acceptance learner", "settings", "expected a rate in (0, 1), a decay in [0, 1]");
        if (!(settings.usual > 0 && settings.usual < 1))
            fail("acceptance learner", "usual", "expected a share above 0 and below 1");
        const std::size_t inputs = shape.inputs(), unit = inputs + 3;
        const double spread = 1 / builtin::sqrt(static_cast<double>(inputs));
        for (std::size_t k = 0; k < shape.width; ++k)
            for (std::size_t i = 0; i < inputs; ++i)
                parameters_[k * unit + i] =
                    static_cast<float>((2 * static_cast<double>(uniform()) - 1) * spread);
        for (std::size_t o = 0; o < 2; ++o)
            parameters_[shape.width * unit + o * (inputs + 1) + inputs] =
                static_cast<float>(builtin::log(settings.usual / (1 - settings.usual)));
    }

    [[nodiscard]] std::span<const float> parameters() const { return parameters_; }

    /// One step on example_at(0) .. example_at(n - 1); the mean loss before it. Pre: n > 0. Errors:
    /// specdec::error as acceptance_gradient and acceptance_loss; nothing is then learnt.
    template <TokenEmbedding Embedding, class ExampleAt>
    double step(std::size_t n, const ExampleAt& example_at, const Embedding& embedding) {
        for (float& g : gradient_)
            g = 0;
        double loss = 0;
        const double share = 1 / static_cast<double>(n);
        for (std::size_t i = 0; i < n; ++i) {
            const acceptance_example& x = example_at(i);
            const acceptance_features features = features_of(x.at, embedding);
            const std::span<const float> now = parameters_;
            auto f = static_cast<float>(acceptance_logits(shape_, now, features)[x.output]);
            loss += acceptance_loss(std::span(&f, 1), std::span(&x.label, 1), std::span(&f, 1),
                                    settings_.weights);
            std::array<double, 2> df{};
            df[x.output] = static_cast<double>(f) * share;
            acceptance_gradient(shape_, now, features, df, std::span(gradient_));
        }
        descend();
        return loss * share;
    }

private:
    void descend() {
        constexpr double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
        power1_ *= beta1;
        power2_ *= beta2;
        for (std::size_t i = 0; i < parameters_.size(); ++i) {
            const auto g = static_cast<double>(gradient_[i]);
            const double m = beta1 * static_cast<double>(first_[i]) + (1 - beta1) * g;
            const double v = beta2 * static_cast<double>(second_[i]) + (1 - beta2) * g * g;
            first_[i] = static_cast<float>(m);
            second_[i] = static_cast<float>(v);
            const auto w = static_cast<double>(parameters_[i]);
            const double step = m / (1 - power1_) / (builtin::sqrt(v / (1 - power2_)) + epsilon);
            parameters_[i] = static_cast<float>(w - settings_.rate * (settings_.decay * w + step));
        }
    }

    acceptance_shape shape_;
    acceptance_learner_settings settings_;
    std::vector<float> parameters_, gradient_, first_, second_;
    double power1_ = 1, power2_ = 1; // beta1^t, beta2^t
};

} // namespace specdec
