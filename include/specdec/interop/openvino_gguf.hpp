// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <openvino/frontend/extension/decoder_transformation.hpp>
#include <openvino/frontend/gguf/adapt_to_genai.hpp>
#include <openvino/frontend/gguf/frontend.hpp>
#include <openvino/frontend/gguf/make_stateful.hpp>
#include <openvino/op/constant.hpp>
#include <openvino/op/convert.hpp>
#include <openvino/op/cum_sum.hpp>
#include <openvino/op/gather.hpp>
#include <openvino/op/greater.hpp>
#include <openvino/op/less.hpp>
#include <openvino/op/less_eq.hpp>
#include <openvino/op/logical_and.hpp>
#include <openvino/op/range.hpp>
#include <openvino/op/reshape.hpp>
#include <openvino/op/select.hpp>
#include <openvino/op/shape_of.hpp>
#include <openvino/op/subtract.hpp>
#include <openvino/op/unsqueeze.hpp>
#include <openvino/openvino.hpp>

#include <specdec/core/error.hpp>
#include <specdec/interop/openvino_rows.hpp> // has_name

namespace specdec {

namespace detail {

/// Two inputs of a model as the frontend makes it. The pass AdaptToGenAI would compute logits of a
/// pass's last token only, and attention masks by positions, which are wrong as soon as the cache
/// holds masked tokens: the place of a token there is not its position.
class openvino_gguf_inputs {
    using node = ov::Output<ov::Node>;
    static constexpr const char* window_input = "self_kq_mask_swa"; // optional

public:
    /// Before AdaptToGenAI. From here on all tokens of a pass have logits.
    explicit openvino_gguf_inputs(ov::Model& model)
        : mask_(users(model, "self_kq_mask")),
          window_mask_(has_name(model.inputs(), window_input) ? users(model, window_input)
                                                              : inputs()) {
        const node all = std::make_shared<ov::op::v0::Convert>(
            range(numbers({}, {0}), length(find(model, "inp_tokens"), -1)), ov::element::i32);
        const auto shaped =
            std::make_shared<ov::op::v1::Reshape>(all, numbers({4}, {1, 1, 1, -1}), false);
        for (ov::Input<ov::Node> user : users(model, "inp_out_ids"))
            user.replace_source_output(shaped);
    }

    /// After AdaptToGenAI: a token sees the tokens before it in the cache that attention_mask
    /// keeps; through a window, only the tokens at the last positions.
    void mask(ov::Model& model) {
        const node kept = find(model, "attention_mask"), places = length(kept, 1);
        const node first =
            std::make_shared<ov::op::v1::Subtract>(places, length(find(model, "input_ids"), 1));
        const node key = range(numbers({}, {0}), places); // [places]
        const node query = std::make_shared<ov::op::v0::Unsqueeze>(range(first, places),
                                                                   numbers({}, {1})); // [tokens, 1]
        const node flags =
            std::make_shared<ov::op::v1::Reshape>(kept, numbers({1}, {-1}), false); // [places]
        const node seen = std::make_shared<ov::op::v1::LogicalAnd>(
            std::make_shared<ov::op::v1::LessEqual>(key, query),
            std::make_shared<ov::op::v1::Greater>(flags, numbers({}, {0})));
        replace(mask_, seen);
        const std::int64_t window = window_of(model);
        if (window == 0)
            return replace(window_mask_, seen);
        const node count = std::make_shared<ov::op::v0::CumSum>(flags, numbers({}, {0}));
        const node own = std::make_shared<ov::op::v8::Gather>(count, query, numbers({}, {0}));
        replace(window_mask_, std::make_shared<ov::op::v1::LogicalAnd>(
                                  seen, std::make_shared<ov::op::v1::Less>(
                                            std::make_shared<ov::op::v1::Subtract>(own, count),
                                            numbers({}, {window}))));
    }

private:
    using inputs = std::set<ov::Input<ov::Node>>;

    static node find(ov::Model& model, const std::string& name) {
        for (const node& input : model.inputs())
            if (input.get_names().contains(name))
                return input;
        fail("GGUF model", name, "expected an input of this name");
    }
    static inputs users(ov::Model& model, const std::string& name) {
        return find(model, name).get_target_inputs();
    }
    /// The window of attention that the file tells of; 0: none.
    static std::int64_t window_of(const ov::Model& model) {
        const auto& facts = model.get_rt_info();
        const auto found = facts.find(ov::frontend::gguf::pass::gguf_swa_window_key());
        return found == facts.end() ? 0 : found->second.as<std::int64_t>();
    }
    static node numbers(const ov::Shape& shape, const std::vector<std::int64_t>& values) {
        return ov::op::v0::Constant::create(ov::element::i64, shape, values);
    }
    /// How long one of its axes is.
    static node length(const node& of, std::int64_t axis) {
        return std::make_shared<ov::op::v8::Gather>(std::make_shared<ov::op::v3::ShapeOf>(of),
                                                    numbers({}, {axis}), numbers({}, {0}));
    }
    static node range(const node& first, const node& end) {
        return std::make_shared<ov::op::v4::Range>(first, end, numbers({}, {1}), ov::element::i64);
    }
    /// Gives the users the mask [1, 1, tokens, places], which is added to products of queries and
    /// keys.
    static void replace(const inputs& users, const node& seen) {
        const auto number = [](float value) {
            return ov::op::v0::Constant::create(ov::element::f32, {}, {value});
        };
        const node added = std::make_shared<ov::op::v0::Unsqueeze>(
            std::make_shared<ov::op::v1::Select>(seen, number(0),
                                                 number(-std::numeric_limits<float>::infinity())),
            numbers({2}, {0, 1}));
        for (ov::Input<ov::Node> user : users)
            user.replace_source_output(added);
    }

    inputs mask_, window_mask_;
};

} // namespace detail

/// Reads a GGUF file as a stateful language model with the inputs of openvino_ports. Needs
/// OpenVINO's GGUF frontend (2026.4 or newer; openvino::frontend::gguf in CMake), which
/// ov::Core::read_model() does not try. Its windows of attention count positions, so masked tokens
/// take no room in them (openvino_settings::window stays 0). Errors: specdec::error for a model of
/// other inputs; what OpenVINO throws (ov::Exception) passes.
[[nodiscard]] inline std::shared_ptr<ov::Model> openvino_read_gguf(const std::string& file) {
    namespace gguf = ov::frontend::gguf;
    gguf::FrontEnd reader;
    reader.add_extension(std::make_shared<ov::frontend::DecoderTransformationExtension>(
        gguf::pass::GGUFMakeStateful()));
    const std::shared_ptr<ov::Model> model = reader.convert(reader.load(file));
    detail::openvino_gguf_inputs own(*model);
    (void)gguf::pass::AdaptToGenAI().run_on_model(model);
    own.mask(*model);
    return model;
}

} // namespace specdec
