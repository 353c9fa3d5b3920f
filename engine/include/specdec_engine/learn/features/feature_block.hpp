// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm> // std::max
#include <cstddef>
#include <span>
#include <vector>

#include <specdec_engine/learn/features/chain_attention.hpp>
#include <specdec_engine/learn/features/feature_batch.hpp>
#include <specdec_engine/learn/features/feature_parameters.hpp>
#include <specdec_engine/learn/reverse/columns.hpp>
#include <specdec_engine/learn/reverse/linear.hpp>
#include <specdec_engine/learn/reverse/products.hpp>
#include <specdec_engine/learn/reverse/rms_norm.hpp>
#include <specdec_engine/learn/reverse/rotation.hpp>
#include <specdec_engine/learn/reverse/swiglu.hpp>

namespace specdec::engine {

/// The block of a drafter's body that reads features, and what its reverse needs to know of the
/// pass before. Of places it makes keys and values only; of cells, depth by depth,
///
///     m = x + Wo attention(turned Wq x, turned Wk .., Wv ..)
///     state = m + Wdown swiglu(Wgate_up rms_norm(m))
///
/// A first cell's key is its place's. Calls: begin, then forward for depth 0, 1, ...;
/// begin_reverse, then reverse for the deepest one, ..., 0, and end_reverse.
template <class Scalar>
class feature_block {
public:
    feature_block(const feature_layout& layout, const feature_limits& limits, std::size_t members)
        : config_(layout.config()), ffn_norm_(layout.at(0).ffn_norm),
          longest_(limits.length + limits.depth),
          most_(std::max(limits.cells, limits.sequences * limits.length)),
          q_(config_, layout.at(0), 0, {projection::q}, most_),
          kv_(config_, layout.at(0), 0, {projection::k, projection::v}, most_),
          o_(config_, layout.at(0), 0, {projection::o}, most_),
          gate_up_(config_, layout.at(0), 0, {projection::gate, projection::up}, most_),
          down_(config_, layout.at(0), 0, {projection::down}, most_),
          rotary_(config_.rotary, config_.head_dimension, limits.length),
          places_(2 * config_.kv_size(), limits.sequences * limits.length),
          dplaces_(2 * config_.kv_size(), limits.sequences * limits.length),
          dfused_(config_.dimension, most_), queries_(config_.query_size(), limits.cells),
          keys_(2 * config_.kv_size(), limits.cells), dkeys_(2 * config_.kv_size(), limits.cells),
          weights_(longest_ * config_.heads, limits.cells),
          attended_(config_.query_size(), limits.cells), middle_(config_.dimension, limits.cells),
          normed_(config_.dimension, limits.cells), scales_(1, limits.cells),
          units_(2 * config_.hidden_dimension, limits.cells),
          hidden_(config_.hidden_dimension, limits.cells),
          dhidden_(config_.hidden_dimension, limits.cells),
          dnormed_(config_.dimension, limits.cells), dattended_(config_.query_size(), limits.cells),
          dweights_(members, activation_memory<Scalar>(longest_, config_.heads)),
          chains_(members, std::vector<std::size_t>(limits.depth)) {}

    /// Keys and values of the places. x [dimension, places].
    void begin(const products& team, const learnt_numbers<Scalar>& m, const feature_batch& batch,
               constant_columns<Scalar> x) {
        const std::size_t n = batch.places().size();
        kv_.forward(team, m, x, places_.first(n));
        for (std::size_t i = 0; i < n; ++i)
            rotary_.turn(places_.first(n).col(index_of(i)).data(), config_.kv_heads,
                         batch.places()[i].position);
    }

