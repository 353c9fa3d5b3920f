// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm> // std::min, std::ranges::find
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <random> // std::uniform_random_bit_generator
#include <span>
#include <string>
#include <vector>

#include <specdec/core/error.hpp>
#include <specdec_engine/kernel/aligned_allocator.hpp>
#include <specdec_engine/learn/reverse/columns.hpp>
#include <specdec_engine/learn/reverse/parameter_layout.hpp>
#include <specdec_engine/learn/reverse/projection.hpp>

namespace specdec::engine {

/// Which matrices of every block are adapted, and how.
struct lora_settings {
    std::size_t rank = 8;
    double alpha = 16;
    std::vector<projection> targets = {projection::q, projection::v};
};

/// Low-rank adapters (LoRA; Hu et al., arXiv 2106.09685): a projection computes
///
///     y = W x + (alpha / r) B A x        A [r, inputs], B [outputs, r]
///
/// with W frozen. A and B of all modules lie in one flat array under PEFT's names, so the code that
/// optimises and saves a model's weights works for them, too.
template <class Scalar>
class lora {
public:
    /// Zeros: y = W x, and no gradient reaches A or B before draw(). Errors: specdec::error for a
    /// rank of 0 or larger than the matrices, an alpha that is not a positive number, no target or
    /// one twice. Precondition: check(config).
    lora(const model_config& c, const lora_settings& settings, const std::string& source = "LoRA")
        : settings_(settings) {
        check(c, settings, source);
        for (std::size_t layer = 0; layer < c.layers; ++layer) {
            modules_.emplace_back();
            for (const projection p : all_projections)
                if (adapts(p))
                    add(c, layer, p);
        }
        values_.resize(tensors_.size());
    }

    /// A uniform in +-1 / sqrt(inputs), as PEFT draws it, B = 0: the model is what it was.
    template <std::uniform_random_bit_generator Bits>
    void draw(Bits& bits) {
        constexpr auto least = Bits::min();
        constexpr auto range = static_cast<double>(Bits::max() - least);
        for (const std::array<place, 7>& of_layer : modules_)
            for (const place& m : of_layer) {
                const double bound =
                    1 / std::sqrt(static_cast<double>(m.inputs)); // where it is used
                for (std::size_t i = 0; i < settings_.rank * m.inputs; ++i) {
                    const double u = static_cast<double>(bits() - least) / range;
                    values_[m.a + i] = static_cast<Scalar>((2 * u - 1) * bound);
                }
                for (std::size_t i = 0; i < settings_.rank * m.outputs; ++i)
                    values_[m.b + i] = 0;
            }
    }

    [[nodiscard]] const lora_settings& settings() const { return settings_; }
    [[nodiscard]] std::size_t rank() const { return settings_.rank; }
    [[nodiscard]] Scalar scale() const {
        return static_cast<Scalar>(settings_.alpha / static_cast<double>(settings_.rank));
    }
    [[nodiscard]] const parameter_layout& tensors() const { return tensors_; }
    [[nodiscard]] std::span<Scalar> values() { return values_; }
    [[nodiscard]] std::span<const Scalar> values() const { return values_; }

    [[nodiscard]] bool adapts(projection p) const {
        return std::ranges::find(settings_.targets, p) != settings_.targets.end();
    }
    /// A of a module, [inputs, rank], and B, [rank, outputs] (columns.hpp). Precondition:
    /// adapts(p).
    [[nodiscard]] constant_columns<Scalar> a(std::size_t layer, projection p) const {
        const place& m = modules_[layer][number_of(p)];
        return columns_of(values_.data() + m.a, m.inputs, settings_.rank);
    }
    [[nodiscard]] constant_columns<Scalar> b(std::size_t layer, projection p) const {
        const place& m = modules_[layer][number_of(p)];
        return columns_of(values_.data() + m.b, settings_.rank, m.outputs);
    }
    /// The same places in another array of this layout: their gradients.
    [[nodiscard]] columns<Scalar> a_in(Scalar* array, std::size_t layer, projection p) const {
        const place& m = modules_[layer][number_of(p)];
        return columns_of(array + m.a, m.inputs, settings_.rank);
    }
    [[nodiscard]] columns<Scalar> b_in(Scalar* array, std::size_t layer, projection p) const {
        const place& m = modules_[layer][number_of(p)];
        return columns_of(array + m.b, settings_.rank, m.outputs);
    }

    /// W += (alpha / r) B A: the model then computes without adapters what it did with them.
    /// Parameters: of a model or of another one with such blocks (model_parameters' layout() and
    /// values()).
    template <class Parameters>
    void merge(Parameters& m) const {
        for (std::size_t layer = 0; layer < modules_.size(); ++layer)
            for (const projection p : settings_.targets) {
                const place& at = modules_[layer][number_of(p)];
                auto w =
                    columns_of(&m.values()[m.layout().at(layer).matrix(p)], at.inputs, at.outputs);
                aligned_vector<Scalar> scaled(at.inputs * rank());
                auto factor_a = columns_of(scaled.data(), at.inputs, rank());
                factor_a = scale() * a(layer, p);
                add_product(constant(factor_a), b(layer, p), w);
            }
    }

private:
    struct place {
        std::size_t inputs = 0; ///< 0: not adapted
        std::size_t outputs = 0;
        std::size_t a = 0;
        std::size_t b = 0;
    };

    static void check(const model_config& c, const lora_settings& s, const std::string& source) {
        if (s.targets.empty())
            throw error(source, "target_modules", "expected one or more");
        for (std::size_t i = 0; i < s.targets.size(); ++i) {
            const projection p = s.targets[i];
            const std::size_t most = std::min(inputs_of(c, p), outputs_of(c, p));
            if (s.rank == 0 || s.rank > most)
                throw error(source, "r",
                            "expected 1 to " + std::to_string(most) + ", what " +
                                std::string(name(p)) + " has, found " + std::to_string(s.rank));
            for (std::size_t j = 0; j < i; ++j)
                if (s.targets[j] == p)
                    throw error(source, "target_modules",
                                "expected " + std::string(name(p)) + " once");
        }
        if (!(s.alpha > 0 && s.alpha < std::numeric_limits<double>::infinity()))
            throw error(source, "lora_alpha", "expected a positive number");
    }

    void add(const model_config& c, std::size_t layer, projection p) {
        place& m = modules_[layer][number_of(p)];
        m.inputs = inputs_of(c, p);
        m.outputs = outputs_of(c, p);
        const std::string prefix = "base_model.model." + module_name(layer, p);
        m.a = tensors_.add(prefix + ".lora_A.weight", {settings_.rank, m.inputs});
        m.b = tensors_.add(prefix + ".lora_B.weight", {m.outputs, settings_.rank});
    }

    lora_settings settings_;
    std::vector<std::array<place, 7>> modules_; ///< [layers][projection]
    parameter_layout tensors_;
    aligned_vector<Scalar> values_;
};

} // namespace specdec::engine
