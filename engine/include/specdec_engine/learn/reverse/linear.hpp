// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <initializer_list>
#include <vector>

#include <specdec_engine/kernel/aligned_allocator.hpp>
#include <specdec_engine/learn/reverse/columns.hpp>
#include <specdec_engine/learn/reverse/lora.hpp>
#include <specdec_engine/learn/reverse/model_layout.hpp>
#include <specdec_engine/learn/reverse/products.hpp>

namespace specdec::engine {

/// The numbers that a pass computes with: weights of a model_layout, and adapters or none (null).
template <class Scalar>
struct learnt_numbers {
    const Scalar* weights = nullptr;
    const lora<Scalar>* adapters = nullptr;
};

/// Where gradients are added, in the layouts of what they belong to; null: they are not wanted.
template <class Scalar>
struct gradient_memory {
    Scalar* weights = nullptr;
    Scalar* adapters = nullptr;
};

/// Projections of a block that read the same input (q, k and v; gate and up; or one alone), as one
/// product over all positions, with their biases and adapters:
///
///     y = W x + b + (alpha / r) B A x
///
/// Allocates in the constructor, and where there are adapters in the first pass.
template <class Scalar>
class linear {
public:
    /// Projections of a block, whose matrices lie one behind the other. `most`: positions of a
    /// pass.
    linear(const model_config& c, const model_layout::block& at, std::size_t layer,
           std::initializer_list<projection> parts, std::size_t most)
        : layer_(layer), most_(most), inputs_(inputs_of(c, *parts.begin())),
          weight_(at.matrix(*parts.begin())),
          biased_(c.qkv_bias && *parts.begin() == projection::q), bias_(at.qkv_bias) {
        for (const projection p : parts) {
            parts_.push_back({p, outputs_, outputs_of(c, p)});
            outputs_ += parts_.back().outputs;
        }
    }

    /// Shapes: x [inputs, n], y [outputs, n].
    void forward(const products& team, const learnt_numbers<Scalar>& m, constant_columns<Scalar> x,
                 columns<Scalar> y) {
        team.forward(columns_of(m.weights + weight_, inputs_, outputs_), x, y);
        if (biased_)
            y.colwise() += columns_of(m.weights + bias_, outputs_, 1).col(0);
        for (const part& p : parts_)
            if (has_adapter(m, p))
                team.forward(m.adapters->b(layer_, p.which), through_a(team, m, p, x),
                             head_row_subset(y, p.first, p.outputs), true);
    }

    /// dx = W^T dy + (alpha / r) A^T B^T dy and, where they are wanted,
    ///
    ///     dW += dy x^T    db += dy    dB += (alpha / r) dy (A x)^T    dA += (alpha / r) B^T dy x^T
    ///
    /// Precondition: dx is other memory than x and dy.
    void reverse(const products& team, const learnt_numbers<Scalar>& m, constant_columns<Scalar> x,
                 constant_columns<Scalar> dy, columns<Scalar> dx,
                 const gradient_memory<Scalar>& gradient) {
        team.backward(columns_of(m.weights + weight_, inputs_, outputs_), dy, dx);
        if (gradient.weights != nullptr)
            add_gradient(team, x, dy, gradient.weights);
        for (const part& p : parts_)
            if (has_adapter(m, p))
                reverse_adapter(team, m, p, x, head_row_subset(dy, p.first, p.outputs), dx,
                                gradient.adapters);
    }

private:
    struct part {
        projection which;
        std::size_t first; ///< row of y
        std::size_t outputs;
    };

    static bool has_adapter(const learnt_numbers<Scalar>& m, const part& p) {
        return m.adapters != nullptr && m.adapters->adapts(p.which);
    }

    /// Memory of a number for each rank and position.
    columns<Scalar> low_rank(std::size_t rank, Eigen::Index n) {
        if (low_.size() < rank * most_)
            low_.resize(rank * most_);
        return columns_of(low_.data(), rank, static_cast<std::size_t>(n));
    }
    /// (alpha / r) A x
    constant_columns<Scalar> through_a(const products& team, const learnt_numbers<Scalar>& m,
                                       const part& p, constant_columns<Scalar> x) {
        auto low = low_rank(m.adapters->rank(), x.cols());
        team.forward(m.adapters->a(layer_, p.which), x, low);
        low *= m.adapters->scale();
        return constant(low);
    }

    void add_gradient(const products& team, constant_columns<Scalar> x, constant_columns<Scalar> dy,
                      Scalar* gradient) const {
        team.add_outer(x, dy, columns_of(gradient + weight_, inputs_, outputs_));
        auto db = columns_of(gradient + bias_, outputs_, 1).col(0);
        for (Eigen::Index c = 0; biased_ && c < dy.cols(); ++c)
            db += dy.col(c);
    }

    void reverse_adapter(const products& team, const learnt_numbers<Scalar>& m, const part& p,
                         constant_columns<Scalar> x, constant_columns<Scalar> dy,
                         columns<Scalar> dx, Scalar* gradient) {
        if (gradient != nullptr)
            team.add_outer(through_a(team, m, p, x), dy,
                           m.adapters->b_in(gradient, layer_, p.which));
        auto low = low_rank(m.adapters->rank(), x.cols());
        team.backward(m.adapters->b(layer_, p.which), dy, low);
        low *= m.adapters->scale();
        team.backward(m.adapters->a(layer_, p.which), constant(low), dx, true);
        if (gradient != nullptr)
            team.add_outer(x, constant(low), m.adapters->a_in(gradient, layer_, p.which));
    }

    std::size_t layer_;
    std::size_t most_;
    std::size_t inputs_;
    std::size_t outputs_ = 0;
    std::size_t weight_; ///< offsets in the layout
    bool biased_;
    std::size_t bias_;
    std::vector<part> parts_;
    aligned_vector<Scalar> low_; ///< [positions][rank]
};

} // namespace specdec::engine
