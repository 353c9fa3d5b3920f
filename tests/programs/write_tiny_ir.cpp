// SPDX-License-Identifier: MIT
// write_tiny_ir FOLDER VOCABULARY SEED: a stateful language model of random weights as OpenVINO's
// IR, FOLDER/openvino_model.xml.
#include <cstdlib>
#include <iostream>
#include <string>

#include "openvino/toy_ir.hpp"

int main(int argc, char** argv) {
    if (argc != 4)
        return std::cerr << "usage: write_tiny_ir FOLDER VOCABULARY SEED\n", 1;
    ov::save_model(
        specdec::toy_ir::model_builder({.vocabulary = std::stoul(argv[2]),
                                        .seed = static_cast<std::uint32_t>(std::stoul(argv[3])),
                                        .scale = 3})
            .model,
        std::string(argv[1]) + "/openvino_model.xml", false);
}
