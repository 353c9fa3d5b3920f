// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <vector>

#include <specdec_engine/learn/reverse/causal_attention.hpp>
#include <specdec_engine/learn/reverse/columns.hpp>
#include <specdec_engine/learn/reverse/linear.hpp>
#include <specdec_engine/learn/reverse/model_layout.hpp>
#include <specdec_engine/learn/reverse/products.hpp>
#include <specdec_engine/learn/reverse/rms_norm.hpp>
#include <specdec_engine/learn/reverse/rotation.hpp>
#include <specdec_engine/learn/reverse/swiglu.hpp>
#include <specdec_engine/learn/reverse/training_batch.hpp>

namespace specdec::engine {

/// Memory that the blocks of a pass share.
template <class Scalar>
struct block_scratch {
    block_scratch(const model_config& c, const training_limits& limits, const products& shared)
        : rotary(c.rotary, c.head_dimension, limits.length),
          dnormed(c.dimension, limits.sequences * limits.length),
          dqkv(c.query_size() + 2 * c.kv_size(), limits.sequences * limits.length),
          dattended(c.query_size(), limits.sequences * limits.length),
          dhidden(c.hidden_dimension, limits.sequences * limits.length),
          of_member(shared.team().size(),
                    causal_scratch<Scalar>(limits.length, shared.settings())) {}

    rotation<Scalar> rotary;
    activation_memory<Scalar> dnormed;
    activation_memory<Scalar> dqkv;
    activation_memory<Scalar> dattended;
    activation_memory<Scalar> dhidden;
    std::vector<causal_scratch<Scalar>> of_member;
};

/// A block of a Llama-family transformer (blocks.hpp has the papers), and what its reverse needs to
/// know of the pass before:
///
///     m = x + Wo attention(turned q, turned k, v),   (q, k, v) = Wqkv rms_norm(x) + b
///     y = m + Wdown swiglu(Wgate_up rms_norm(m))
template <class Scalar>
class training_block {
public:
    training_block(const model_layout& layout, std::size_t layer, std::size_t most)
        : config_(layout.config()), at_(layout.at(layer)),
          qkv_(config_, at_, layer, {projection::q, projection::k, projection::v}, most),
          o_(config_, at_, layer, {projection::o}, most),
          gate_up_(config_, at_, layer, {projection::gate, projection::up}, most),
          down_(config_, at_, layer, {projection::down}, most), normed_(config_.dimension, most),
          scales_(1, most), heads_(config_.query_size() + 2 * config_.kv_size(), most),
          attended_(config_.query_size(), most), middle_(config_.dimension, most),
          ffn_normed_(config_.dimension, most), ffn_scales_(1, most),
          units_(2 * config_.hidden_dimension, most), hidden_(config_.hidden_dimension, most) {}

    /// Shapes: x, y [dimension, n], a column a token of the batch; other memory than each other.
    void forward(const products& team, const learnt_numbers<Scalar>& m, const training_batch& batch,
                 constant_columns<Scalar> x, columns<Scalar> y, block_scratch<Scalar>& scratch) {
        const std::size_t n = batch.size();
        const auto epsilon = static_cast<Scalar>(config_.rms_epsilon);
        rms_norm(team, x, m.weights + at_.attention_norm, epsilon, normed_.first(n),
                 scales_.first(n).data());
        qkv_.forward(team, m, constant(normed_.first(n)), heads_.first(n));
        team.each_column(n, [&](std::size_t c) {
            scratch.rotary.turn(heads_.first(n).col(index_of(c)).data(),
                                config_.heads + config_.kv_heads, batch[c].position);
        });
        attend(team, batch, scratch);
        o_.forward(team, m, constant(attended_.first(n)), middle_.first(n));
        add(team, x, middle_.first(n));

        rms_norm(team, constant(middle_.first(n)), m.weights + at_.ffn_norm, epsilon,
                 ffn_normed_.first(n), ffn_scales_.first(n).data());
        gate_up_.forward(team, m, constant(ffn_normed_.first(n)), units_.first(n));
        swiglu(team, constant(units_.first(n)), hidden_.first(n));
        down_.forward(team, m, constant(hidden_.first(n)), y);
        add(team, constant(middle_.first(n)), y);
    }