    /// x, y [dimension, cells of the depth], other memory than each other.
    void forward(const products& team, const learnt_numbers<Scalar>& m, const feature_batch& batch,
                 std::size_t depth, constant_columns<Scalar> x, columns<Scalar> y) {
        const feature_batch::range now = batch.at(depth);
        q_.forward(team, m, x, part(queries_, now));
        if (depth > 0)
            kv_.forward(team, m, x, part(keys_, now));
        turn(batch, now, queries_, config_.heads, false);
        if (depth > 0)
            turn(batch, now, keys_, config_.kv_heads, false);
        each_group(team, batch, depth, [&](std::size_t c, std::size_t kv, std::size_t member) {
            chain_attention(constant(queries_of(queries_, c, kv)), seen_by(batch, c, kv, member),
                            weights_of(batch, c, kv), queries_of(attended_, c, kv));
        });
        const auto middle = part(middle_, now);
        o_.forward(team, m, constant(part(attended_, now)), middle);
        middle_.first(now.end).middleCols(index_of(now.begin), index_of(now.size())) += x;
        rms_norm(team, constant(middle), m.weights + ffn_norm_,
                 static_cast<Scalar>(config_.rms_epsilon), part(normed_, now),
                 part(scales_, now).data());
        gate_up_.forward(team, m, constant(part(normed_, now)), part(units_, now));
        swiglu(team, constant(part(units_, now)), part(hidden_, now));
        down_.forward(team, m, constant(part(hidden_, now)), y);
        y += middle;
    }

    void begin_reverse(const feature_batch& batch) {
        dplaces_.first(batch.places().size()).setZero();
        dkeys_.first(batch.cells().size()).setZero();
    }

    /// dy becomes dx; gradients of weights and adapters are added. x: that of forward().
    void reverse(const products& team, const learnt_numbers<Scalar>& m, const feature_batch& batch,
                 std::size_t depth, constant_columns<Scalar> x, columns<Scalar> dy,
                 const gradient_memory<Scalar>& gradient) {
        const feature_batch::range now = batch.at(depth);
        const auto dnormed = part(dnormed_, now), dattended = part(dattended_, now);
        down_.reverse(team, m, constant(part(hidden_, now)), constant(dy), part(dhidden_, now),
                      gradient);
        swiglu_reverse(team, constant(part(dhidden_, now)), part(units_, now));
        gate_up_.reverse(team, m, constant(part(normed_, now)), constant(part(units_, now)),
                         dnormed, gradient);
        rms_norm_reverse(team, constant(part(middle_, now)), m.weights + ffn_norm_,
                         part(scales_, now).data(), constant(dnormed), dy,
                         gradient.weights == nullptr ? nullptr : gradient.weights + ffn_norm_);
        o_.reverse(team, m, constant(part(attended_, now)), constant(dy), dattended, gradient);
        each_group(team, batch, depth, [&](std::size_t c, std::size_t kv, std::size_t member) {
            attend_reverse(batch, c, kv, member);
        });
        turn(batch, now, dattended_, config_.heads, true); // of queries now
        auto dx = some_columns(dfused_.first(now.size()), 0, now.size());
        q_.reverse(team, m, x, constant(dattended), dx, gradient);
        dy += dx;
        if (depth == 0)
            return;
        turn(batch, now, dkeys_, config_.kv_heads, true); // which no earlier cell adds to
        kv_.reverse(team, m, x, constant(part(dkeys_, now)), dx, gradient);
        dy += dx;
    }

    /// Adds what the places' keys and values give to the gradient of x.
    void end_reverse(const products& team, const learnt_numbers<Scalar>& m,
                     const feature_batch& batch, constant_columns<Scalar> x, columns<Scalar> dx,
                     const gradient_memory<Scalar>& gradient) {
        const std::size_t n = batch.places().size();
        for (std::size_t i = 0; i < n; ++i)
            rotary_.turn_back(dplaces_.first(n).col(index_of(i)).data(), config_.kv_heads,
                              batch.places()[i].position);
        auto more = dfused_.first(n);
        kv_.reverse(team, m, x, constant(dplaces_.first(n)), more, gradient);
        dx += more;
    }

private:
    [[nodiscard]] static columns<Scalar> part(activation_memory<Scalar>& memory,
                                              feature_batch::range r) {
        return some_columns(memory.first(r.end), r.begin, r.size());
    }
    [[nodiscard]] std::size_t group() const { return config_.heads / config_.kv_heads; }

    void turn(const feature_batch& batch, feature_batch::range r, activation_memory<Scalar>& heads,
              std::size_t n, bool back) {
        for (std::size_t c = r.begin; c < r.end; ++c) {
            Scalar* const column = heads.first(c + 1).col(index_of(c)).data();
            if (back)
                rotary_.turn_back(column, n, batch.cells()[c].position);
            else
                rotary_.turn(column, n, batch.cells()[c].position);
        }
    }

