// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "support/toy_checkpoint.hpp"
#include <specdec_engine/file/hf_checkpoint.hpp>
#include <specdec_engine/file/write_safetensors.hpp>
#include <specdec_engine/learn/features/feature_batch.hpp>
#include <specdec_engine/learn/features/feature_parameters.hpp>
#include <specdec_engine/learn/model_folder.hpp>

/// Bodies that read features, and drafts to teach them with.
namespace feature_toys {

using namespace specdec::engine;

/// The block of the toy checkpoint, one layer deep.
inline model_config body_config() {
    static const toy::checkpoint of(1, false, 1);
    return read_hf_config(of.config().dump(), "toy");
}

template <class Scalar>
feature_parameters<Scalar> some_body(bool bias = false, unsigned seed = 5) {
    feature_parameters<Scalar> body(feature_layout(body_config(), bias));
    std::minstd_rand bits(seed);
    for (const parameter& p : body.layout().tensors().tensors())
        for (Scalar& v : body.values().subspan(p.offset, p.size))
            v = static_cast<Scalar>(
                (static_cast<float>(bits() % 2001) - 1000.0F) * 3e-4F +
                (p.name == "layers.0.post_attention_layernorm.weight" ? 1.0F : 0.0F));
    return body;
}

/// The folder of a body.
inline void write_body(const toy::temporary_folder& folder, const feature_parameters<float>& body) {
    folder.write("config.json", toy::checkpoint(1, false, 1).config().dump());
    write_safetensors((folder.path() / "model.safetensors").string(),
                      tensors_of(body.layout().tensors(), body.values()));
}

inline std::vector<float> some_numbers(std::size_t n, unsigned seed) {
    std::minstd_rand bits(seed);
    std::vector<float> out(n);
    for (float& v : out)
        v = (static_cast<float>(bits() % 2001) - 1000.0F) * 1e-3F;
    return out;
}

/// A text with features behind all of its tokens but the last, and chains.
struct text {
    std::vector<std::int32_t> ids;
    std::vector<float> features;
    std::size_t width = 36;
    std::vector<std::vector<std::int32_t>> drafts;
    std::vector<feature_chain> chains;

    text(std::size_t n, unsigned seed) : features(some_numbers((n - 1) * 36, seed)) {
        for (std::size_t i = 0; i < n; ++i)
            ids.push_back(static_cast<std::int32_t>((i * i + 7 * i + 5 * seed) % 77));
    }
    /// A chain from a place on, of tokens that need not be the text's.
    void draft(std::size_t place, std::vector<std::int32_t> tokens) {
        drafts.push_back(std::move(tokens));
        chains.push_back({place, {}});
        for (std::size_t k = 0; k < chains.size(); ++k)
            chains[k].drafted = drafts[k];
    }
    [[nodiscard]] specdec::hidden_states states() const {
        return {features.data(), features.size() / width, width, width};
    }
    [[nodiscard]] feature_sequence view() const { return {ids, states(), chains}; }
};

/// Two texts whose chains have other depths, two of them at one place.
inline std::vector<text> some_texts() {
    std::vector<text> out{text(9, 3), text(6, 4)};
    out[0].draft(2, {5, 70, 8});
    out[0].draft(6, {});
    out[0].draft(2, {6});
    out[1].draft(0, {1, 2});
    out[1].draft(4, {3, 4, 5, 6});
    return out;
}
inline std::vector<feature_sequence> views(const std::vector<text>& texts) {
    std::vector<feature_sequence> out;
    for (const text& t : texts)
        out.push_back(t.view());
    return out;
}

} // namespace feature_toys