    /// dy becomes dx; gradients of weights and adapters are added. x: that of the latest forward().
    void reverse(const products& team, const learnt_numbers<Scalar>& m, const training_batch& batch,
                 constant_columns<Scalar> x, columns<Scalar> dy,
                 const gradient_memory<Scalar>& gradient, block_scratch<Scalar>& scratch) {
        const std::size_t n = batch.size();
        const auto dhidden = scratch.dhidden.first(n);
        const auto dnormed = scratch.dnormed.first(n);
        const auto in_gradient = [&](std::size_t offset) {
            return gradient.weights == nullptr ? nullptr : gradient.weights + offset;
        };
        down_.reverse(team, m, constant(hidden_.first(n)), constant(dy), dhidden, gradient);
        swiglu_reverse(team, constant(dhidden), units_.first(n));
        gate_up_.reverse(team, m, constant(ffn_normed_.first(n)), constant(units_.first(n)),
                         dnormed, gradient);
        rms_norm_reverse(team, constant(middle_.first(n)), m.weights + at_.ffn_norm,
                         ffn_scales_.first(n).data(), constant(dnormed), dy,
                         in_gradient(at_.ffn_norm));

        o_.reverse(team, m, constant(attended_.first(n)), constant(dy), scratch.dattended.first(n),
                   gradient);
        attend_reverse(team, batch, scratch);
        team.each_column(n, [&](std::size_t c) {
            scratch.rotary.turn_back(scratch.dqkv.first(n).col(index_of(c)).data(),
                                     config_.heads + config_.kv_heads, batch[c].position);
        });
        qkv_.reverse(team, m, constant(normed_.first(n)), constant(scratch.dqkv.first(n)), dnormed,
                     gradient);
        rms_norm_reverse(team, x, m.weights + at_.attention_norm, scales_.first(n).data(),
                         constant(dnormed), dy, in_gradient(at_.attention_norm));
    }

private:
    static void add(const products& team, constant_columns<Scalar> x, columns<Scalar> y) {
        team.each_column(static_cast<std::size_t>(x.cols()),
                         [&](std::size_t c) { y.col(index_of(c)) += x.col(index_of(c)); });
    }

    /// A head of a sequence: its rows and columns of an activation.
    [[nodiscard]] columns<Scalar> head_of(activation_memory<Scalar>& memory,
                                          const training_batch& batch, std::size_t sequence,
                                          std::size_t head) const {
        const auto all = memory.first(batch.size());
        return some_columns(
            head_row_subset(all, head * config_.head_dimension, config_.head_dimension),
            batch.begin(sequence), batch.length(sequence));
    }

    /// work(sequence, key head, scratch of the thread) for all of them.
    template <class Work>
    void each_group(const products& team, const training_batch& batch,
                    block_scratch<Scalar>& scratch, const Work& work) const {
        team.team().run(batch.sequences() * config_.kv_heads, 1, [&](pool_share s) {
            for (std::size_t i = s.begin; i < s.end; ++i)
                work(i / config_.kv_heads, i % config_.kv_heads, scratch.of_member[s.member]);
        });
    }

    void attend(const products& team, const training_batch& batch, block_scratch<Scalar>& scratch) {
        const std::size_t group = config_.heads / config_.kv_heads;
        each_group(team, batch, scratch, [&](std::size_t s, std::size_t kv, auto& of_member) {
            const auto k = head_of(heads_, batch, s, config_.heads + kv);
            const auto v = head_of(heads_, batch, s, config_.heads + config_.kv_heads + kv);
            for (std::size_t q = kv * group; q < (kv + 1) * group; ++q)
                causal_attention(constant(head_of(heads_, batch, s, q)), constant(k), constant(v),
                                 head_of(attended_, batch, s, q), of_member);
        });
    }

    void attend_reverse(const products& team, const training_batch& batch,
                        block_scratch<Scalar>& scratch) {
        const std::size_t group = config_.heads / config_.kv_heads;
        each_group(team, batch, scratch, [&](std::size_t s, std::size_t kv, auto& of_member) {
            const std::size_t key = config_.heads + kv;
            const std::size_t value = key + config_.kv_heads;
            auto dk = head_of(scratch.dqkv, batch, s, key);
            auto dv = head_of(scratch.dqkv, batch, s, value);
            dk.setZero();
            dv.setZero();
            for (std::size_t q = kv * group; q < (kv + 1) * group; ++q)
                causal_attention_reverse(constant(head_of(heads_, batch, s, q)),
                                         constant(head_of(heads_, batch, s, key)),
                                         constant(head_of(heads_, batch, s, value)),
                                         constant(head_of(scratch.dattended, batch, s, q)),
                                         head_of(scratch.dqkv, batch, s, q), dk, dv, of_member);
        });
    }

    model_config config_;
    model_layout::block at_;
    linear<Scalar> qkv_, o_, gate_up_, down_;
    // Of the latest forward pass; [.., tokens] each.
    activation_memory<Scalar> normed_;
    activation_memory<Scalar> scales_;
    activation_memory<Scalar> heads_; ///< queries, keys and values; the first two turned
    activation_memory<Scalar> attended_;
    activation_memory<Scalar> middle_;
    activation_memory<Scalar> ffn_normed_;
    activation_memory<Scalar> ffn_scales_;
    activation_memory<Scalar> units_; ///< gates above ups; then their gradients
    activation_memory<Scalar> hidden_;
};

} // namespace specdec::engine
