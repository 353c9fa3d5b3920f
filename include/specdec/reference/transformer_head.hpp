// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <Eigen/Core>

#include <specdec/head/lm_head.hpp>
#include <specdec/reference/transformer_weights.hpp>

namespace specdec::reference {

/// The LM head of a reference transformer, for the draft heads of head/ that compute a part of it.
/// Models LmHeadOf<Id>. Shares the weights. Allocates in every call. Pre: ids of the head's rows,
/// and states of its width.
template <class Id, std::floating_point Scalar = float>
class transformer_head {
public:
    explicit transformer_head(std::shared_ptr<const transformer_weights<Scalar>> weights)
        : weights_(std::move(weights)) {}

    [[nodiscard]] std::size_t vocabulary_size() const {
        return static_cast<std::size_t>(rows().rows());
    }
    [[nodiscard]] std::size_t width() const { return static_cast<std::size_t>(rows().cols()); }

    void multiply(const hidden_states& x, scores_out out) const { put(x, rows(), out); }
    void multiply(const hidden_states& x, std::size_t first, std::size_t n, scores_out out) const {
        put(x, rows().middleRows(index(first), index(n)), out);
    }
    void multiply(const hidden_states& x, std::span<const Id> ids, scores_out out) const {
        std::vector<std::size_t> chosen;
        for (const Id id : ids)
            chosen.push_back(id.index());
        put(x, rows()(chosen, Eigen::seqN(0, index(width()))), out);
    }

private:
    [[nodiscard]] const matrix<Scalar>& rows() const { return weights_->lm_head(); } // V x d

    /// Shapes: w: r x d; each of out: r.
    template <class Rows>
    static void put(const hidden_states& x, const Rows& w, scores_out out) {
        for (std::size_t i = 0; i < x.size(); ++i) {
            const Eigen::Map<const Eigen::VectorXf> state(x[i].values.data(), index(x.width()));
            const Eigen::VectorX<Scalar> scores = w * state.template cast<Scalar>(); // r
            Eigen::Map<Eigen::VectorXf>(out.data + i * out.stride, scores.size()) =
                scores.template cast<float>();
        }
    }

    std::shared_ptr<const transformer_weights<Scalar>> weights_;
};

} // namespace specdec::reference
