// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <specdec/core/error.hpp>
#include <specdec_engine/attention/rotary.hpp>
#include <specdec_engine/file/checkpoint.hpp>
#include <specdec_engine/file/quantised.hpp>
#include <specdec_engine/kernel/aligned_allocator.hpp>
#include <specdec_engine/learn/reverse/model_layout.hpp>

namespace specdec::engine {

/// The weights of a Llama-family model while it learns, in one flat array (model_layout.hpp says
/// where each tensor lies): float for learning, double for checking gradients.
template <class Scalar>
class model_parameters {
public:
    /// Zeros. Precondition: check(config).
    explicit model_parameters(const model_config& c) : layout_(c), values_(layout_.size()) {}

    [[nodiscard]] const model_layout& layout() const { return layout_; }
    [[nodiscard]] const model_config& config() const { return layout_.config(); }
    [[nodiscard]] std::span<Scalar> values() { return values_; }
    [[nodiscard]] std::span<const Scalar> values() const { return values_; }

    /// A tensor by its name. Errors: specdec::error for a name that the model lacks.
    [[nodiscard]] std::span<Scalar> tensor(const std::string& name) {
        const parameter& p = layout_.tensors().at(name);
        return values().subspan(p.offset, p.size);
    }
    [[nodiscard]] std::span<const Scalar> tensor(const std::string& name) const {
        const parameter& p = layout_.tensors().at(name);
        return values().subspan(p.offset, p.size);
    }

private:
    model_layout layout_;
    aligned_vector<Scalar> values_;
};

namespace detail {

inline const tensor& checked_tensor(const checkpoint& c, const parameter& p) {
    return p.is_matrix() ? c.at(p.name, {p.shape[0], p.shape[1]}) : c.at(p.name, {p.shape[0]});
}

/// Requires that a checkpoint has all tensors of a layout, and no more but `others`.
inline void require_tensors(const checkpoint& c, std::span<const parameter> all,
                            std::set<std::string> others) {
    for (const parameter& p : all) {
        (void)checked_tensor(c, p);
        others.insert(p.name);
    }
    require_no_more(c, others);
}

/// Whether the rows of a tensor change their places where rotary pairs are interleaved.
inline bool is_turned(const std::string& name) {
    return name.find(".q_proj.") != std::string::npos || name.find(".k_proj.") != std::string::npos;
}

/// A tensor's numbers in the form that is learnt, half-split rows of q and k.
template <class Scalar>
void read_parameter(const tensor& t, bool turned, std::size_t head_dimension,
                    std::span<Scalar> out) {
    const bool vector = t.shape.size() == 1;
    const std::size_t rows = t.shape[0];
    const std::size_t width = vector ? 1 : t.columns();
    std::vector<float> row(t.columns());
    for (std::size_t r = 0; r < rows; ++r) {
        if (!vector || r == 0)
            read_weights(t, vector ? 0 : r, row);
        const std::size_t in_head = r % head_dimension;
        const std::size_t to = turned ? r - in_head + half_split_row(in_head, head_dimension) : r;
        for (std::size_t k = 0; k < width; ++k)
            out[to * width + k] = static_cast<Scalar>(row[vector ? r : k]);
    }
}

} // namespace detail

/// The weights of a checkpoint of any number format, widened. Interleaved rotary pairs become
/// half-split ones (rotary.hpp), as Hugging Face has them, so that what is saved is in its form.
/// Errors: specdec::error naming file and tensor for what is missing, has another shape, holds
/// a number that is not finite, or is none of the model's.
template <class Scalar = float>
[[nodiscard]] model_parameters<Scalar> read_parameters(const checkpoint& c) {
    check(c.config, c.source);
    if (!c.config.qkv_bias && c.has("model.layers.0.self_attn.q_proj.bias"))
        throw error(c.source, "tensor model.layers.0.self_attn.q_proj.bias",
                    "expected no bias in this architecture");
    const model_layout layout(c.config); // all are checked before memory is taken
    std::set<std::string> others = unread_tensors(c.config);
    for (const tensor& norm : exit_norms(c)) // they do not learn
        others.insert(norm.name);
    detail::require_tensors(c, layout.tensors().tensors(), std::move(others));
    model_parameters<Scalar> result(c.config);
    for (const parameter& p : layout.tensors().tensors())
        detail::read_parameter(detail::checked_tensor(c, p),
                               c.config.rotary.interleaved && detail::is_turned(p.name),
                               c.config.head_dimension, result.values().subspan(p.offset, p.size));
    return result;
}

/// The weights as an open checkpoint, whose tensors view them: what packs and saves checkpoints
/// takes models that learn. It must not outlive the weights, and shows what they are when it is
/// read. `source` names it in errors.
[[nodiscard]] inline checkpoint view_checkpoint(const model_parameters<float>& m,
                                                std::string source = "learnt weights") {
    checkpoint c;
    c.source = std::move(source);
    c.config = m.config();
    for (tensor& t : tensors_of(m.layout().tensors(), m.values(), "", c.source))
        c.add(std::move(t));
    return c;
}

} // namespace specdec::engine
