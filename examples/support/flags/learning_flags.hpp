// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "support/flags/flag_values.hpp"
#include <specdec/core/error.hpp>
#include <specdec/learn/acceptance/learning_acceptance_head.hpp>
#include <specdec/learn/loss/distillation_loss.hpp>
#include <specdec_engine/learn/drafter_learner.hpp>
#include <specdec_engine/learn/features/taught_chains.hpp>
#include <specdec_engine/learn/panels/product_numbers.hpp>

/// How a drafter learns, by the names that flags give it. Errors: specdec::error that names the
/// flag.
namespace specdec::examples {

/// dm (or rkl), fkl, tv, nll or none; then +ngram, +ngram-p or +ngram-kl.
[[nodiscard]] inline distillation_loss_settings loss_of(const std::string& name) {
    distillation_loss_settings s;
    const std::size_t plus = name.find('+');
    const std::string direct = name.substr(0, plus);
    const std::string ngram = plus == std::string::npos ? "" : name.substr(plus + 1);
    const auto wrong = [&] {
        throw error(
            "--loss", name,
            "expected dm, rkl, fkl, tv or nll, then nothing, +ngram, +ngram-p or +ngram-kl; "
            "or none and one of these");
    };
    if (direct == "fkl")
        s.direct = direct_loss::forward_kl;
    else if (direct == "tv")
        s.direct = direct_loss::total_variation;
    else if (direct == "nll")
        s.direct = direct_loss::nll;
    else if (direct == "none" && !ngram.empty())
        s.direct = direct_loss::none;
    else if (direct != "dm" && direct != "rkl")
        wrong();
    if (ngram.empty())
        s.ngram = ngram_loss::none;
    else if (ngram == "ngram")
        s.ngram = ngram_loss::nll;
    else if (ngram == "ngram-kl")
        s.ngram = ngram_loss::kl;
    else if (ngram != "ngram-p")
        wrong();
    return s;
}

/// full, none, or lora:RANK of all projections. False: nothing learns.
[[nodiscard]] inline bool set_learning(const std::string& name, engine::learner_settings& s) {
    if (name == "none" || name == "full")
        return name == "full";
    const auto rank = name.starts_with("lora:")
                          ? read_number<std::size_t>(std::string_view(name).substr(5), {1, 1 << 16})
                          : std::nullopt;
    if (!rank)
        throw error("--learn", name, "expected full, none or lora:RANK");
    s.adapters = engine::lora_settings{
        .rank = *rank,
        .alpha = 2 * static_cast<double>(*rank),
        .targets = {engine::all_projections.begin(), engine::all_projections.end()}};
    return true;
}

/// f32, bf16, or nothing: what this CPU is faster with.
[[nodiscard]] inline engine::product_numbers numbers_of(const std::string& name) {
    if (name.empty())
        return engine::fastest_numbers(engine::best_isa());
    for (const auto n : {engine::product_numbers::f32, engine::product_numbers::bf16})
        if (engine::name(n) == name)
            return n;
    throw error("--learning-numbers", name, "expected f32 or bf16");
}

/// drafted or every:N.
[[nodiscard]] inline engine::chain_settings chains_of(const std::string& name, std::size_t depth) {
    if (name == "drafted")
        return {.depth = depth, .every = 0};
    const auto n = name.starts_with("every:")
                       ? read_number<std::size_t>(std::string_view(name).substr(6), {1, 4096})
                       : std::nullopt;
    if (!n)
        throw error("--chains", name, "expected drafted or every:N");
    return {.depth = depth, .every = *n};
}

/// joint, interleaved or interleaved:STEPS; labels: round or again.
[[nodiscard]] inline acceptance_updates updates_of(const std::string& name,
                                                   const std::string& labels = "round") {
    acceptance_updates s;
    s.labels_again = labels == "again";
    if (name == "joint")
        return s;
    s.interleaved = s.labels_again ? 1 : 8;
    if (name == "interleaved")
        return s;
    const auto steps = name.starts_with("interleaved:")
                           ? read_number<std::size_t>(std::string_view(name).substr(12), {1, 4096})
                           : std::nullopt;
    if (!steps)
        throw error("--acceptance-head", name, "expected joint, interleaved or interleaved:STEPS");
    s.interleaved = *steps;
    return s;
}

} // namespace specdec::examples
