// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include <specdec/core/error.hpp>
#include <specdec/head/lm_head.hpp>
#include <specdec_engine/file/mapped_file.hpp>
#include <specdec_engine/file/safetensors.hpp>
#include <specdec_engine/file/write_safetensors.hpp>

namespace specdec::papers {

/// Texts with the target's feature behind each token: what a drafter that reads features is trained
/// on. A safetensors file:
///
///     ids       I32 [tokens] of all texts, one behind the other
///     begins    I32 [texts + 1] where each begins, and where the last one ends
///     answers   I32 [texts] the tokens of each that are its prompt
///     features  F32 [tokens, width]
struct text_records {
    std::vector<std::int32_t> ids, begins{0}, answers;
    std::vector<float> features;
    std::size_t width = 0;

    [[nodiscard]] std::size_t size() const { return answers.size(); }
    [[nodiscard]] std::span<const std::int32_t> text(std::size_t i) const {
        return std::span(ids).subspan(index(begins[i]), index(begins[i + 1] - begins[i]));
    }
    [[nodiscard]] hidden_states features_of(std::size_t i) const {
        return {features.data() + index(begins[i]) * width, text(i).size(), width, width};
    }
    void add(std::span<const std::int32_t> text, std::size_t answer, std::span<const float> made) {
        ids.insert(ids.end(), text.begin(), text.end());
        begins.push_back(static_cast<std::int32_t>(ids.size()));
        answers.push_back(static_cast<std::int32_t>(answer));
        features.insert(features.end(), made.begin(), made.end());
    }

private:
    static std::size_t index(std::int32_t n) { return static_cast<std::size_t>(n); }
};

/// Errors: specdec::error where the file cannot be written.
inline void write_records(const std::string& path, const text_records& r) {
    const auto integers = [&](const char* name, const std::vector<std::int32_t>& values) {
        return engine::tensor{path,
                              name,
                              engine::dtype::other,
                              "I32",
                              {values.size()},
                              std::as_bytes(std::span(values))};
    };
    const engine::tensor tensors[] = {integers("ids", r.ids),
                                      integers("begins", r.begins),
                                      integers("answers", r.answers),
                                      {path,
                                       "features",
                                       engine::dtype::f32,
                                       "F32",
                                       {r.ids.size(), r.width},
                                       std::as_bytes(std::span(r.features))}};
    engine::write_safetensors(path, tensors);
}

/// Errors: specdec::error that names file and tensor, for what is none of these.
[[nodiscard]] inline text_records read_records(const std::string& path) {
    const engine::mapped_file file(path);
    const auto tensors = engine::read_safetensors(file.bytes(), file.source());
    const auto named = [&](const std::string& name) -> const engine::tensor& {
        for (const engine::tensor& t : tensors)
            if (t.name == name)
                return t;
        throw error(path, "tensor " + name, "expected this tensor, it is missing");
    };
    const auto integers = [&](const char* name) {
        std::vector<std::int32_t> out;
        for (const std::int64_t v : engine::read_integers(named(name)))
            out.push_back(static_cast<std::int32_t>(v));
        return out;
    };
    text_records r;
    r.ids = integers("ids");
    r.begins = integers("begins");
    r.answers = integers("answers");
    const engine::tensor& features = named("features");
    const auto refuse = [&](const char* tensor, const char* expected) {
        throw error(path, std::string("tensor ") + tensor, expected);
    };
    if (features.type != engine::dtype::f32 || features.shape.size() != 2 ||
        features.shape[0] != r.ids.size() || features.shape[1] == 0)
        refuse("features", "expected F32 [tokens, width]");
    if (r.begins.size() != r.answers.size() + 1 || r.begins.front() != 0 ||
        r.begins.back() != static_cast<std::int32_t>(r.ids.size()))
        refuse("begins", "expected where each text begins, and where the last one ends");
    for (std::size_t i = 0; i < r.size(); ++i)
        if (r.begins[i] > r.begins[i + 1] || r.answers[i] < 0 ||
            r.answers[i] > r.begins[i + 1] - r.begins[i])
            refuse("answers", "expected texts in order, and prompts within them");
    for (const std::int32_t id : r.ids)
        if (id < 0)
            refuse("ids", "expected none below 0");
    r.width = features.shape[1];
    r.features.resize(features.bytes.size() / sizeof(float));
    std::memcpy(r.features.data(), features.bytes.data(), features.bytes.size());
    return r;
}

} // namespace specdec::papers
