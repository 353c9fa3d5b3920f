// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include <openvino/openvino.hpp>

#include <specdec/core/error.hpp>

namespace specdec {

/// The input that says for which positions of a pass a model computes logits. OpenVINO GenAI gives
/// it this name, and so does openvino_select_rows(). Optional: without it all positions have them.
inline constexpr const char* openvino_row_input = "sampled_tokens_indices";
/// The output that openvino_show_features() adds.
inline constexpr const char* openvino_feature_output = "specdec_features";

/// The inputs and outputs of a compiled language model, as OpenVINO GenAI and optimum-intel export
/// them: input_ids, attention_mask and position_ids [batch, tokens] of i64; beam_idx [batch] of
/// i32, optional; sampled_tokens_indices, optional; logits [batch, tokens, vocabulary] of f32;
/// specdec_features [batch, tokens, width] of f32, optional.
///
/// Errors: specdec::error that names the input or output that is missing, unknown, or of another
/// type or shape.
struct openvino_ports {
    using port = ov::Output<const ov::Node>;

    explicit openvino_ports(const ov::CompiledModel& model) {
        for (const port& p : model.inputs())
            take_input(p);
        for (const port& p : model.outputs())
            take_output(p);
        require(ids, "input_ids", "an input of this name");
        require(mask, "attention_mask", "an input of this name: rejected tokens are masked");
        require(positions, "position_ids",
                "an input of this name: rejected tokens stay in the cache, so that the place of a "
                "token there is not its position");
        require(logits, "logits", "an output of this name");
        vocabulary = static_cast<std::size_t>(logits->get_partial_shape()[2].get_length());
        if (features)
            feature_width = static_cast<std::size_t>(features->get_partial_shape()[2].get_length());
    }

    std::optional<port> ids, mask, positions, beams, rows, logits, features;
    std::size_t vocabulary = 0, feature_width = 0;

private:
    static void require(const std::optional<port>& found, const char* name,
                        const std::string& expected) {
        if (!found)
            fail("OpenVINO model", name, "expected " + expected);
    }
    static void require_type(const port& p, const std::string& name,
                             const ov::element::Type& type) {
        if (p.get_element_type() != type)
            fail("OpenVINO model", name,
                 "expected numbers of type " + type.get_type_name() + ", found " +
                     p.get_element_type().get_type_name());
    }
    void take_input(const port& p) {
        const auto take = [&](const char* name, const ov::element::Type& type,
                              std::optional<port>& to) {
            if (!p.get_names().contains(name))
                return false;
            require_type(p, name, type);
            to = p;
            return true;
        };
        if (!take("input_ids", ov::element::i64, ids) &&
            !take("attention_mask", ov::element::i64, mask) &&
            !take("position_ids", ov::element::i64, positions) &&
            !take("beam_idx", ov::element::i32, beams) &&
            !take(openvino_row_input, ov::element::i64, rows))
            fail("OpenVINO model", p.get_any_name(),
                 "expected no other input than input_ids, attention_mask, position_ids, beam_idx "
                 "and sampled_tokens_indices");
    }
    void take_output(const port& p) {
        const bool is_logits = p.get_names().contains("logits");
        if (!is_logits && !p.get_names().contains(openvino_feature_output))
            return; // an engine may show more
        const std::string name = is_logits ? "logits" : openvino_feature_output;
        require_type(p, name, ov::element::f32);
        const ov::PartialShape& shape = p.get_partial_shape();
        if (shape.rank().is_dynamic() || shape.rank().get_length() != 3 || shape[2].is_dynamic())
            fail("OpenVINO model", name,
                 "expected the shape [batch, tokens, a fixed width], found " + shape.to_string());
        (is_logits ? logits : features) = p;
    }
};

} // namespace specdec
