// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <ggml.h>
#include <gguf.h>
#include <llama-cpp.h>

#include "support/temporary_folder.hpp"
#include "tiny_vocabulary.hpp"
#include <specdec/core/token_id.hpp>

/// GGUF files with random weights, made where a test needs them: about 200 KB, two vocabularies,
/// the architectures whose memories differ.
namespace specdec::tiny {

enum class architecture {
    llama,  ///< keeps everything
    gemma3, ///< five layers of six see the last 16 tokens only
    mamba,  ///< a state that cannot go back
    jamba,  ///< a hybrid: one layer of each
};

class file_writer {
public:
    file_writer(architecture arch, const vocabulary_parts& vocabulary, std::uint32_t seed)
        : name_(arch == architecture::llama    ? "llama"
                : arch == architecture::gemma3 ? "gemma3"
                : arch == architecture::mamba  ? "mamba"
                                               : "jamba"),
          seed_(seed), tensors_(ggml_init({room_for(vocabulary), nullptr, false})),
          file_(gguf_init_empty()) {
        gguf_set_val_str(file_.get(), "general.architecture", name_.c_str());
        number("context_length", 4096);
        number("embedding_length", width);
        number("block_count", layers(arch));
        number("feed_forward_length", hidden);
        decimal("attention.layer_norm_rms_epsilon", 1e-5F);
        write_vocabulary(file_.get(), vocabulary);
        matrix("token_embd.weight", width, static_cast<std::int64_t>(vocabulary.tokens.size()));
        ones("output_norm.weight", width);
        switch (arch) {
        case architecture::mamba:
            write_states();
            for (std::uint32_t i = 0; i < layers(arch); ++i)
                write_state(block_name(i));
            break;
        case architecture::jamba: {
            write_states();
            write_heads();
            const std::uint32_t key_heads[] = {0, heads}; // none: a state
            gguf_set_arr_data(file_.get(), "jamba.attention.head_count_kv", GGUF_TYPE_UINT32,
                              key_heads, 2);
            write_state(block_name(0));
            for (const char* norm : {"ssm_dt_norm", "ssm_b_norm", "ssm_c_norm"})
                ones(block_name(0) + norm + ".weight", norm[4] == 'd' ? rank : state);
            write_projections(block_name(1));
            ones(block_name(1) + "attn_norm.weight", width);
            for (std::uint32_t i = 0; i < layers(arch); ++i)
                write_hidden(block_name(i));
            break;
        }
        default:
            write_attention(arch);
        }
    }

    void write(const std::filesystem::path& path) const {
        if (!gguf_write_to_file(file_.get(), path.c_str(), false))
            throw std::runtime_error("cannot write " + path.string());
    }

private:
    static constexpr std::int64_t width = 32, head = 16, heads = 2, hidden = 48;
    static constexpr std::int64_t inner = 2 * width, state = 8, rank = 4, kernel = 4;
    /// The embedding, and much less for all else.
    static std::size_t room_for(const vocabulary_parts& vocabulary) {
        return vocabulary.tokens.size() * width * sizeof(float) + (std::size_t{1} << 22U);
    }
    static std::uint32_t layers(architecture arch) { return arch == architecture::gemma3 ? 6 : 2; }

    static std::string block_name(std::uint32_t i) { return "blk." + std::to_string(i) + "."; }

    void write_heads() {
        number("attention.head_count", heads);
        number("attention.key_length", head);
        number("attention.value_length", head);
    }
    void write_projections(const std::string& block) {
        for (const char* which : {"attn_q", "attn_k", "attn_v", "attn_output"})
            matrix(block + which + ".weight", width, width);
    }
    void write_hidden(const std::string& block) {
        matrix(block + "ffn_gate.weight", width, hidden);
        matrix(block + "ffn_up.weight", width, hidden);
        matrix(block + "ffn_down.weight", hidden, width);
        ones(block + "ffn_norm.weight", width);
    }
    void write_attention(architecture arch) {
        write_heads();
        number("attention.head_count_kv", heads);
        number("rope.dimension_count", head);
        decimal("rope.freq_base", 10000);
        if (arch == architecture::gemma3)
            number("attention.sliding_window", 16);
        for (std::uint32_t i = 0; i < layers(arch); ++i) {
            write_projections(block_name(i));
            write_hidden(block_name(i));
            ones(block_name(i) + "attn_norm.weight", width);
            if (arch != architecture::gemma3)
                continue;
            for (const char* norm : {"post_attention_norm", "post_ffw_norm"})
                ones(block_name(i) + norm + ".weight", width);
            for (const char* norm : {"attn_q_norm", "attn_k_norm"})
                ones(block_name(i) + norm + ".weight", head);
        }
    }

