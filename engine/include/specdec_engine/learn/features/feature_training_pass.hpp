// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <specdec/core/contract.hpp>
#include <specdec_engine/learn/features/feature_batch.hpp>
#include <specdec_engine/learn/features/feature_block.hpp>
#include <specdec_engine/learn/features/feature_parameters.hpp>
#include <specdec_engine/learn/reverse/columns.hpp>
#include <specdec_engine/learn/reverse/linear.hpp>
#include <specdec_engine/learn/reverse/lora.hpp>
#include <specdec_engine/learn/reverse/products.hpp>
#include <specdec_engine/team/thread_pool.hpp>

namespace specdec::engine {

/// A drafter's body that reads features, forwards and in reverse, over drafts of several tokens in
/// which its own features go in again (EAGLE, Li et al. 2024; HASS, Zhang et al. 2024):
///
///     places of the text       x_i = fc [e(t_(i+1)); f_i]
///     a chain's first cell     x of its place
///     its further ones         x = fc [e(token); state of the cell before]
///     each cell                state = block(x), which sees the places of the text up to the
///                              chain's first one, and the cells of its chain
///
/// That is what feature_model and feature_pass do when they draft. The embedding is the target's
/// and does not learn. The caller brings the head and the loss: it reads states and writes their
/// gradient.
///
///     feature_training_pass<float> pass(layout, limits, embedding);
///     auto states = pass.forward(parameters, sequences);     // [d, cells], a column a cell
///     pass.reverse(dstates, gradient);                       // adds d loss / d parameters
///
/// Results depend neither on the number of threads nor on earlier passes. Allocates in the
/// constructor (with adapters: in the first pass); products, while they grow.
/// Complexity: forward 2 P for each cell, and a quarter of that for each place; reverse twice that.
template <class Scalar>
class feature_training_pass {
public:
    /// Writes the embedding of a token.
    using embedding = std::function<void(std::size_t token, std::span<float> out)>;

    feature_training_pass(const feature_layout& layout, const feature_limits& limits,
                          embedding embed,
                          std::shared_ptr<thread_pool> team = std::make_shared<thread_pool>(1),
                          const product_settings& multiplied = {})
        : layout_(layout), embed_(std::move(embed)),
          batch_(layout.config().vocabulary_size, dimension(), limits),
          team_(std::move(team), multiplied), block_(layout, limits, team_.team().size()),
          given_(2 * dimension(), limits.sequences * limits.length),
          fused_(dimension(), limits.sequences * limits.length),
          dfused_(dimension(), limits.sequences * limits.length),
          cell_given_(2 * dimension(), limits.cells), cell_fused_(dimension(), limits.cells),
          states_(dimension(), limits.cells), dstates_(dimension(), limits.cells),
          dgiven_(2 * dimension(), limits.cells), line_(dimension()) {}

    [[nodiscard]] const feature_batch& batch() const { return batch_; }

    /// The states of all cells, in the order of batch().cells(). They stay until the next pass.
    /// Parameters, adapters and sequences must live, unchanged, until reverse(). Errors:
    /// specdec::error as feature_batch::assign.
    constant_columns<Scalar> forward(const feature_parameters<Scalar>& parameters,
                                     std::span<const feature_sequence> sequences,
                                     const lora<Scalar>* adapters = nullptr) {
        SPECDEC_PRECONDITION(parameters.layout().size() == layout_.size());
        batch_.assign(sequences);
        numbers_ = {parameters.values().data(), adapters};
        const std::size_t places = batch_.places().size();
        give_places();
        fuse(constant(given_.first(places)), fused_.first(places));
        block_.begin(team_, numbers_, batch_, constant(fused_.first(places)));
        for (std::size_t depth = 0; depth < batch_.depths(); ++depth) {
            const feature_batch::range now = batch_.at(depth);
            auto x = part(cell_fused_, now);
            if (depth == 0)
                for (std::size_t c = now.begin; c < now.end; ++c)
                    x.col(index_of(c)) = fused_.first(places).col(index_of(place_of(c)));
            else {
                give_cells(now);
                fuse(constant(part(cell_given_, now)), x);
            }
            block_.forward(team_, numbers_, batch_, depth, constant(x), part(states_, now));
        }
        return constant(states_.first(batch_.cells().size()));
    }

