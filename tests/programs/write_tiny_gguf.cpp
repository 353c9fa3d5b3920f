// SPDX-License-Identifier: MIT
// Writes small models for the tests of the llama.cpp programs: FOLDER/target.gguf, drafter.gguf,
// recurrent.gguf and hybrid.gguf.
#include <filesystem>

#include "llama_cpp/tiny_model.hpp"

int main(int, char** argv) {
    using namespace specdec::tiny;
    const std::filesystem::path folder = argv[1];
    file_writer(architecture::llama, byte_level(), 3).write(folder / "target.gguf");
    file_writer(architecture::gemma3, sentencepiece(), 4).write(folder / "drafter.gguf");
    file_writer(architecture::mamba, byte_level(), 3).write(folder / "recurrent.gguf");
    file_writer(architecture::jamba, byte_level(), 3).write(folder / "hybrid.gguf");
}
