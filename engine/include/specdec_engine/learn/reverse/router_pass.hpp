// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>

#include <specdec/core/contract.hpp>
#include <specdec_engine/kernel/aligned_allocator.hpp>
#include <specdec_engine/learn/reverse/columns.hpp>
#include <specdec_engine/learn/reverse/parameter_layout.hpp>
#include <specdec_engine/learn/reverse/products.hpp>
#include <specdec_engine/team/thread_pool.hpp>

namespace specdec::engine {

/// CORAL's router forwards and in reverse (Weng et al. 2025, Eq. 7, before its softmax):
///
///     route = W2 (silu(W1 h) + h)
///
/// which residual_router computes when it drafts. The tensors have the names of the router's file
/// (router_file.hpp). The caller brings the loss: it reads routes and writes their gradient.
///
///     router_pass<float> pass(width, groups, 256);
///     auto routes = pass.forward(values, states);       // [groups, n], a column a state
///     pass.reverse(values, droutes, gradient);          // adds d loss / d W1 and W2
///
/// Shapes: states [width, n], n at most what the constructor was told. The hidden states do not
/// learn. Results do not depend on the number of threads. Memory: four columns a state, allocated
/// in the constructor. Complexity: forward (width + groups) width products a state, reverse twice
/// that. Errors: none. For one thread at a time.
template <class Scalar>
class router_pass {
public:
    router_pass(std::size_t width, std::size_t groups, std::size_t states,
                std::shared_ptr<thread_pool> team = std::make_shared<thread_pool>(1),
                const product_settings& multiplied = {})
        : width_(width), groups_(groups), team_(std::move(team), multiplied), inner_(width, states),
          sum_(width, states), dsum_(width, states), routes_(groups, states) {
        w1_ = layout_.add("router.inner.weight", {width, width});
        w2_ = layout_.add("router.groups.weight", {groups, width});
    }

    [[nodiscard]] const parameter_layout& layout() const { return layout_; }

    /// They stay until the next pass, as must the states.
    constant_columns<Scalar> forward(std::span<const Scalar> values,
                                     constant_columns<Scalar> states) {
        SPECDEC_PRECONDITION(values.size() == layout_.size());
        const auto n = static_cast<std::size_t>(states.cols());
        team_.forward(inner_weights(values), states, inner_.first(n));
        auto sum = sum_.first(n);
        team_.each_column(n, [&](std::size_t c) {
            const auto z = inner_.first(n).col(index_of(c)).array();
            sum.col(index_of(c)).array() = z / (1 + (-z).exp()) + states.col(index_of(c)).array();
        });
        team_.forward(outer_weights(values), constant(sum), routes_.first(n));
        return constant(routes_.first(n));
    }

    /// Of the latest forward pass with these values and states. Precondition: sizes fit.
    void reverse(std::span<const Scalar> values, constant_columns<Scalar> states,
                 constant_columns<Scalar> droutes, std::span<Scalar> gradient) {
        SPECDEC_PRECONDITION(gradient.size() == layout_.size() && droutes.cols() == states.cols());
        const auto n = static_cast<std::size_t>(droutes.cols());
        team_.add_outer(constant(sum_.first(n)), droutes,
                        columns_of(gradient.data() + w2_, width_, groups_));
        auto dsum = dsum_.first(n);
        team_.backward(outer_weights(values), droutes, dsum);
        team_.each_column(n, [&](std::size_t c) { // d silu(z) = s (1 + z (1 - s))
            for (std::size_t k = 0; k < width_; ++k) {
                const Scalar z = inner_.first(n)(index_of(k), index_of(c));
                const Scalar s = 1 / (1 + std::exp(-z));
                dsum(index_of(k), index_of(c)) *= s * (1 + z * (1 - s));
            }
        });
        team_.add_outer(states, constant(dsum), columns_of(gradient.data() + w1_, width_, width_));
    }

private:
    [[nodiscard]] constant_columns<Scalar> inner_weights(std::span<const Scalar> values) const {
        return columns_of(values.data() + w1_, width_, width_);
    }
    [[nodiscard]] constant_columns<Scalar> outer_weights(std::span<const Scalar> values) const {
        return columns_of(values.data() + w2_, width_, groups_);
    }

    std::size_t width_, groups_;
    products team_;
    parameter_layout layout_;
    std::size_t w1_ = 0, w2_ = 0;
    activation_memory<Scalar> inner_, sum_, dsum_, routes_; ///< [width or groups, states]
};

} // namespace specdec::engine
