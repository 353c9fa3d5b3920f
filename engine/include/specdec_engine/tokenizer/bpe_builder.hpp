// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm> // std::sort, std::max
#include <cmath>     // std::isnan
#include <cstddef>
#include <cstdint>
#include <functional> // std::greater
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/unordered/unordered_flat_set.hpp>

#include <specdec/core/error.hpp>
#include <specdec_engine/tokenizer/bpe_model.hpp>

namespace specdec::engine {

/// Builds a bpe_model: first every token of the merges and every byte token, then either the merges
/// (rank family) or the scores (score family: a pair joins if the joined text is a token, the
/// greatest score first).
/// Errors: specdec::error that names the source and the field it is given.
class bpe_builder {
public:
    bpe_builder(bpe_alphabet alphabet, std::size_t vocabulary_size, std::string source)
        : source_(std::move(source)) {
        model_.alphabet_ = alphabet;
        model_.vocabulary_size_ = static_cast<std::int32_t>(vocabulary_size);
        model_.byte_ids_.fill(-1);
        model_.ascii_.fill(-1);
        model_.tokens_.reserve(vocabulary_size);
    }

    /// A token that merges make, or that is a single symbol. `text` in the form the merges see.
    /// No text ever becomes a `control` token.
    void add_token(std::string_view text, std::int32_t id, bool control, const std::string& field) {
        if (text.empty())
            throw error(source_, field, "expected a token that is not empty");
        if (!model_.tokens_.emplace(std::string(text), bpe_model::whole_token{id}).second)
            throw error(source_, field,
                        "expected each token once, found \"" + std::string(text) + "\" again");
        model_.longest_ = std::max(model_.longest_, text.size());
        if (control) {
            controls_.insert(id);
            return;
        }
        if (model_.alphabet_ == bpe_alphabet::bytes) {
            if (text.size() == 1)
                add_byte(text[0], id);
        } else if (const code_point c = decode_utf8(text, 0); c.bytes == text.size()) {
            add_character(c.value, id);
        }
    }

    /// A token that other tokens are made of, and no text becomes: its parts stand for it.
    void add_unused(std::string_view text, std::int32_t id, const std::string& field) {
        add_token(text, id, true, field);
        if (decode_utf8(text, 0).bytes < text.size())
            model_.unused_.emplace(id, std::pair{-1, -1});
    }

    /// The token of a raw byte: where a code point has no token of its own (code_points).
    void add_byte(char byte, std::int32_t id) {
        model_.byte_ids_[static_cast<unsigned char>(byte)] = id;
    }

    void set_unknown(std::int32_t id, bool fuse) {
        model_.unknown_ = id;
        model_.fuse_unknown_ = fuse;
    }

    /// The id of a token; -1 if there is none.
    [[nodiscard]] std::int32_t find(std::string_view text) const {
        const auto found = model_.tokens_.find(text);
        return found == model_.tokens_.end() ? -1 : found->second.id;
    }

    void reserve_merges(std::size_t n) { model_.merges_.reserve(n); }

    /// The merge of that rank: two tokens whose joined text is a token too.
    void add_merge(std::string_view left, std::string_view right, std::int32_t rank,
                   const std::string& field) {
        if (left.empty() || right.empty())
            throw error(source_, field,
                        "expected two tokens, one is empty (it would join forever)");
        const std::int32_t a = find(left), b = find(right);
        joined_.assign(left).append(right);
        const std::int32_t made = find(joined_);
        const auto absent = [&](std::string_view text) {
            throw error(source_, field,
                        "expected tokens of the vocabulary, \"" + std::string(text) + "\" is none");
        };
        if (a < 0)
            absent(left);
        if (b < 0)
            absent(right);
        if (made < 0)
            absent(joined_);
        if (controls_.contains(made))
            return;
        if (!model_.merges_.add(a, b, {rank, made}))
            throw error(source_, field, "expected each merge once, found this one before");
    }

