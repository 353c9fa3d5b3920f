// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include <specdec/core/basic/on_throw.hpp>
#include <specdec/core/concepts.hpp>

#include "support/failing_model.hpp"
#include "support/toy_model.hpp"

namespace specdec::testing {

/// A toy_model that gives the rows of k places in one pass. As with PARD, a place is a mask after
/// those before it: the row of place i is rows(context and i times mask()). Models BlockModel.
class toy_block_model : public toy_model<draft_id> {
    using base = toy_model<draft_id>;

public:
    template <class Rows>
    toy_block_model(std::size_t vocabulary, Rows rows, std::size_t places,
                    std::size_t capacity = 4096)
        : base(vocabulary, std::move(rows), 3, capacity), places_(places) {}

    [[nodiscard]] static constexpr draft_id mask() { return draft_id{77}; }
    [[nodiscard]] std::size_t block_size() const { return places_; }
    void score(std::span<const draft_id>) = delete; // no other rows

    [[nodiscard]] logits_rows<draft_id> score_block(std::span<const draft_id> ids) {
        if (passes++ == fails_at)
            throw model_failure();
        append(ids);
        const std::size_t vocabulary = vocabulary_size(), stride = vocabulary + 2;
        rows_.assign(places_ * stride, 1000.0F);
        context tokens = held();
        for (std::size_t i = 0; i < places_; ++i, tokens.push_back(mask()))
            write_row(tokens, std::span(rows_).subspan(i * stride, vocabulary));
        return {rows_.data(), places_, vocabulary, stride};
    }

    std::size_t passes = 0;
    std::size_t fails_at = ~std::size_t{0}; ///< the pass that throws

private:
    std::size_t places_;
    std::vector<float> rows_;
};

/// Any toy made a model of blocks, as if a block drafter had been distilled from it: the rows of
/// the places are those along its likeliest tokens. Models BlockModel. Allocates in its first pass.
template <class Model>
class distilled_model : public Model {
public:
    explicit distilled_model(Model model, std::size_t places = 4)
        : Model(std::move(model)), places_(places) {}

    [[nodiscard]] std::size_t block_size() const { return places_; }
    void score(std::span<const draft_id>) = delete;

    [[nodiscard]] logits_rows<draft_id> score_block(std::span<const draft_id> ids) {
        const std::size_t size = this->size() + ids.size(), vocabulary = this->vocabulary_size();
        on_throw guard([&] { this->truncate(size - ids.size()); });
        if (ids.size() > 1)
            Model::append(ids.first(ids.size() - 1));
        draft_id next = ids.back();
        rows_.clear();
        for (std::size_t i = 0; i < places_; ++i) {
            const auto row = Model::score({&next, 1})[0].values;
            rows_.insert(rows_.end(), row.begin(), row.end());
            for (std::size_t v = 0; v < vocabulary; ++v)
                if (v == 0 || row[v] > row[next.index()])
                    next = id_at<draft_id>(v);
        }
        guard.done();
        this->truncate(size);
        return {rows_.data(), places_, vocabulary, vocabulary};
    }

private:
    std::size_t places_;
    std::vector<float> rows_;
};

/// Models of blocks side by side: a pass makes a block of each part. Models BlockModel.
template <class Model>
struct batch_of_blocks {
    std::vector<Model> models;
    std::vector<float> rows{};
    std::size_t passes = 0;
    std::size_t fails_at = ~std::size_t{0}; ///< the pass that throws

    batch_of_blocks(std::size_t sequences, const Model& model) : models(sequences, model) {}

    [[nodiscard]] std::size_t sequences() const { return models.size(); }
    [[nodiscard]] std::size_t size(std::size_t s) const { return models[s].size(); }
    [[nodiscard]] std::size_t capacity() const { return models[0].capacity(); }
    [[nodiscard]] std::size_t vocabulary_size() const { return models[0].vocabulary_size(); }
    [[nodiscard]] std::size_t block_size() const { return models[0].block_size(); }
    void append(std::size_t s, std::span<const draft_id> ids) { models[s].append(ids); }
    void truncate(std::size_t s, std::size_t n) { models[s].truncate(n); }
    [[nodiscard]] logits_rows<draft_id>
    score_block(std::span<const sequence_tokens<draft_id>> parts) {
        if (passes++ == fails_at)
            throw model_failure();
        rows.clear();
        for (const auto& [s, ids] : parts) {
            const logits_rows<draft_id> own = models[s].score_block(ids);
            for (std::size_t i = 0; i < own.size(); ++i)
                rows.insert(rows.end(), own[i].values.begin(), own[i].values.end());
        }
        return {rows.data(), parts.size() * block_size(), vocabulary_size(), vocabulary_size()};
    }
};

using toy_block_models = batch_of_blocks<toy_block_model>;

} // namespace specdec::testing