    /// Adds the gradients of the latest forward pass, once: of all weights (an array as
    /// feature_parameters::values()), of the adapters (as lora::values()), or of both; an empty
    /// span: not wanted. dstates [d, cells]. Precondition: sizes fit, a forward pass came before.
    void reverse(constant_columns<Scalar> dstates, std::span<Scalar> weights,
                 std::span<Scalar> adapters = {}) {
        SPECDEC_PRECONDITION(weights.empty() || weights.size() == layout_.size());
        const std::size_t places = batch_.places().size(), cells = batch_.cells().size();
        SPECDEC_PRECONDITION(dstates.cols() == index_of(cells));
        const gradient_memory<Scalar> gradient{weights.empty() ? nullptr : weights.data(),
                                               adapters.empty() ? nullptr : adapters.data()};
        dstates_.first(cells) = dstates;
        auto dfused = dfused_.first(places);
        dfused.setZero();
        block_.begin_reverse(batch_);
        for (std::size_t depth = batch_.depths(); depth-- > 0;) {
            const feature_batch::range now = batch_.at(depth);
            auto dx = part(dstates_, now); // becomes that of what the block reads
            block_.reverse(team_, numbers_, batch_, depth, constant(part(cell_fused_, now)), dx,
                           gradient);
            if (depth == 0) {
                for (std::size_t c = now.begin; c < now.end; ++c)
                    dfused.col(index_of(place_of(c))) += dx.col(index_of(c));
                continue;
            }
            const auto dgiven = part(dgiven_, now);
            team_.backward(fuse_matrix(), constant(dx), dgiven);
            add_fuse_gradient(constant(part(cell_given_, now)), constant(dx), gradient.weights);
            // Two chains have no cell in common, so none is written twice.
            for (std::size_t c = now.begin; c < now.end; ++c)
                dstates_.first(cells).col(index_of(batch_.cells()[c].before)) +=
                    dgiven.col(index_of(c - now.begin)).tail(index_of(dimension()));
        }
        block_.end_reverse(team_, numbers_, batch_, constant(fused_.first(places)), dfused,
                           gradient);
        add_fuse_gradient(constant(given_.first(places)), constant(dfused), gradient.weights);
    }

private:
    [[nodiscard]] std::size_t dimension() const { return layout_.config().dimension; }
    [[nodiscard]] static columns<Scalar> part(activation_memory<Scalar>& memory,
                                              feature_batch::range r) {
        return some_columns(memory.first(r.end), r.begin, r.size());
    }
    /// The column of a first cell's place.
    [[nodiscard]] std::size_t place_of(std::size_t cell) const {
        const feature_batch::cell& c = batch_.cells()[cell];
        return c.first + c.position;
    }
    [[nodiscard]] constant_columns<Scalar> fuse_matrix() const {
        return columns_of(numbers_.weights + layout_.fuse(), 2 * dimension(), dimension());
    }

    /// The embedding above a feature.
    template <class Number>
    void give(Scalar* column, std::size_t token, std::span<const Number> feature) {
        embed_(token, line_);
        for (std::size_t k = 0; k < dimension(); ++k) {
            column[k] = static_cast<Scalar>(line_[k]);
            column[dimension() + k] = static_cast<Scalar>(feature[k]);
        }
    }
    void give_places() {
        const auto places = batch_.places();
        auto all = given_.first(places.size());
        for (std::size_t i = 0; i < places.size(); ++i)
            give(all.col(index_of(i)).data(), places[i].token, places[i].feature);
    }
    void give_cells(feature_batch::range now) {
        for (std::size_t c = now.begin; c < now.end; ++c) {
            const feature_batch::cell& cell = batch_.cells()[c];
            const Scalar* const own =
                states_.first(cell.before + 1).col(index_of(cell.before)).data();
            give(cell_given_.first(c + 1).col(index_of(c)).data(), cell.token,
                 std::span<const Scalar>(own, dimension()));
        }
    }
    void fuse(constant_columns<Scalar> given, columns<Scalar> x) {
        team_.forward(fuse_matrix(), given, x);
        if (layout_.has_bias())
            x.colwise() += columns_of(numbers_.weights + layout_.bias(), dimension(), 1).col(0);
    }
    void add_fuse_gradient(constant_columns<Scalar> given, constant_columns<Scalar> dx,
                           Scalar* gradient) const {
        if (gradient == nullptr)
            return;
        team_.add_outer(given, dx,
                        columns_of(gradient + layout_.fuse(), 2 * dimension(), dimension()));
        auto db = columns_of(gradient + layout_.bias(), dimension(), 1).col(0);
        for (Eigen::Index c = 0; layout_.has_bias() && c < dx.cols(); ++c)
            db += dx.col(c);
    }

    feature_layout layout_;
    embedding embed_;
    feature_batch batch_;
    products team_;
    feature_block<Scalar> block_;
    learnt_numbers<Scalar> numbers_;
    activation_memory<Scalar> given_, fused_, dfused_; ///< [2 d or d, places]
    activation_memory<Scalar> cell_given_, cell_fused_, states_, dstates_, dgiven_; ///< [.., cells]
    std::vector<float> line_; ///< an embedding
};

} // namespace specdec::engine
