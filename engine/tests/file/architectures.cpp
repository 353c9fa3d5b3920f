// SPDX-License-Identifier: MIT
// Every row of the table of architectures and formats in engine/README.md: Transformers' folders of
// tests/golden as GGUF files of every type, which have the folders' logits.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "support/quantised_rows.hpp"
#include "support/toy_checkpoint.hpp"
#include <specdec_engine/load.hpp>

using namespace specdec::engine;

namespace architectures_tests {

const std::string golden = SPECDEC_SOURCE_DIR "/tests/golden/";

/// The number that GGUF has for a type.
std::uint32_t number_of(dtype type) {
    switch (type) {
    case dtype::f32:
        return 0;
    case dtype::f16:
        return 1;
    case dtype::q4_0:
        return 2;
    case dtype::q4_1:
        return 3;
    case dtype::q8_0:
        return 8;
    case dtype::bf16:
        return 30;
    case dtype::q5_0:
    case dtype::q5_1:
    case dtype::q2_k:
    case dtype::q3_k:
    case dtype::q4_k:
    case dtype::q5_k:
    case dtype::q6_k:
    case dtype::other:
        break;
    }
    return 99;
}

std::vector<std::byte> stored(dtype type, const std::vector<float>& row) {
    std::vector<std::byte> out;
    if (block_values(type) > 1)
        return toy::quantised_numbers(type, row);
    for (const float x : row) {
        std::uint32_t bits = std::bit_cast<std::uint32_t>(x);
        if (type == dtype::f16)
            bits = Eigen::numext::bit_cast<std::uint16_t>(static_cast<Eigen::half>(x));
        if (type == dtype::bf16)
            bits = round_to_bf16(x);
        for (std::size_t i = 0; i < block_bytes(type); ++i)
            out.push_back(static_cast<std::byte>(bits >> (8 * i)));
    }
    return out;
}

struct row {
    std::string folder, architecture;
};

/// The folder's model as llama.cpp's converter writes it, with matrices of a type.
std::string converted(const checkpoint& c, const row& of, dtype type) {
    const model_config& m = c.config;
    std::string pairs, out = "GGUF";
    std::uint64_t count = 0;
    const auto key = [&](const char* name) {
        ++count;
        return of.architecture + "." + name;
    };
    toy::put_string(pairs, "general.architecture");
    toy::put<std::uint32_t>(pairs, 8);
    toy::put_string(pairs, of.architecture);
    toy::put_u32(pairs, key("embedding_length"), m.dimension);
    toy::put_u32(pairs, key("block_count"), m.layers);
    toy::put_u32(pairs, key("attention.head_count"), m.heads);
    toy::put_u32(pairs, key("attention.head_count_kv"), m.kv_heads);
    toy::put_u32(pairs, key("attention.key_length"), m.head_dimension);
    toy::put_u32(pairs, key("attention.value_length"), m.head_dimension);
    toy::put_u32(pairs, key("feed_forward_length"), m.hidden_dimension);
    toy::put_u32(pairs, key("context_length"), m.context);
    toy::put_f32(pairs, key("attention.layer_norm_rms_epsilon"), m.rms_epsilon);
    toy::put_f32(pairs, key("rope.freq_base"), static_cast<float>(m.rotary.theta));
    if (m.window < m.context)
        toy::put_u32(pairs, key("attention.sliding_window"), m.window);
    if (of.architecture == "gemma3")
        toy::put_u32(pairs, key("attention.sliding_window_pattern"), 3);
    if (m.rotary.linear != 1) {
        toy::put_string(pairs, key("rope.scaling.type"));
        toy::put<std::uint32_t>(pairs, 8);
        toy::put_string(pairs, "linear");
        toy::put_f32(pairs, key("rope.scaling.factor"), static_cast<float>(m.rotary.linear));
    }
    const bool turned = of.architecture == "llama" || of.architecture == "smollm3";
    toy::checkpoint order;
    order.head_dimension = m.head_dimension;
    std::string entries, data;
    for (const auto& [name, t] : c.tensors) {
        toy::weights w{t.shape, {}};
        std::vector<float> values(t.columns());
        for (std::size_t r = 0; r < t.rows(); ++r) {
            read_row(t, r, values);
            w.values.insert(w.values.end(), values.begin(), values.end());
        }
        if (m.norms_less_one && t.shape.size() == 1)
            for (float& x : w.values)
                x += 1;
        if (turned && (name.find("q_proj") != name.npos || name.find("k_proj") != name.npos))
            w.values = order.interleaved(w);
        const dtype own = t.shape.size() == 1 ? dtype::f32 : type;
        toy::put_string(entries, m.post_norms ? detail::gguf_name_of_four_norms(name)
                                              : detail::gguf_name(name));
        toy::put(entries, static_cast<std::uint32_t>(t.shape.size()));
        for (std::size_t a = t.shape.size(); a-- > 0;)
            toy::put<std::uint64_t>(entries, t.shape[a]);
        toy::put(entries, number_of(own));
        data.resize((data.size() + 31) / 32 * 32);
        toy::put<std::uint64_t>(entries, data.size());
        for (std::size_t r = 0; r < t.rows(); ++r) {
            const auto* const begin = w.values.data() + r * t.columns();
            const std::vector<std::byte> bytes = stored(own, {begin, begin + t.columns()});
            data.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
        }
    }
    toy::put<std::uint32_t>(out, 3);
    toy::put<std::uint64_t>(out, c.tensors.size());
    toy::put<std::uint64_t>(out, count + 1);
    out += pairs + entries;
    out.resize((out.size() + 31) / 32 * 32);
    return out + data;
}

std::vector<float> logits_of(const checkpoint& c, precision format,
                             const std::vector<std::int32_t>& ids) {
    transformer t = make_transformer(c, {format, {.threads = 1, .rows = ids.size()}, {}});
    t.score(ids);
    std::vector<float> out;
    for (std::size_t i = 0; i < ids.size(); ++i)
        out.insert(out.end(), &t.logits()(i, 0), &t.logits()(i, 0) + t.vocabulary_size());
    return out;
}

TEST_CASE("every architecture in every type of GGUF has the logits of its Hugging Face folder") {
    const toy::temporary_folder folder;
    const row rows[] = {{"llama", "llama"}, {"mistral-window", "llama"}, {"qwen2", "qwen2"},
                        {"qwen3", "qwen3"}, {"gemma3", "gemma3"},        {"smollm3", "smollm3"}};
    for (const row& of : rows) {
        CAPTURE(of.folder);
        std::ifstream file(golden + of.folder + "/ids.json");
        const auto ids = nlohmann::json::parse(file).get<std::vector<std::int32_t>>();
        const checkpoint hf = open_checkpoint(golden + of.folder);
        const std::vector<float> expected = logits_of(hf, precision::f32, ids);
        double size = 0;
        for (const float x : expected)
            size += double{x} * double{x};
        for (const auto& [type, bound] : {std::pair{dtype::f32, 1e-6},
                                          {dtype::f16, 0.02},
                                          {dtype::bf16, 0.1},
                                          {dtype::q8_0, 0.1},
                                          {dtype::q4_1, 0.9},
                                          {dtype::q4_0, 0.9}}) {
            CAPTURE(name(type));
            const checkpoint gguf =
                open_checkpoint(folder.write("m.gguf", converted(hf, of, type)));
            // Gemma's query scale is its architecture's in GGUF, and one of its own in the golden
            // folder.
            checkpoint same = gguf;
            same.config.query_scale = hf.config.query_scale;
            const std::vector<float> found = logits_of(same, precision::f32, ids);
            REQUIRE(found.size() == expected.size());
            double off = 0;
            for (std::size_t i = 0; i < found.size(); ++i)
                off += std::pow(double{found[i]} - double{expected[i]}, 2);
            CHECK(std::sqrt(off / size) < bound);
        }
    }
}

} // namespace architectures_tests
