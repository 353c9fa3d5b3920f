// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm> // std::find
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <specdec/core/concepts.hpp>
#include <specdec/core/contract.hpp>
#include <specdec/core/error.hpp>
#include <specdec/vocab/table/vocabulary.hpp>
#include <specdec_engine/tokenizer/added_tokens.hpp>
#include <specdec_engine/tokenizer/bpe_model.hpp>
#include <specdec_engine/tokenizer/normalizer.hpp>
#include <specdec_engine/tokenizer/pre_tokenizer.hpp>

namespace specdec::engine {

/// The special ids of a tokenizer. `add_bos`: texts begin with bos by default.
struct special_tokens {
    std::optional<std::int32_t> bos{};
    std::vector<std::int32_t> eos{}; ///< every id that ends a text; the first is the usual one
    bool add_bos = false;

    /// Once; `usual`: before all others.
    void add_end(std::int32_t id, bool usual = false) {
        if (std::find(eos.begin(), eos.end(), id) == eos.end())
            eos.insert(usual ? eos.begin() : eos.end(), id);
    }
};

/// Added tokens, by where they are found.
struct added_sets {
    added_tokens raw{};        ///< in the text as it comes
    added_tokens normalized{}; ///< in what is left of it, after normalizing
};

/// The parts of a tokenizer, as a loader finds them.
struct tokenizer_parts {
    vocabulary table{};
    added_sets literal{};      ///< added tokens that are text
    added_sets with_control{}; ///< the same and the control tokens
    normalizer normalize{};
    pre_tokenizer pre_tokenize{};
    bpe_model model{};
    special_tokens special{};
};

/// A BPE tokenizer: bytes of ids, ids of texts. An immutable value: copies share everything, and
/// any number of threads may encode at once.
///
/// encode: finds added tokens in the text, normalizes, finds added tokens in the normalized text,
/// pre-tokenizes, merges. Byte-level tokenizers with all 256 bytes give back any bytes: joined
/// bytes(encode(x)) == x unless a normalizer changes x.
/// Complexity: about linear in the text. Errors: specdec::error where a pattern of the tokenizer's
/// file takes more steps or memory than regex.hpp allows.
class tokenizer {
public:
    explicit tokenizer(tokenizer_parts parts)
        : parts_(std::make_shared<const tokenizer_parts>(std::move(parts))) {}

    /// Entries and kinds by id; control entries hold printed names.
    [[nodiscard]] const vocabulary& table() const { return parts_->table; }
    [[nodiscard]] std::size_t vocabulary_size() const { return parts_->table.size(); }

    /// The exact bytes a token adds in a continuation; empty for control tokens.
    /// Precondition: 0 <= id < vocabulary_size().
    [[nodiscard]] std::string_view bytes(std::int32_t id) const {
        return parts_->table.text(static_cast<std::size_t>(id));
    }

    /// Appends the ids of the text. Names of control tokens are text like any other.
    void encode(std::string_view text, encode_mode position, std::vector<std::int32_t>& out) const {
        run(text, position, parts_->literal, out);
    }

    /// The same, but names of control tokens become those tokens: for chat templates.
    void encode_with_control(std::string_view text, encode_mode position,
                             std::vector<std::int32_t>& out) const {
        run(text, position, parts_->with_control, out);
    }

    /// The same without the tokens from id n on, whose names are then text. `source` names the
    /// tokenizer in errors. Errors: specdec::error where one of them is text that merges make.
    [[nodiscard]] tokenizer first_tokens(std::size_t n, const std::string& source) const {
        if (vocabulary_size() <= n)
            return *this;
        tokenizer_parts p = *parts_;
        p.table = {};
        for (std::size_t i = 0; i < n; ++i)
            p.table.add(table().entry(i), table().kind(i));
        for (std::size_t i = n; i < vocabulary_size(); ++i)
            if (const std::string_view text = table().text(i);
                !text.empty() &&
                (table().kind(i) != token_kind::user || text.find(' ') != text.npos))
                throw error(source, "vocabulary",
                            "expected at most " + std::to_string(n) +
                                " tokens, as the model has rows, found \"" + std::string(text) +
                                "\" with the id " + std::to_string(i));
        const auto end = static_cast<std::int32_t>(n);
        for (added_sets* const sets : {&p.literal, &p.with_control})
            for (added_tokens* const added : {&sets->raw, &sets->normalized})
                added->keep_below(end);
        std::erase_if(p.special.eos, [end](std::int32_t id) { return id >= end; });
        if (p.special.bos.value_or(0) >= end) {
            p.special.bos.reset();
            p.special.add_bos = false;
        }
        return tokenizer(std::move(p));
    }

