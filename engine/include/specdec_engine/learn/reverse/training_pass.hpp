// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include <specdec/core/contract.hpp>
#include <specdec_engine/learn/reverse/columns.hpp>
#include <specdec_engine/learn/reverse/linear.hpp>
#include <specdec_engine/learn/reverse/lora.hpp>
#include <specdec_engine/learn/reverse/model_parameters.hpp>
#include <specdec_engine/learn/reverse/products.hpp>
#include <specdec_engine/learn/reverse/rms_norm.hpp>
#include <specdec_engine/learn/reverse/training_batch.hpp>
#include <specdec_engine/learn/reverse/training_block.hpp>
#include <specdec_engine/team/thread_pool.hpp>

namespace specdec::engine {

/// A Llama-family model forwards and in reverse (Rumelhart, Hinton and Williams 1986), over batches
/// of sequences of any lengths: embedding, blocks, final norm, head. The caller brings the loss: it
/// reads logits and writes their gradient.
///
///     training_pass<float> pass(parameters.config(), limits);
///     auto logits = pass.forward(parameters, batch);     // [vocabulary, rows], a column a row
///     ...                                                // logits := d loss / d logits
///     pass.reverse(constant(logits), gradient);          // gradient += d loss / d parameters
///
/// Results depend neither on the number of threads nor on earlier passes. Allocates in the
/// constructor (with adapters: in the first pass); products, while they grow.
/// Complexity: forward 2 n P + attention for n tokens and P parameters of matrices; reverse twice
/// that, or as much again if only adapters learn. Nearly all of it is products.
template <class Scalar>
class training_pass {
public:
    training_pass(const model_config& config, const training_limits& limits,
                  std::shared_ptr<thread_pool> team = std::make_shared<thread_pool>(1),
                  const product_settings& multiplied = {})
        : layout_(config), batch_(config, limits), team_(std::move(team), multiplied),
          scratch_(layout_.config(), limits, team_),
          residuals_(config.layers + 1,
                     activation_memory<Scalar>(config.dimension, limits.sequences * limits.length)),
          asked_(config.dimension, limits.rows), normed_(config.dimension, limits.rows),
          dnormed_(config.dimension, limits.rows), scales_(1, limits.rows),
          logits_(config.vocabulary_size, limits.rows) {
        blocks_.reserve(config.layers);
        for (std::size_t i = 0; i < config.layers; ++i)
            blocks_.emplace_back(layout_, i, limits.sequences * limits.length);
    }

    /// The rows that the sequences ask for, [vocabulary, rows], a column a row: those of the first
    /// sequence, then those of the second. They stay until the next pass; the caller may write
    /// their gradient over them. The parameters and adapters must live, unchanged, until reverse().
    /// Errors: specdec::error as training_batch::assign. Precondition: the parameters (and
    /// adapters) are of this configuration.
    columns<Scalar> forward(const model_parameters<Scalar>& parameters,
                            std::span<const training_sequence> sequences,
                            const lora<Scalar>* adapters = nullptr) {
        SPECDEC_PRECONDITION(parameters.layout().size() == layout_.size());
        batch_.assign(sequences);
        numbers_ = {parameters.values().data(), adapters};
        embed();
        for (std::size_t i = 0; i < blocks_.size(); ++i)
            blocks_[i].forward(team_, numbers_, batch_, constant(residual(i)), residual(i + 1),
                               scratch_);
        const std::size_t rows = batch_.asked().size();
        for (std::size_t r = 0; r < rows; ++r)
            asked_.first(rows).col(index_of(r)) =
                residual(blocks_.size()).col(index_of(batch_.asked()[r]));
        rms_norm(team_, constant(asked_.first(rows)), numbers_.weights + layout_.final_norm(),
                 static_cast<Scalar>(layout_.config().rms_epsilon), normed_.first(rows),
                 scales_.first(rows).data());
        const auto logits = logits_.first(rows);
        team_.forward(head(), constant(normed_.first(rows)), logits);
        return logits;
    }

