// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <filesystem>
#include <functional>
#include <memory>

#include <specdec/core/error.hpp>
#include <specdec_engine/file/checkpoint.hpp>
#include <specdec_engine/file/gguf_checkpoint.hpp>
#include <specdec_engine/file/hf_checkpoint.hpp>
#include <specdec_engine/file/llama2c.hpp>
#include <specdec_engine/team/compiled_once.hpp>
#include <specdec_engine/transformer/own_types.hpp>
#include <specdec_engine/transformer/pack.hpp>
#include <specdec_engine/transformer/transformer.hpp>

namespace specdec::engine {

struct load_options {
    precision number_format = precision::bf16;
    context_options context{};
    /// Called from time to time with the fraction that is packed, from 0 to 1; may be empty.
    std::function<void(double)> progress{};
};

/// Opens a checkpoint by what it is: a folder (Hugging Face), a file that begins with "GGUF", or
/// else llama2.c. Nothing but headers is read, and a head of Hugging Face's that may be tied.
template <std::same_as<checkpoint> Checkpoint = checkpoint>
[[nodiscard]] Checkpoint open_checkpoint(const std::filesystem::path& path) {
    if (is_folder(path))
        return open_hf_folder(path);
    auto file = std::make_shared<const mapped_file>(path);
    if (file->text().starts_with("GGUF"))
        return open_gguf(gguf_file(file));
    if (path.extension() != ".bin")
        throw error(path.string(), "file",
                    "expected a Hugging Face folder, a GGUF file or a llama2.c .bin file");
    checkpoint c = open_llama2c(file->bytes(), file->source());
    c.files.push_back(std::move(file));
    return c;
}
SPECDEC_ONCE(checkpoint open_checkpoint(const std::filesystem::path&));

/// Makes a transformer of an open checkpoint, which may be closed afterwards.
[[nodiscard]] inline transformer make_transformer(const checkpoint& c,
                                                  const load_options& options) {
    const auto packed = [&]<class Format>(Format) -> transformer {
        return {pack<Format>(c, options.context.threads, options.progress), options.context,
                c.source};
    };
    switch (precision_of(c, options.number_format, options.context.instructions)) {
    case precision::f32:
        return packed(float{});
    case precision::bf16:
        return packed(bf16_bits{});
    case precision::native:
    case precision::q8:
    case precision::automatic: // precision_of has made another one of it
        break;
    }
    return packed(quantised{});
}

/// Loads a model: 135M parameters take about a second.
/// Errors: specdec::error naming the file and the field or tensor that is wrong.
[[nodiscard]] inline transformer load_transformer(const std::filesystem::path& path,
                                                  const load_options& options = {}) {
    return make_transformer(open_checkpoint(path), options);
}

} // namespace specdec::engine
