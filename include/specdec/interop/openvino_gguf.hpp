// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include <openvino/frontend/extension/decoder_transformation.hpp>
#include <openvino/frontend/gguf/adapt_to_genai.hpp>
#include <openvino/frontend/gguf/frontend.hpp>
#include <openvino/frontend/gguf/make_stateful.hpp>
#include <openvino/openvino.hpp>

namespace specdec {

/// Reads a GGUF file as a stateful language model with the inputs of openvino_ports. Needs
/// OpenVINO's GGUF frontend (2026.4 or newer; openvino::frontend::gguf in CMake), which
/// ov::Core::read_model() does not try. What OpenVINO throws (ov::Exception) passes.
[[nodiscard]] inline std::shared_ptr<ov::Model> openvino_read_gguf(const std::string& file) {
    namespace gguf = ov::frontend::gguf;
    gguf::FrontEnd reader;
    reader.add_extension(std::make_shared<ov::frontend::DecoderTransformationExtension>(
        gguf::pass::GGUFMakeStateful()));
    const std::shared_ptr<ov::Model> model = reader.convert(reader.load(file));
    (void)gguf::pass::AdaptToGenAI().run_on_model(model);
    return model;
}

/// The window of attention that a GGUF file tells of (openvino_settings::window); 0: none.
[[nodiscard]] inline std::size_t openvino_window(const ov::Model& model) {
    const auto& facts = model.get_rt_info();
    const auto found = facts.find(ov::frontend::gguf::pass::gguf_swa_window_key());
    return found == facts.end() ? 0 : static_cast<std::size_t>(found->second.as<std::int64_t>());
}

} // namespace specdec