    /// work(cell, key head, member of the team) for all cells of a depth: those of a sequence and a
    /// key head one after the other, since they add to the same gradients.
    template <class Work>
    void each_group(const products& team, const feature_batch& batch, std::size_t depth,
                    const Work& work) const {
        team.team().run(batch.sequences() * config_.kv_heads, 1, [&](pool_share s) {
            for (std::size_t i = s.begin; i < s.end; ++i) {
                const feature_batch::range r = batch.at(depth, i / config_.kv_heads);
                for (std::size_t c = r.begin; c < r.end; ++c)
                    work(c, i % config_.kv_heads, s.member);
            }
        });
    }

    /// [head dimension, heads of the group], one behind the other in the cell's column.
    [[nodiscard]] columns<Scalar> queries_of(activation_memory<Scalar>& memory, std::size_t cell,
                                             std::size_t kv) {
        const std::size_t h = config_.head_dimension;
        return columns_of(memory.first(cell + 1).col(index_of(cell)).data() + kv * group() * h, h,
                          group());
    }
    [[nodiscard]] columns<Scalar> weights_of(const feature_batch& batch, std::size_t cell,
                                             std::size_t kv) {
        const feature_batch::cell& c = batch.cells()[cell];
        return columns_of(weights_.first(cell + 1).col(index_of(cell)).data() +
                              kv * group() * longest_,
                          c.seen + c.depth, group(), longest_);
    }
    /// The key head's rows of a memory of keys above values.
    [[nodiscard]] columns<Scalar> head_of(columns<Scalar> all, std::size_t kv, bool values) const {
        const std::size_t h = config_.head_dimension;
        return head_row_subset(all, (values ? config_.kv_size() : 0) + kv * h, h);
    }
    [[nodiscard]] chain_keys<Scalar> seen_by(const feature_batch& batch, std::size_t cell,
                                             std::size_t kv, std::size_t member) {
        const feature_batch::cell& c = batch.cells()[cell];
        const auto places = some_columns(places_.first(c.first + c.seen), c.first, c.seen);
        const auto cells = keys_.first(batch.cells().size());
        std::size_t at = cell;
        for (std::size_t k = c.depth; k-- > 0; at = batch.cells()[at].before)
            chains_[member][k] = at;
        return {constant(head_of(places, kv, false)), constant(head_of(places, kv, true)),
                head_of(cells, kv, false), head_of(cells, kv, true),
                std::span(chains_[member]).first(c.depth)};
    }

    void attend_reverse(const feature_batch& batch, std::size_t cell, std::size_t kv,
                        std::size_t member) {
        const feature_batch::cell& c = batch.cells()[cell];
        const auto dplaces = some_columns(dplaces_.first(c.first + c.seen), c.first, c.seen);
        const auto dcells = dkeys_.first(batch.cells().size());
        const auto dout = queries_of(dattended_, cell, kv);
        chain_attention_reverse(
            constant(queries_of(queries_, cell, kv)), seen_by(batch, cell, kv, member),
            constant(weights_of(batch, cell, kv)), constant(dout),
            head_row_subset(dweights_[member].first(group()), 0, c.seen + c.depth), dout,
            head_of(dplaces, kv, false), head_of(dplaces, kv, true), head_of(dcells, kv, false),
            head_of(dcells, kv, true));
    }

    model_config config_;
    std::size_t ffn_norm_, longest_, most_;
    linear<Scalar> q_, kv_, o_, gate_up_, down_;
    rotation<Scalar> rotary_;
    activation_memory<Scalar> places_, dplaces_; ///< keys (turned) above values, [.., places]
    activation_memory<Scalar> dfused_;           ///< scratch
    // Of the latest forward pass; [.., cells] each.
    activation_memory<Scalar> queries_, keys_, dkeys_;
    activation_memory<Scalar> weights_; ///< of attention, [longest, heads] a cell
    activation_memory<Scalar> attended_, middle_, normed_, scales_, units_, hidden_;
    activation_memory<Scalar> dhidden_, dnormed_, dattended_;
    std::vector<activation_memory<Scalar>> dweights_; ///< [members]
    std::vector<std::vector<std::size_t>> chains_;    ///< [members] the cells of one
};

} // namespace specdec::engine
