// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <openvino/op/constant.hpp>
#include <openvino/op/convert.hpp>
#include <openvino/op/gather.hpp>
#include <openvino/op/matmul.hpp>
#include <openvino/op/parameter.hpp>
#include <openvino/op/reshape.hpp>
#include <openvino/op/result.hpp>
#include <openvino/openvino.hpp>

#include <specdec/core/error.hpp>
#include <specdec/interop/openvino_ports.hpp>

namespace specdec {

namespace detail {

/// The product with the head that makes a model's logits, elementwise operations after it apart.
inline ov::Node& openvino_head(ov::Model& model) {
    ov::Node* node = model.output("logits").get_node();
    while (node->get_input_size() > 0 && dynamic_cast<ov::op::v0::MatMul*>(node) == nullptr)
        node = node->get_input_node_ptr(0);
    if (node->get_input_size() == 0 || node->get_input_partial_shape(0).rank().is_dynamic() ||
        node->get_input_partial_shape(0).size() < 3 ||
        node->get_input_partial_shape(0).rbegin()->is_dynamic())
        fail("OpenVINO model", "logits",
             "expected a product of hidden states [..., tokens, width] with the head");
    return *node;
}
/// Whether an input or output of a model has this name.
inline bool has_name(const std::vector<ov::Output<ov::Node>>& ports, const char* name) {
    for (const ov::Output<ov::Node>& port : ports)
        if (port.get_names().contains(name))
            return true;
    return false;
}

} // namespace detail

/// Adds the output specdec_features: the hidden states that the head is multiplied with, which
/// drafters of EAGLE's form read (head/features/features.hpp). Call it before
/// openvino_select_rows() and before the model is compiled. Errors: specdec::error if the model's
/// logits are not such a product.
inline void openvino_show_features(ov::Model& model) {
    if (detail::has_name(model.inputs(), openvino_row_input))
        fail("OpenVINO model", openvino_row_input,
             "expected no such input yet: features are those of all tokens");
    const ov::Output<ov::Node> states = detail::openvino_head(model).input_value(0);
    const auto features = std::make_shared<ov::op::v1::Reshape>(
        std::make_shared<ov::op::v0::Convert>(states, ov::element::f32),
        ov::op::v0::Constant::create(
            ov::element::i64, {3},
            {std::int64_t{1}, std::int64_t{-1},
             states.get_partial_shape().rbegin()->get_length()}), // one sequence
        false);
    features->output(0).set_names({openvino_feature_output});
    model.add_results({std::make_shared<ov::op::v0::Result>(features)});
}

/// Gives a language model the input sampled_tokens_indices [rows] of i64: the tokens of a pass
/// whose logits are computed. A prompt then costs one row of the head, which is most of the time
/// where the vocabulary is large. Call it before the model is compiled. A model that has the input
/// stays as it is. Errors: specdec::error if the model's logits are not a product of hidden states
/// with the head.
inline void openvino_select_rows(ov::Model& model) {
    if (detail::has_name(model.inputs(), openvino_row_input))
        return;
    ov::Node& head = detail::openvino_head(model);
    const auto rows =
        std::make_shared<ov::op::v0::Parameter>(ov::element::i64, ov::PartialShape::dynamic(1));
    rows->set_friendly_name(openvino_row_input);
    rows->output(0).set_names({openvino_row_input});
    const auto tokens = ov::op::v0::Constant::create(ov::element::i64, {}, {std::int64_t{-2}});
    const auto chosen = std::make_shared<ov::op::v8::Gather>(head.input_value(0), rows, tokens);
    head.input(0).replace_source_output(chosen);
    model.add_parameters({rows});
    model.validate_nodes_and_infer_types();
}

} // namespace specdec