    [[nodiscard]] std::optional<std::int32_t> bos() const { return parts_->special.bos; }
    [[nodiscard]] const std::vector<std::int32_t>& eos() const { return parts_->special.eos; }
    [[nodiscard]] bool add_bos() const { return parts_->special.add_bos; }

    /// The control token of that printed name.
    [[nodiscard]] std::optional<std::int32_t> find(std::string_view name) const {
        const vocabulary& all = parts_->table;
        for (std::size_t i = 0; i < all.size(); ++i)
            if (all.kind(i) == token_kind::control && all.entry(i) == name)
                return static_cast<std::int32_t>(i);
        return std::nullopt;
    }

private:
    struct scratch {
        explicit scratch(std::size_t bytes) : matcher(bytes) {}
        regex::matcher matcher;
        pre_tokens cut;
        bpe_model::scratch model;
    };

    void run(std::string_view text, encode_mode position, const added_sets& added,
             std::vector<std::int32_t>& out) const {
        scratch s(text.size());
        const tokenizer_parts& p = *parts_;
        const bool at_start = position == encode_mode::start;
        const auto token = [&out](std::int32_t id) { out.push_back(id); };
        added.raw.for_each(
            text,
            [&](std::size_t begin, std::size_t end) {
                if (added.normalized.empty()) {
                    s.cut.text.assign(text, begin, end - begin);
                    p.normalize.apply(s.cut.text, at_start, s.matcher);
                    return pieces(at_start, begin == 0, s, out);
                }
                std::string normal(text.substr(begin, end - begin));
                p.normalize.apply(normal, at_start, s.matcher);
                added.normalized.for_each(
                    normal,
                    [&](std::size_t from, std::size_t to) {
                        s.cut.text.assign(normal, from, to - from);
                        pieces(at_start, begin == 0 && from == 0, s, out);
                    },
                    token);
            },
            token);
    }

    void pieces(bool at_start, bool first, scratch& s, std::vector<std::int32_t>& out) const {
        parts_->pre_tokenize.apply(s.cut, at_start, first, s.matcher);
        for (std::size_t i = 0; i < s.cut.pieces.size(); ++i)
            parts_->model.encode(s.cut[i], out, s.model);
    }

    std::shared_ptr<const tokenizer_parts> parts_;
};

/// A tokenizer whose ids are target_id or draft_id: what the loop asks for (TokenizerOf<.., Id>).
template <class Id>
class tokenizer_of {
public:
    explicit tokenizer_of(tokenizer t) : tokenizer_(std::move(t)) {}

    [[nodiscard]] std::size_t vocabulary_size() const { return tokenizer_.vocabulary_size(); }
    [[nodiscard]] std::string_view bytes(Id id) const { return tokenizer_.bytes(id.value); }
    void encode(std::string_view text, encode_mode position, std::vector<Id>& out) const {
        std::vector<std::int32_t> ids;
        tokenizer_.encode(text, position, ids);
        for (const std::int32_t id : ids)
            out.push_back(Id{id});
    }
    void encode_with_control(std::string_view text, encode_mode position,
                             std::vector<Id>& out) const {
        std::vector<std::int32_t> ids;
        tokenizer_.encode_with_control(text, position, ids);
        for (const std::int32_t id : ids)
            out.push_back(Id{id});
    }
    [[nodiscard]] const tokenizer& base() const { return tokenizer_; }
    [[nodiscard]] const vocabulary& table() const { return tokenizer_.table(); }

private:
    tokenizer tokenizer_;
};

} // namespace specdec::engine
