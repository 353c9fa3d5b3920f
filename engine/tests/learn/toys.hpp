// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "support/toy_checkpoint.hpp"
#include <specdec_engine/file/hf_checkpoint.hpp>
#include <specdec_engine/learn/reverse/training_pass.hpp>

/// Models, batches and a loss for the tests of learning.
namespace learning_toys {

using namespace specdec::engine;

enum class form { untied, tied, biased };

/// The toy checkpoint in a folder of its own, open.
struct open_toy {
    toy::temporary_folder folder;
    toy::checkpoint model;
    nlohmann::json config;

    explicit open_toy(form f, unsigned seed = 1) : model(seed, f == form::tied) {
        config = model.config();
        if (f == form::biased) {
            std::minstd_rand bits(seed + 7);
            config["architectures"] = {"Qwen2ForCausalLM"};
            for (std::size_t i = 0; i < model.layers; ++i)
                for (const std::string p : {"q_proj", "k_proj", "v_proj"}) {
                    const std::string module =
                        "model.layers." + std::to_string(i) + ".self_attn." + p;
                    toy::weights w{{model.tensors.at(module + ".weight").shape[0]}, {}};
                    for (std::size_t k = 0; k < w.shape[0]; ++k)
                        w.values.push_back(static_cast<float>(bits() % 2001) * 5e-4F - 0.5F);
                    model.tensors[module + ".bias"] = w;
                }
        }
        folder.write("config.json", config.dump());
        folder.write("model.safetensors", model.safetensors());
    }
    [[nodiscard]] checkpoint open() const { return open_hf_folder(folder.path()); }
};

inline std::vector<std::int32_t> some_ids(std::size_t n, std::size_t first = 0) {
    std::vector<std::int32_t> ids;
    for (std::size_t i = first; i < first + n; ++i)
        ids.push_back(static_cast<std::int32_t>((i * i + 7 * i) % 77));
    return ids;
}

/// Sequences and the rows that they ask for.
struct texts {
    std::vector<std::vector<std::int32_t>> ids;
    std::vector<std::vector<std::size_t>> rows;

    /// Of those lengths; every row, or all but some.
    explicit texts(const std::vector<std::size_t>& lengths, bool all = true) {
        for (const std::size_t n : lengths) {
            ids.push_back(some_ids(n, 5 * ids.size()));
            rows.emplace_back();
            for (std::size_t i = 0; i < n; ++i)
                if (all || (i + n) % 3 != 0)
                    rows.back().push_back(i);
        }
    }
    [[nodiscard]] std::vector<training_sequence> view() const {
        std::vector<training_sequence> out;
        for (std::size_t i = 0; i < ids.size(); ++i)
            out.push_back({ids[i], rows[i]});
        return out;
    }
};

/// sum of w_i z_i + z_i^2 / 2 over all logits, with weights of both signs; writes w_i + z_i over
/// them.
template <class Scalar>
double loss_of(columns<Scalar> logits) {
    double sum = 0;
    for (Eigen::Index r = 0; r < logits.cols(); ++r)
        for (Eigen::Index t = 0; t < logits.rows(); ++t) {
            const double w = std::sin(static_cast<double>(3 * r + 5 * t)), z = logits(t, r);
            sum += w * z + z * z / 2;
            logits(t, r) = static_cast<Scalar>(w + z);
        }
    return sum;
}

/// Mean cross-entropy of each row's next token; the last row of a sequence has none and weighs
/// nothing. Precondition: every row is asked for, in order. Writes the gradient over the logits.
template <class Scalar>
double next_token_loss(columns<Scalar> logits, const texts& of) {
    double sum = 0;
    Eigen::Index row = 0, count = 0;
    for (const auto& ids : of.ids)
        count += static_cast<Eigen::Index>(ids.size()) - 1;
    for (const auto& ids : of.ids)
        for (std::size_t i = 0; i < ids.size(); ++i, ++row) {
            auto z = logits.col(row);
            if (i + 1 == ids.size()) {
                z.setZero();
                continue;
            }
            const double greatest = z.maxCoeff();
            const double log_sum =
                greatest + std::log((z.template cast<double>().array() - greatest).exp().sum());
            sum += log_sum - static_cast<double>(z(ids[i + 1]));
            z = (z.array() - static_cast<Scalar>(log_sum)).exp();
            z(ids[i + 1]) -= 1;
            z /= static_cast<Scalar>(count);
        }
    return sum / static_cast<double>(count);
}

} // namespace learning_toys
