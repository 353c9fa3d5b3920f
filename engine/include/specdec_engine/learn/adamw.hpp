// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>

#include <Eigen/Core>

#include <specdec/core/contract.hpp>
#include <specdec/core/error.hpp>
#include <specdec_engine/kernel/aligned_allocator.hpp>
#include <specdec_engine/learn/reverse/parameter_layout.hpp>

namespace specdec::engine {

/// The defaults are those of the paper; for language models 0.95 and a decay of 0.1 are usual too.
struct adamw_settings {
    double beta1 = 0.9;
    double beta2 = 0.999;
    double epsilon = 1e-8;
    double weight_decay = 0.01;
    bool decays_vectors = false; ///< norms and biases as well as matrices
};

/// Throws specdec::error naming the setting that is none.
inline void check(const adamw_settings& s, const std::string& source = "AdamW") {
    const auto require = [&](bool holds, const char* field, const char* expected) {
        if (!holds)
            throw error(source, field, expected);
    };
    constexpr double infinity = std::numeric_limits<double>::infinity();
    require(s.beta1 >= 0 && s.beta1 < 1, "beta1", "expected at least 0 and less than 1");
    require(s.beta2 >= 0 && s.beta2 < 1, "beta2", "expected at least 0 and less than 1");
    require(s.epsilon > 0 && s.epsilon < infinity, "epsilon", "expected a positive number");
    require(s.weight_decay >= 0 && s.weight_decay < infinity, "weight decay",
            "expected a number of at least 0");
}

/// AdamW (Loshchilov and Hutter, arXiv 1711.05101, Alg. 2), with PyTorch's decay of lr lambda:
///
///     m = beta1 m + (1 - beta1) g        v = beta2 v + (1 - beta2) g^2
///     w = w - lr lambda w - lr (m / (1 - beta1^t)) / (sqrt(v / (1 - beta2^t)) + epsilon)
///
/// for step t = 1, 2, ... Memory: two numbers a parameter, taken in the constructor.
template <class Scalar>
class adamw {
public:
    /// For `size` parameters. Errors: as check(settings).
    explicit adamw(std::size_t size, const adamw_settings& settings = {})
        : settings_(settings), first_(size), second_(size) {
        check(settings);
    }

    /// One step of size lr along the gradient. Complexity: O(parameters). Allocates nothing.
    /// Precondition: the layout, weights and gradient have `size` numbers.
    void step(const parameter_layout& layout, std::span<Scalar> weights,
              std::span<const Scalar> gradient, double lr) {
        SPECDEC_PRECONDITION(layout.size() == first_.size() && weights.size() == first_.size() &&
                             gradient.size() == first_.size());
        ++steps_;
        for (const parameter& p : layout.tensors())
            step(p, weights.data() + p.offset, gradient.data() + p.offset, lr);
    }

    [[nodiscard]] const adamw_settings& settings() const { return settings_; }

    // What is saved and read again.
    [[nodiscard]] std::uint64_t steps() const { return steps_; }
    [[nodiscard]] std::span<const Scalar> first_moments() const { return first_; }
    [[nodiscard]] std::span<const Scalar> second_moments() const { return second_; }
    [[nodiscard]] std::span<Scalar> first_moments() { return first_; }
    [[nodiscard]] std::span<Scalar> second_moments() { return second_; }
    void set_steps(std::uint64_t n) { steps_ = n; }

private:
    void step(const parameter& p, Scalar* weights, const Scalar* gradient, double lr) {
        using numbers = Eigen::Map<Eigen::Array<Scalar, Eigen::Dynamic, 1>>;
        using constant_numbers = Eigen::Map<const Eigen::Array<Scalar, Eigen::Dynamic, 1>>;
        const auto n = static_cast<Eigen::Index>(p.size);
        const auto t = static_cast<double>(steps_);
        const auto of = [](double x) { return static_cast<Scalar>(x); };
        const bool decays = p.is_matrix() || settings_.decays_vectors;
        const Scalar kept = of(decays ? 1 - lr * settings_.weight_decay : 1);
        const Scalar beta1 = of(settings_.beta1), beta2 = of(settings_.beta2);
        const Scalar rest1 = of(1 - settings_.beta1), rest2 = of(1 - settings_.beta2);
        const Scalar size = of(lr / (1 - std::pow(settings_.beta1, t)));
        const Scalar second_scale = of(1 / std::sqrt(1 - std::pow(settings_.beta2, t)));
        const Scalar epsilon = of(settings_.epsilon);

        numbers w(weights, n), m(first_.data() + p.offset, n), v(second_.data() + p.offset, n);
        const constant_numbers g(gradient, n);
        m = beta1 * m + rest1 * g;
        v = beta2 * v + rest2 * g * g;
        w = kept * w - size * m / (v.sqrt() * second_scale + epsilon);
    }

    adamw_settings settings_;
    std::uint64_t steps_ = 0;
    aligned_vector<Scalar> first_;
    aligned_vector<Scalar> second_;
};

} // namespace specdec::engine
