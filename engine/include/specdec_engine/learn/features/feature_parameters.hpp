// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <specdec/core/error.hpp>
#include <specdec_engine/drafter/feature_checkpoint.hpp>
#include <specdec_engine/kernel/aligned_allocator.hpp>
#include <specdec_engine/learn/reverse/model_layout.hpp>
#include <specdec_engine/learn/reverse/model_parameters.hpp>
#include <specdec_engine/learn/reverse/parameter_layout.hpp>
#include <specdec_engine/learn/reverse/projection.hpp>

namespace specdec::engine {

/// Where the tensors of a drafter's body that reads features lie in the flat array, under the names
/// of its files: fc [d, 2 d], its bias where there is one, and a block without an attention norm.
class feature_layout {
public:
    /// Precondition: check(config), one layer, no biases of q, k and v.
    feature_layout(const model_config& c, bool fuse_bias) : config_(c), has_bias_(fuse_bias) {
        require_trainable(c, "training");
        const std::size_t d = c.dimension;
        fuse_ = tensors_.add("fc.weight", {d, 2 * d});
        if (has_bias_)
            bias_ = tensors_.add("fc.bias", {d});
        for (const projection p : all_projections) {
            if (p == projection::gate)
                block_.ffn_norm = tensors_.add("layers.0.post_attention_layernorm.weight", {d});
            block_.matrices[number_of(p)] = tensors_.add(
                module_name(0, p).substr(std::string_view("model.").size()) + ".weight",
                {outputs_of(c, p), inputs_of(c, p)});
        }
    }

    [[nodiscard]] const model_config& config() const { return config_; }
    [[nodiscard]] const parameter_layout& tensors() const { return tensors_; }
    [[nodiscard]] std::size_t size() const { return tensors_.size(); }
    [[nodiscard]] std::size_t fuse() const { return fuse_; }
    [[nodiscard]] bool has_bias() const { return has_bias_; }
    [[nodiscard]] std::size_t bias() const { return bias_; }
    /// The block; layer 0 is the only one.
    [[nodiscard]] const model_layout::block& at(std::size_t /*layer*/) const { return block_; }

private:
    model_config config_;
    bool has_bias_;
    parameter_layout tensors_;
    std::size_t fuse_ = 0, bias_ = 0;
    model_layout::block block_;
};

/// The weights of such a body while it learns: float for learning, double for checking gradients.
template <class Scalar>
class feature_parameters {
public:
    /// Zeros.
    explicit feature_parameters(feature_layout layout)
        : layout_(std::move(layout)), values_(layout_.size()) {}

    [[nodiscard]] const feature_layout& layout() const { return layout_; }
    [[nodiscard]] const model_config& config() const { return layout_.config(); }
    [[nodiscard]] std::span<Scalar> values() { return values_; }
    [[nodiscard]] std::span<const Scalar> values() const { return values_; }

private:
    feature_layout layout_;
    aligned_vector<Scalar> values_;
};

/// The weights of an open folder, widened. Errors: specdec::error naming file and tensor for what
/// is missing, has another shape, holds a number that is not finite or is none of the body's, and
/// for EAGLE-3's form, which does not learn here.
template <class Scalar = float>
[[nodiscard]] feature_parameters<Scalar> read_feature_parameters(const feature_checkpoint& c) {
    if (c.kind != feature_kind::head_input)
        throw error(c.files.source, "tensor midlayer.self_attn.q_proj.weight",
                    "expected EAGLE-1's form (layers.0.*) of a drafter that learns, this is "
                    "EAGLE-3's");
    check(c.files.config, c.files.source);
    feature_layout layout(c.files.config, c.files.has("fc.bias"));
    detail::require_tensors(c.files, layout.tensors().tensors(), // before memory is taken
                            detail::shared_tensors(c.kind));
    feature_parameters<Scalar> result(std::move(layout));
    for (const parameter& p : result.layout().tensors().tensors())
        detail::read_parameter(detail::checked_tensor(c.files, p), false,
                               c.files.config.head_dimension,
                               result.values().subspan(p.offset, p.size));
    return result;
}

/// The weights as an open folder, whose tensors view them: what packs bodies takes those that
/// learn. It must not outlive the weights, and shows what they are when it is read.
[[nodiscard]] inline feature_checkpoint view_features(const feature_parameters<float>& m,
                                                      std::string source = "learnt weights") {
    feature_checkpoint c;
    c.files.source = std::move(source);
    c.files.config = m.config();
    for (tensor& t : tensors_of(m.layout().tensors(), m.values(), "", c.files.source))
        c.files.add(std::move(t));
    return c;
}

} // namespace specdec::engine
