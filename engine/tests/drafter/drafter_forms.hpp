// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "support/toy_checkpoint.hpp"
#include <specdec/head/lm_head.hpp>
#include <specdec_engine/load.hpp>
#include <specdec_engine/transformer/batch.hpp>

/// Drafters that read the toy checkpoint's features, in both forms, and their forward pass in
/// double precision.
namespace drafter_forms {

using namespace specdec;
using namespace specdec::engine;
using doubles = std::vector<double>;

/// A drafter for the toy checkpoint, in either form.
struct drafter_files {
    toy::checkpoint of;
    nlohmann::json config;

    explicit drafter_files(feature_kind kind, bool bias = false) {
        const toy::checkpoint model;
        const std::size_t d = of.dimension;
        const bool three = kind == feature_kind::low_mid_high;
        of.tensors.clear();
        of.layers = 1;
        config = of.config();
        const std::string p = three ? "midlayer." : "layers.0.";
        const std::size_t read = three ? 2 * d : d;
        add("fc.weight", {d, three ? 3 * d : 2 * d});
        if (bias)
            add("fc.bias", {d});
        add(p + "self_attn.q_proj.weight", {36, read});
        add(p + "self_attn.k_proj.weight", {18, read});
        add(p + "self_attn.v_proj.weight", {18, read});
        add(p + "self_attn.o_proj.weight", {d, 36});
        add(p + "mlp.gate_proj.weight", {of.hidden, d});
        add(p + "mlp.up_proj.weight", {of.hidden, d});
        add(p + "mlp.down_proj.weight", {d, of.hidden});
        add(p + "post_attention_layernorm.weight", {d});
        if (!three)
            return;
        add(p + "input_layernorm.weight", {d});
        add(p + "hidden_norm.weight", {d});
        add("norm.weight", {d});
        add("lm_head.weight", {5, d});
        config["architectures"] = {"LlamaForCausalLMEagle3"};
        config["draft_vocab_size"] = 5;
    }

    /// Norms of EAGLE-3's form, with their tensors.
    void set(const feature_norms& norms) {
        const std::size_t d = of.dimension;
        config.update({{"norm_before_fc", norms.before_fc == fuse_norm::whole},
                       {"fc_norm", norms.before_fc == fuse_norm::each},
                       {"norm_before_residual", norms.before_residual},
                       {"norm_output", norms.output}});
        if (norms.before_fc == fuse_norm::whole)
            add("input_norm.weight", {3 * d});
        if (norms.before_fc == fuse_norm::each)
            for (const char* const name :
                 {"fc_norm.0.weight", "fc_norm.1.weight", "fc_norm.2.weight"})
                add(name, {d});
    }

    /// The target's rows, the last first: an embedding of its own.
    void add_embedding(bool copied = false) {
        toy::weights w = toy::checkpoint().tensors.at("model.embed_tokens.weight");
        if (!copied)
            std::reverse(w.values.begin(), w.values.end());
        of.tensors["embed_tokens.weight"] = w;
    }

    /// With d2t of the tokens 0, 7, 8, 30, 76 where the form has it.
    void write(const toy::temporary_folder& folder, bool listed = true) const {
        folder.write("config.json", config.dump());
        std::string file = of.safetensors();
        if (listed && of.tensors.count("lm_head.weight") != 0) {
            std::string offsets;
            for (const std::int64_t o : {0, 6, 6, 27, 72})
                toy::put(offsets, o);
            std::uint64_t length = 0;
            std::memcpy(&length, file.data(), 8);
            const std::size_t data = file.size() - 8 - length;
            file = of.safetensors([&](nlohmann::json& header) {
                header["d2t"] = {
                    {"dtype", "I64"}, {"shape", {5}}, {"data_offsets", {data, data + 40}}};
            });
            file += offsets;
        }
        folder.write("model.safetensors", file);
    }