    /// The score family: scores[id] of every token that was added.
    void add_scores(const std::vector<float>& scores, const std::string& field) {
        std::vector<std::pair<std::string_view, std::int32_t>> tokens;
        std::vector<float> order;
        for (const auto& [text, whole] : model_.tokens_) {
            const float score = scores.at(static_cast<std::size_t>(whole.id));
            if (std::isnan(score))
                throw error(source_, field, "expected scores, found one that is not a number");
            if (text.size() > longest_scored)
                throw error(source_, field,
                            "expected tokens of at most " + std::to_string(longest_scored) +
                                " bytes");
            tokens.emplace_back(text, whole.id);
            order.push_back(score);
        }
        std::sort(order.begin(), order.end(), std::greater<>());
        model_.merges_.reserve(2 * tokens.size());
        for (const auto& [text, id] : tokens) {
            const float score = scores[static_cast<std::size_t>(id)];
            const auto above =
                std::lower_bound(order.begin(), order.end(), score, std::greater<>());
            const auto rank = static_cast<std::int32_t>(above - order.begin());
            for (std::size_t cut = first_symbol(text); cut < text.size();
                 cut += first_symbol(text.substr(cut))) {
                const std::int32_t left = symbol(text.substr(0, cut));
                const std::int32_t right = symbol(text.substr(cut));
                // The same pair twice makes the same text, hence the same token.
                if (left >= 0 && right >= 0)
                    model_.merges_.add(left, right, {rank, id});
            }
        }
    }

    /// Whether whole pre-tokens that are tokens are taken without merging ("ignore_merges").
    /// `word_sign`: the text of a space within tokens, if pre-tokens hold several words.
    bpe_model finish(bool ignore_merges, std::string_view word_sign = {}) && {
        bpe_model::scratch s;
        for (auto& [text, whole] : model_.tokens_) {
            if (!ignore_merges && text.size() <= longest_direct)
                model_.merge_symbols(text, s);
            whole.direct = ignore_merges || (text.size() <= longest_direct &&
                                             s.symbols.size() == 1 && s.symbols[0] == whole.id);
            if (const auto unused = model_.unused_.find(whole.id); unused != model_.unused_.end()) {
                model_.merge_symbols(text, s);
                unused->second = s.merges.last; // within a text it is made of the same two
            }
        }
        for (auto& [text, whole] : model_.tokens_)
            if (controls_.contains(whole.id))
                whole.direct = false;
        if (can_cut(word_sign))
            model_.word_sign_ = word_sign;
        return std::move(model_);
    }

private:
    static constexpr std::size_t longest_scored = 512; // every cut of a token is looked up
    static constexpr std::size_t longest_direct = 64;

    void add_character(char32_t value, std::int32_t id) {
        if (value < 128)
            model_.ascii_[value] = id;
        else
            model_.characters_.emplace(value, id);
    }

    static std::size_t first_symbol(std::string_view text) {
        const std::size_t bytes = decode_utf8(text, 0).bytes;
        return bytes == 0 ? 1 : bytes;
    }

    /// A token, or a single code point that is none and becomes a helper symbol; else -1.
    std::int32_t symbol(std::string_view text) {
        const code_point c = decode_utf8(text, 0);
        if (c.bytes != text.size())
            return find(text);
        std::int32_t id = c.value < 128 ? model_.ascii_[c.value] : model_.character(c.value);
        if (id < 0) {
            id = model_.vocabulary_size_ + static_cast<std::int32_t>(model_.helpers_.size());
            model_.helpers_.push_back(c.value);
            add_character(c.value, id);
        }
        return id;
    }

    [[nodiscard]] bool can_cut(std::string_view sign) const {
        if (sign.empty())
            return false;
        for (const std::int32_t id : model_.byte_ids_) // a run of unknown tokens may cross
            if (id < 0)
                return false;
        for (const auto& [text, whole] : model_.tokens_)
            for (std::size_t at = text.find(sign); at != std::string::npos;
                 at = text.find(sign, at + sign.size()))
                if (at > 0 && !std::string_view(text).substr(0, at).ends_with(sign))
                    return false;
        return true;
    }

    std::string source_;
    std::string joined_;
    boost::unordered_flat_set<std::int32_t> controls_;
    bpe_model model_;
};

} // namespace specdec::engine