    void write_states() {
        number("ssm.conv_kernel", kernel);
        number("ssm.inner_size", inner);
        number("ssm.state_size", state);
        number("ssm.time_step_rank", rank);
    }
    void write_state(const std::string& block) {
        ones(block + "attn_norm.weight", width);
        matrix(block + "ssm_in.weight", width, 2 * inner);
        matrix(block + "ssm_conv1d.weight", kernel, inner);
        ones(block + "ssm_conv1d.bias", inner);
        matrix(block + "ssm_x.weight", inner, rank + 2 * state);
        matrix(block + "ssm_dt.weight", rank, inner);
        ones(block + "ssm_dt.bias", inner);
        matrix(block + "ssm_a", state, inner, -0.2F); // below 0: it forgets
        ones(block + "ssm_d", inner);
        matrix(block + "ssm_out.weight", inner, width);
    }

    void number(const std::string& key, std::int64_t value) {
        gguf_set_val_u32(file_.get(), (name_ + "." + key).c_str(),
                         static_cast<std::uint32_t>(value));
    }
    void decimal(const std::string& key, float value) {
        gguf_set_val_f32(file_.get(), (name_ + "." + key).c_str(), value);
    }
    void add(ggml_tensor* tensor, const std::string& name) {
        ggml_set_name(tensor, name.c_str());
        gguf_add_tensor(file_.get(), tensor);
    }
    void ones(const std::string& name, std::int64_t n) {
        ggml_tensor* t = ggml_new_tensor_1d(tensors_.get(), GGML_TYPE_F32, n);
        for (std::int64_t i = 0; i < n; ++i)
            ggml_get_data_f32(t)[i] = 1;
        add(t, name);
    }
    /// Large enough weights for rows that differ clearly.
    void matrix(const std::string& name, std::int64_t columns, std::int64_t rows,
                float middle = 0) {
        ggml_tensor* t = ggml_new_tensor_2d(tensors_.get(), GGML_TYPE_F32, columns, rows);
        for (std::int64_t i = 0; i < columns * rows; ++i) {
            seed_ = seed_ * 1664525U + 1013904223U;
            ggml_get_data_f32(t)[i] = static_cast<float>(seed_ >> 8) / (1U << 23U) * 0.6F - 0.6F;
            if (middle != 0) // a third as wide, around it
                ggml_get_data_f32(t)[i] = middle + ggml_get_data_f32(t)[i] / 3;
        }
        add(t, name);
    }

    struct free_all {
        void operator()(ggml_context* c) const { ggml_free(c); }
        void operator()(gguf_context* c) const { gguf_free(c); }
    };

    std::string name_;
    std::uint32_t seed_;
    std::unique_ptr<ggml_context, free_all> tensors_;
    std::unique_ptr<gguf_context, free_all> file_;
};

/// A file in a folder of its own, deleted with this object.
class model_file {
public:
    explicit model_file(architecture arch = architecture::llama,
                        const vocabulary_parts& vocabulary = sentencepiece(),
                        std::uint32_t seed = 1) {
        file_writer(arch, vocabulary, seed).write(path_);
    }

    [[nodiscard]] const std::filesystem::path& path() const { return path_; }

private:
    testing::temporary_folder folder_;
    std::filesystem::path path_ = folder_.path() / "model.gguf";
};

/// llama.cpp's model of such a file; its contexts compute with one thread.
class loaded_model {
public:
    explicit loaded_model(const model_file& file) {
        llama_log_set([](ggml_log_level, const char*, void*) {}, nullptr);
        model_.reset(llama_model_load_from_file(file.path().c_str(), llama_model_default_params()));
        if (!model_)
            throw std::runtime_error("llama.cpp refuses the tiny model");
    }

    [[nodiscard]] static llama_context_params parameters(std::uint32_t n_ctx = 256) {
        llama_context_params p = llama_context_default_params();
        p.n_ctx = n_ctx;
        p.n_threads = p.n_threads_batch = 1;
        // Keys and values in full precision: what is left is the order of sums.
        p.type_k = p.type_v = GGML_TYPE_F32;
        p.flash_attn_type = LLAMA_FLASH_ATTN_TYPE_DISABLED;
        return p;
    }
    [[nodiscard]] llama_context_ptr context(const llama_context_params& p = parameters()) const {
        return llama_context_ptr(llama_init_from_model(model_.get(), p));
    }
    [[nodiscard]] const llama_vocab* vocab() const { return llama_model_get_vocab(model_.get()); }

private:
    llama_model_ptr model_;
};

/// n tokens of either vocabulary, of an endless text those from `from` on.
inline std::vector<target_id> text(std::size_t n, std::size_t from = 0) {
    std::vector<target_id> ids;
    for (std::size_t i = from; i < from + n; ++i)
        ids.push_back(id_at<target_id>(3 + i * 37 % 290));
    return ids;
}

} // namespace specdec::tiny