    [[nodiscard]] doubles times(const std::string& name, const doubles& x) const {
        const toy::weights& w = of.tensors.at(name);
        doubles y(w.shape[0]);
        for (std::size_t r = 0; r < y.size(); ++r)
            for (std::size_t k = 0; k < x.size(); ++k)
                y[r] += static_cast<double>(w.values[r * x.size() + k]) * x[k];
        return y;
    }
    [[nodiscard]] doubles norm(const std::string& name, doubles x) const {
        double squares = 0;
        for (const double v : x)
            squares += v * v;
        for (std::size_t k = 0; k < x.size(); ++k)
            x[k] *= static_cast<double>(of.tensors.at(name).values[k]) /
                    std::sqrt(squares / static_cast<double>(x.size()) + 1e-5);
        return x;
    }
    /// Three features as fc reads them.
    [[nodiscard]] doubles normed_features(const doubles& x) const {
        if (config.value("norm_before_fc", false))
            return norm("input_norm.weight", x);
        if (!config.value("fc_norm", false))
            return x;
        doubles all;
        for (std::size_t i = 0; i < 3; ++i) {
            const auto begin = x.begin() + static_cast<std::ptrdiff_t>(i * of.dimension);
            const doubles one =
                norm("fc_norm." + std::to_string(i) + ".weight",
                     doubles(begin, begin + static_cast<std::ptrdiff_t>(of.dimension)));
            all.insert(all.end(), one.begin(), one.end());
        }
        return all;
    }

private:
    void add(const std::string& name, const std::vector<std::size_t>& shape) {
        toy::weights w{shape, {}};
        w.values.resize(shape.size() == 2 ? shape[0] * shape[1] : shape[0]);
        for (float& v : w.values)
            v = (static_cast<float>(bits_() % 2001) - 1000.0F) * 3e-4F +
                (shape.size() == 1 ? 1.0F : 0.0F);
        of.tensors[name] = w;
    }
    std::minstd_rand bits_{5};
};

/// EAGLE-3's form under speculators' names, with its config.json.
struct speculators_files {
    drafter_files files{feature_kind::low_mid_high};
    nlohmann::json config;

