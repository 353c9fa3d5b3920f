// SPDX-License-Identifier: MIT
#pragma once

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

} // namespace specdec