    /// Adds the gradients of the latest forward pass, once: of all weights (an array as
    /// model_parameters::values()), of the adapters (as lora::values()), or of both; an empty span:
    /// not wanted. dlogits [vocabulary, rows]. Precondition: sizes fit, a forward pass came before.
    void reverse(constant_columns<Scalar> dlogits, std::span<Scalar> weights,
                 std::span<Scalar> adapters = {}) {
        SPECDEC_PRECONDITION(weights.empty() || weights.size() == layout_.size());
        SPECDEC_PRECONDITION(adapters.empty() ||
                             (numbers_.adapters != nullptr &&
                              adapters.size() == numbers_.adapters->values().size()));
        const gradient_memory<Scalar> gradient{weights.empty() ? nullptr : weights.data(),
                                               adapters.empty() ? nullptr : adapters.data()};
        reverse_head(dlogits, gradient.weights);
        // The gradient of the residual stream: its last place is not needed any more.
        const auto dresidual = residual(blocks_.size());
        for (std::size_t i = blocks_.size(); i-- > 0;)
            blocks_[i].reverse(team_, numbers_, batch_, constant(residual(i)), dresidual, gradient,
                               scratch_);
        for (std::size_t c = 0; gradient.weights != nullptr && c < batch_.size(); ++c)
            embedding_in(gradient.weights, batch_[c].token) += dresidual.col(index_of(c));
    }

private:
    [[nodiscard]] columns<Scalar> residual(std::size_t i) {
        return residuals_[i].first(batch_.size());
    }
    [[nodiscard]] constant_columns<Scalar> head() const {
        return columns_of(numbers_.weights + layout_.head(), layout_.config().dimension,
                          layout_.config().vocabulary_size);
    }
    [[nodiscard]] auto embedding_in(Scalar* weights, std::size_t token) const {
        return Eigen::Map<Eigen::Matrix<Scalar, Eigen::Dynamic, 1>>(
            weights + layout_.embedding() + token * layout_.config().dimension,
            index_of(layout_.config().dimension));
    }

    void embed() {
        const std::size_t d = layout_.config().dimension;
        const auto table =
            columns_of(numbers_.weights + layout_.embedding(), d, layout_.config().vocabulary_size);
        for (std::size_t c = 0; c < batch_.size(); ++c)
            residual(0).col(index_of(c)) = table.col(index_of(batch_[c].token));
    }

    /// Up to the residual stream behind the last block.
    void reverse_head(constant_columns<Scalar> dlogits, Scalar* gradient) {
        const std::size_t rows = batch_.asked().size();
        SPECDEC_PRECONDITION(dlogits.cols() == index_of(rows));
        const auto dnormed = dnormed_.first(rows);
        team_.backward(head(), dlogits, dnormed);
        if (gradient != nullptr)
            team_.add_outer(constant(normed_.first(rows)), dlogits,
                            columns_of(gradient + layout_.head(), layout_.config().dimension,
                                       layout_.config().vocabulary_size));
        auto dasked = normed_.first(rows); // which is not needed any more
        dasked.setZero();
        rms_norm_reverse(team_, constant(asked_.first(rows)),
                         numbers_.weights + layout_.final_norm(), scales_.first(rows).data(),
                         constant(dnormed), dasked,
                         gradient == nullptr ? nullptr : gradient + layout_.final_norm());
        auto dresidual = residual(blocks_.size());
        dresidual.setZero();
        for (std::size_t r = 0; r < rows; ++r)
            dresidual.col(index_of(batch_.asked()[r])) += dasked.col(index_of(r));
    }

    model_layout layout_;
    training_batch batch_;
    products team_;
    block_scratch<Scalar> scratch_;
    std::vector<training_block<Scalar>> blocks_;
    learnt_numbers<Scalar> numbers_;
    std::vector<activation_memory<Scalar>> residuals_; ///< before each block, and behind the last
    activation_memory<Scalar> asked_;                  ///< [dimension, rows]
    activation_memory<Scalar> normed_;
    activation_memory<Scalar> dnormed_;
    activation_memory<Scalar> scales_;
    activation_memory<Scalar> logits_;
};

} // namespace specdec::engine
