// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <specdec/core/concepts.hpp>
#include <specdec/core/error.hpp>
#include <specdec/vocab/table/vocabulary.hpp>

namespace specdec::testing {

/// A model whose rows depend on the last bytes of its text and on the bytes of the next token, so
/// that models over different vocabularies agree about as much as `agreement` says (0 .. 1).
/// Control tokens have the logit `control`. Allocates at construction only; rows are padded by
/// +1000.
template <class Id>
class text_model {
public:
    struct settings {
        std::uint64_t seed = 1; ///< of the part that differs between models
        double agreement = 0.7; ///< weight of the part that is the same for all models
        double sharpness = 6;   ///< logits lie in [0, sharpness]
        double control = -40;   ///< logit of control tokens
        std::size_t capacity = 512;
    };

    explicit text_model(const vocabulary& table) : text_model(table, settings{}) {}
    text_model(const vocabulary& table, settings s)
        : table_(&table), settings_(s), scores_(most_rows * (table.size() + padding)) {
        ends_.reserve(s.capacity);
        text_.reserve(16 * s.capacity);
        held_.reserve(s.capacity);
    }

    [[nodiscard]] std::size_t size() const { return held_.size(); }
    [[nodiscard]] std::size_t capacity() const { return settings_.capacity; }
    [[nodiscard]] std::size_t vocabulary_size() const { return table_->size(); }

    void append(std::span<const Id> ids) {
        if (held_.size() + ids.size() > settings_.capacity)
            fail("text_model", "context", "expected room for the tokens");
        for (const Id id : ids)
            hold(id);
    }

    logits_rows<Id> score(std::span<const Id> ids) {
        if (ids.size() > most_rows)
            fail("text_model", "score", "expected at most 64 tokens");
        if (held_.size() + ids.size() > settings_.capacity)
            fail("text_model", "context", "expected room for the tokens");
        const std::size_t stride = table_->size() + padding;
        for (std::size_t i = 0; i < ids.size(); ++i) {
            hold(ids[i]);
            for (std::size_t v = 0; v < stride; ++v)
                scores_[i * stride + v] = v < table_->size() ? logit(v) : 1000.0F;
        }
        return {scores_.data(), ids.size(), table_->size(), stride};
    }

    void truncate(std::size_t n) {
        held_.resize(n);
        ends_.resize(n);
        text_.resize(n == 0 ? 0 : ends_.back());
    }

    [[nodiscard]] const std::vector<Id>& held() const { return held_; }

private:
    static constexpr std::size_t padding = 3;
    static constexpr std::size_t most_rows = 64;

    void hold(Id id) {
        if (!id.valid() || id.index() >= table_->size())
            fail("text_model", "ids", "expected ids of the vocabulary");
        held_.push_back(id);
        text_ += table_->text(id.index());
        ends_.push_back(text_.size());
    }

    static double unit(std::uint64_t h, std::string_view context, std::string_view piece) {
        for (const std::string_view part : {context, piece}) {
            for (const char c : part)
                h = (h ^ static_cast<unsigned char>(c)) * 0xBF58476D1CE4E5B9U;
            h ^= h >> 29;
        }
        h *= 0x94D049BB133111EBU;
        return static_cast<double>(h >> 11) * 0x1p-53;
    }

    [[nodiscard]] float logit(std::size_t v) const {
        if (!table_->is_text(v))
            return static_cast<float>(settings_.control);
        const std::string_view text = text_;
        const std::string_view last = text.substr(text.size() > 3 ? text.size() - 3 : 0);
        const std::string_view piece = table_->text(v);
        const double common = unit(99, last, piece), own = unit(settings_.seed + 1000, last, piece);
        const double mixed = settings_.agreement * common + (1 - settings_.agreement) * own;
        return static_cast<float>(settings_.sharpness * mixed);
    }

    const vocabulary* table_;
    settings settings_;
    std::vector<Id> held_;
    std::vector<std::size_t> ends_; // of every token in text_
    std::string text_;
    std::vector<float> scores_;
};

} // namespace specdec::testing
