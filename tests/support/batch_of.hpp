// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <specdec/core/concepts.hpp>
#include <specdec/core/error.hpp>
#include <specdec/core/model/tree_scoring.hpp>

namespace specdec::testing {

/// Toy models side by side as one model of several sequences.
template <class Id, class Model>
struct batch_of {
    std::vector<Model> models;
    std::vector<float> rows;
    std::size_t passes = 0;
    std::size_t fed = 0;                    ///< tokens
    std::size_t fails_at = ~std::size_t{0}; ///< the pass that throws

    batch_of(std::size_t n, const Model& model) : models(n, model) {}

    [[nodiscard]] std::size_t sequences() const { return models.size(); }
    [[nodiscard]] std::size_t size(std::size_t s) const { return models[s].size(); }
    [[nodiscard]] std::size_t capacity() const { return models[0].capacity(); }
    [[nodiscard]] std::size_t vocabulary_size() const { return models[0].vocabulary_size(); }
    void append(std::size_t s, std::span<const Id> ids) {
        models[s].append(ids);
        fed += ids.size();
    }
    void truncate(std::size_t s, std::size_t n) { models[s].truncate(n); }
    [[nodiscard]] logits_rows<Id> score(std::span<const sequence_tokens<Id>> parts) {
        for (const auto& [s, ids] : parts)
            if (ids.size() > models[s].capacity() - models[s].size())
                fail("batch_of", "sequence " + std::to_string(s), "no room");
        return pass(parts,
                    [this](const auto& part) { return models[part.sequence].score(part.ids); });
    }
    [[nodiscard]] logits_rows<Id> score_tree(std::span<const sequence_nodes<Id>> parts)
        requires TreeModelOf<Model, Id>
    {
        return pass(parts, [this](const auto& part) {
            Model& model = models[part.sequence];
            return part.parents.empty() ? model.score(part.ids)
                                        : model.score_tree(part.ids, part.parents);
        });
    }
    void keep_path(std::size_t s, std::span<const std::size_t> nodes)
        requires TreeModelOf<Model, Id>
    {
        models[s].keep_path(nodes);
    }

private:
    template <class Parts, class Score>
    logits_rows<Id> pass(const Parts& parts, const Score& score_one) {
        if (passes++ == fails_at)
            fail("batch_of", "pass", "told to fail");
        rows.clear();
        std::size_t n = 0;
        for (const auto& part : parts) {
            const logits_rows<Id> own = score_one(part);
            fed += part.ids.size();
            for (std::size_t i = 0; i < own.size(); ++i, ++n)
                rows.insert(rows.end(), own[i].values.begin(), own[i].values.end());
        }
        return {rows.data(), n, vocabulary_size(), vocabulary_size()};
    }
};

} // namespace specdec::testing
