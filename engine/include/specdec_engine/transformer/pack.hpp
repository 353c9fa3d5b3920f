// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm> // std::max
#include <concepts>
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <limits>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <specdec_engine/file/checkpoint.hpp>
#include <specdec_engine/file/quantised.hpp>
#include <specdec_engine/team/compiled_once.hpp>
#include <specdec_engine/team/thread_pool.hpp>
#include <specdec_engine/transformer/own_types.hpp>
#include <specdec_engine/transformer/packed_rows.hpp>
#include <specdec_engine/transformer/weights.hpp>

namespace specdec::engine {

namespace detail {

template <NumberFormat Format>
using matrix_of = typename format_parts<Format>::matrix;

/// A tensor's rows on their way into a packed matrix: row r of the tensor goes to place(r).
template <NumberFormat Format>
struct packing_job {
    const tensor* from;
    matrix_of<Format>* to;
    std::function<std::size_t(std::size_t)> place;
};

/// Tensors of a checkpoint on their way into packed matrices: asked for by name first, which checks
/// presence, type and shape before any weight is allocated, and again with their places. What is
/// not asked for is no tensor of the model.
template <NumberFormat Format>
class tensor_packer {
public:
    explicit tensor_packer(const checkpoint& c) : c_(c) {}

    /// A matrix of that shape; `to`: null where it is only checked.
    template <class Place>
    void matrix(const std::string& name, std::initializer_list<std::size_t> shape,
                matrix_of<Format>* to, const Place& place) {
        const tensor& t = asked(name, shape);
        if (to == nullptr)
            return;
        jobs_.push_back({&t, to, place});
        total_ += t.rows() * t.columns();
        longest_ = std::max(longest_, t.columns());
    }
    void matrix(const std::string& name, std::initializer_list<std::size_t> shape,
                matrix_of<Format>* to) {
        matrix(name, shape, to, [](std::size_t r) { return r; });
    }
    template <class Place>
    void vector(const std::string& name, std::size_t n, aligned_vector<float>* to,
                const Place& place) {
        const tensor& t = asked(name, {n});
        if (to == nullptr)
            return;
        std::vector<float> values(n);
        read_weights(t, 0, values);
        for (std::size_t i = 0; i < n; ++i)
            (*to)[place(i)] = values[i];
    }
    void vector(const std::string& name, std::size_t n, aligned_vector<float>* to) {
        vector(name, n, to, [](std::size_t r) { return r; });
    }

    /// The weights of an RMS norm.
    template <class Place>
    void norm(const std::string& name, std::size_t n, aligned_vector<float>* to,
              const Place& place) {
        vector(name, n, to, place);
        for (std::size_t i = 0; c_.config.norms_less_one && to != nullptr && i < n; ++i)
            (*to)[i] += 1.0F;
    }
    void norm(const std::string& name, std::size_t n, aligned_vector<float>* to) {
        norm(name, n, to, [](std::size_t r) { return r; });
    }

    [[nodiscard]] bool has(const std::string& name) const { return c_.has(name); }

    /// A block without its attention's norm; its attention reads columns of that length.
    void block(const std::string& prefix, std::size_t columns, block_weights<Format>* b) {
        const model_config& c = c_.config;
        const std::size_t d = c.dimension;
        const std::size_t q = c.query_size();
        const std::size_t kv = c.kv_size();
        const packed_rows rows(c);
        const auto turned = [rows](std::size_t r) { return rows.turned(r); };
        const auto key = [rows](std::size_t r) { return rows.key(r); };
        const auto value = [rows](std::size_t r) { return rows.value(r); };
        const auto gate = [](std::size_t r) { return packed_rows::gate(r); };
        const auto up = [](std::size_t r) { return packed_rows::up(r); };
        const std::string attention = prefix + "self_attn.";
        auto* qkv = b ? &b->qkv : nullptr;
        matrix(attention + "q_proj.weight", {q, columns}, qkv, turned);
        matrix(attention + "k_proj.weight", {kv, columns}, qkv, key);
        matrix(attention + "v_proj.weight", {kv, columns}, qkv, value);
        matrix(attention + "o_proj.weight", {d, q}, b ? &b->output : nullptr);
        const std::size_t h = c.hidden_dimension;
        matrix(prefix + "mlp.gate_proj.weight", {h, d}, b ? &b->gate_up : nullptr, gate);
        matrix(prefix + "mlp.up_proj.weight", {h, d}, b ? &b->gate_up : nullptr, up);
        matrix(prefix + "mlp.down_proj.weight", {d, h}, b ? &b->down : nullptr);
        const std::string after_attention = prefix + "post_attention_layernorm.weight";
        if (c.post_norms) { // four norms
            norm(after_attention, d, b ? &b->post_attention_norm : nullptr);
            norm(prefix + "pre_feedforward_layernorm.weight", d, b ? &b->ffn_norm : nullptr);
            norm(prefix + "post_feedforward_layernorm.weight", d, b ? &b->post_ffn_norm : nullptr);
        } else {
            norm(after_attention, d, b ? &b->ffn_norm : nullptr);
        }
        if (c.qk_norm) {
            const std::size_t e = c.head_dimension;
            norm(attention + "q_norm.weight", e, b ? &b->query_norm : nullptr, turned);
            norm(attention + "k_norm.weight", e, b ? &b->key_norm : nullptr, turned);
        }
        if (c.qkv_bias) {
            auto* bias = b ? &b->qkv_bias : nullptr;
            vector(attention + "q_proj.bias", q, bias, turned);
            vector(attention + "k_proj.bias", kv, bias, key);
            vector(attention + "v_proj.bias", kv, bias, value);
        } else if (c_.has(attention + "q_proj.bias")) {
            throw error(c_.source, "tensor " + attention + "q_proj.bias",
                        "expected no bias in this architecture");
        }
    }