    explicit speculators_files(const feature_norms& norms = {}) {
        files.set(norms);
        nlohmann::json layer = files.config;
        layer.erase("draft_vocab_size");
        layer["architectures"] = {"LlamaModel"};
        layer["model_type"] = "llama";
        config = {{"architectures", {"Eagle3Speculator"}},
                  {"speculators_model_type", "eagle3"},
                  {"speculators_config", {{"algorithm", "eagle3"}, {"proposal_methods", nullptr}}},
                  {"transformer_layer_config", layer},
                  {"draft_vocab_size", 5},
                  {"norm_before_residual", norms.before_residual},
                  {"norm_before_fc", nullptr},
                  {"target_hidden_size", nullptr},
                  {"eagle_aux_hidden_state_layer_ids", {0, 1, 0}}};
        if (norms.before_fc == fuse_norm::whole)
            config["norm_before_fc"] = true;
        if (norms.before_fc == fuse_norm::each)
            config["fc_norm"] = true;
        if (norms.output)
            config["norm_output"] = true;
    }
    void write(const toy::temporary_folder& folder) const {
        drafter_files named = files;
        named.of.tensors.clear();
        for (const auto& [name, w] : files.of.tensors)
            named.of.tensors[name.starts_with("midlayer.") ? "layers.0." + name.substr(9) : name] =
                w;
        named.config = config;
        named.write(folder);
    }
};

struct place {
    int token;
    doubles feature;
    bool own;
};

inline doubles joined(doubles a, const doubles& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}
inline doubles sum(doubles a, const doubles& b) {
    for (std::size_t k = 0; k < a.size(); ++k)
        a[k] += b[k];
    return a;
}
/// A head of six numbers, turned by its position: first half and second half.
inline void turn(double* head, std::size_t position) {
    for (std::size_t k = 0; k < 3; ++k) {
        const double angle =
            static_cast<double>(position) * std::pow(10000.0, -2.0 * static_cast<double>(k) / 6);
        const double a = head[k], b = head[k + 3];
        head[k] = a * std::cos(angle) - b * std::sin(angle);
        head[k + 3] = a * std::sin(angle) + b * std::cos(angle);
    }
}

/// The paper's forward pass in double precision: {hidden state, own feature} of the last place.
inline std::pair<doubles, doubles> oracle(const drafter_files& files, const toy::checkpoint& target,
                                          const std::vector<place>& places) {
    const bool three = files.of.tensors.count("norm.weight") != 0;
    const std::string p = three ? "midlayer." : "layers.0.";
    const bool normed = files.config.value("norm_before_residual", false);
    std::vector<doubles> keys, values;
    doubles q, r;
    for (std::size_t i = 0; i < places.size(); ++i) {
        const auto own_rows = files.of.tensors.find("embed_tokens.weight");
        const toy::weights& embedding = own_rows != files.of.tensors.end()
                                            ? own_rows->second
                                            : target.tensors.at("model.embed_tokens.weight");
        const float* e = &embedding.values[static_cast<std::size_t>(places[i].token) * 36];
        const doubles token(e, e + 36);
        doubles read;
        if (three) {
            r = places[i].own ? places[i].feature
                              : files.times("fc.weight", files.normed_features(places[i].feature));
            read = joined(files.norm(p + "input_layernorm.weight", token),
                          files.norm(p + "hidden_norm.weight", r));
            if (normed)
                r = files.norm(p + "hidden_norm.weight", r);
        } else {
            r = files.times("fc.weight", joined(token, places[i].feature));
            if (files.of.tensors.count("fc.bias") != 0) {
                const auto& bias = files.of.tensors.at("fc.bias").values;
                r = sum(r, doubles(bias.begin(), bias.end()));
            }
            read = r;
        }
        q = files.times(p + "self_attn.q_proj.weight", read);
        keys.push_back(files.times(p + "self_attn.k_proj.weight", read));
        values.push_back(files.times(p + "self_attn.v_proj.weight", read));
        for (std::size_t h = 0; h < 6; ++h)
            turn(&q[h * 6], i);
        for (std::size_t h = 0; h < 3; ++h)
            turn(&keys.back()[h * 6], i);
    }
    doubles attended(36);
    for (std::size_t h = 0; h < 6; ++h) {
        doubles weight;
        double total = 0;
        for (const doubles& key : keys) {
            double score = 0;
            for (std::size_t k = 0; k < 6; ++k)
                score += q[h * 6 + k] * key[h / 2 * 6 + k];
            weight.push_back(std::exp(score / std::sqrt(6.0)));
            total += weight.back();
        }
        for (std::size_t j = 0; j < values.size(); ++j)
            for (std::size_t k = 0; k < 6; ++k)
                attended[h * 6 + k] += weight[j] / total * values[j][h / 2 * 6 + k];
    }
    r = sum(r, files.times(p + "self_attn.o_proj.weight", attended));
    const doubles x = files.norm(p + "post_attention_layernorm.weight", r);
    doubles gate = files.times(p + "mlp.gate_proj.weight", x);
    const doubles up = files.times(p + "mlp.up_proj.weight", x);
    for (std::size_t k = 0; k < gate.size(); ++k)
        gate[k] = gate[k] / (1 + std::exp(-gate[k])) * up[k];
    r = sum(r, files.times(p + "mlp.down_proj.weight", gate));
    const doubles state = three ? files.norm("norm.weight", r) : r;
    return {state, files.config.value("norm_output", false) ? state : r};
}

inline transformer make_target(feature_kind features, precision number_format) {
    static const toy::temporary_folder folder;
    static const toy::checkpoint model;
    folder.write("config.json", model.config().dump());
    folder.write("model.safetensors", model.safetensors());
    return load_transformer(folder.path(),
                            {number_format, {.threads = 2, .features = features}, {}});
}

inline doubles numbers(hidden_state x) {
    return {x.values.begin(), x.values.end()};
}
inline void check_near(const doubles& found, const doubles& expected, double margin) {
    REQUIRE(found.size() == expected.size());
    for (std::size_t k = 0; k < found.size(); ++k)
        CHECK(found[k] == Approx(expected[k]).margin(margin));
}

} // namespace drafter_forms