    /// Errors: specdec::error for a tensor that was not asked for and is none of `others`.
    void require_no_more(std::set<std::string> others) {
        others.insert(asked_.begin(), asked_.end());
        engine::require_no_more(c_, others);
    }

    /// Packs what was asked for with a place.
    void run(std::size_t threads, const std::function<void(double)>& progress) {
        thread_pool team(threads);
        std::vector<float> rows(team.size() * longest_); // [thread][longest]
        std::size_t done = 0;
        for (const packing_job<Format>& job : jobs_) {
            if (progress)
                progress(static_cast<double>(done) / static_cast<double>(total_));
            const std::size_t n = job.from->rows();
            team.run(n, panel_rows, [&](pool_share s) {
                const std::span<float> row(&rows[s.member * longest_], job.from->columns());
                for (std::size_t r = s.begin; r < s.end; ++r)
                    pack_row(job, r, row);
            });
            done += n * job.from->columns();
        }
        if (progress)
            progress(1.0);
    }

private:
    const tensor& asked(const std::string& name, std::initializer_list<std::size_t> shape) {
        asked_.insert(name);
        return c_.at(name, shape);
    }

    static void pack_row(const packing_job<Format>& job, std::size_t r, std::span<float> row) {
        const tensor& t = *job.from;
        constexpr float largest = std::same_as<Format, quantised> ? greatest_q8_0
                                  : std::same_as<Format, float> ? std::numeric_limits<float>::max()
                                                                : largest_in_bf16;
        read_weights(t, r, row, largest, std::same_as<Format, quantised> ? "Q8_0" : "BF16");
        if constexpr (std::same_as<Format, quantised>)
            if (t.type == job.to->type())
                return job.to->write_blocks(job.place(r), row_bytes(t, r));
        job.to->write_row(job.place(r), row);
    }

    const checkpoint& c_;
    std::set<std::string> asked_;
    std::vector<packing_job<Format>> jobs_;
    std::size_t total_ = 0;
    std::size_t longest_ = 0;
};

/// All tensors of a model; `w`: null where they are only checked.
template <NumberFormat Format>
void ask_for_model(tensor_packer<Format>& tensors, const model_config& c,
                   model_weights<Format>* w) {
    const std::size_t d = c.dimension;
    tensors.matrix("model.embed_tokens.weight", {c.vocabulary_size, d},
                   w ? &w->embedding : nullptr);
    if (!c.tied)
        tensors.matrix("lm_head.weight", {c.vocabulary_size, d}, w ? &w->head : nullptr);
    tensors.norm("model.norm.weight", d, w ? &w->final_norm : nullptr);
    if (!c.exits.empty() && tensors.has("exits.0.norm.weight")) {
        if (w)
            w->exit_norms.resize(c.exits.size() - 1);
        for (std::size_t i = 0; i + 1 < c.exits.size(); ++i) {
            if (w)
                w->exit_norms[i].resize(column_stride(d));
            tensors.norm("exits." + std::to_string(i) + ".norm.weight", d,
                         w ? &w->exit_norms[i] : nullptr);
        }
    }
    for (std::size_t i = 0; i < c.layers; ++i) {
        const std::string prefix = "model.layers." + std::to_string(i) + ".";
        block_weights<Format>* b = w ? &w->blocks[i] : nullptr;
        tensors.block(prefix, d, b);
        tensors.norm(prefix + "input_layernorm.weight", d, b ? &b->attention_norm : nullptr);
    }
}

} // namespace detail

/// Reads, converts and packs all tensors of a checkpoint; `quantised` keeps matrices in their own
/// types where these are quantised (own_types), and makes the others Q8_0. All of them are checked
/// before memory for the weights is taken, but for their numbers, which must be finite and are
/// looked at on their way. threads: 0: one a core. Errors: specdec::error naming file and tensor,
/// also for one that the model does not have.
template <NumberFormat Format>
[[nodiscard]] std::shared_ptr<const model_weights<Format>>
pack(const checkpoint& c, std::size_t threads = 0,
     const std::function<void(double)>& progress = {}) {
    detail::tensor_packer<Format> tensors(c);
    detail::ask_for_model<Format>(tensors, c.config, nullptr);
    tensors.require_no_more(unread_tensors(c.config));
    auto weights = std::make_shared<model_weights<Format>>(c.config, own_types(c));
    detail::ask_for_model(tensors, c.config, weights.get());
    tensors.run(threads, progress);
    return weights;
}

SPECDEC_ONCE(std::shared_ptr<const model_weights<float>> pack(const checkpoint&, std::size_t,
                                                              const std::function<void(double)>&));
SPECDEC_ONCE(std::shared_ptr<const model_weights<bf16_bits>> pack(
    const checkpoint&, std::size_t, const std::function<void(double)>&));
SPECDEC_ONCE(std::shared_ptr<const model_weights<quantised>> pack(
    const checkpoint&, std::size_t, const std::function<void(double)>&));

} // namespace specdec::engine
