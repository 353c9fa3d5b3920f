// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm> // std::stable_sort
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <llama.h>

#include <specdec/core/concepts.hpp>
#include <specdec/core/error.hpp>
#include <specdec/interop/llama_cpp_vocabulary.hpp>
#include <specdec/vocab/table/vocabulary.hpp>

namespace specdec {

/// A llama_vocab as a TokenizerOf<Id>.
///
/// encode is llama_tokenize without special tokens, except where that would change the text: a
/// vocabulary that adds a space in front (SentencePiece) does so at encode_mode::start only, not
/// in a continuation and not behind a user-defined token in the middle of a text. llama.cpp offers
/// no switch for it; so a continuation is encoded behind a character that no longer token holds
/// (hence a border of tokens in every encoding), and that character's tokens are taken off again.
///
/// The llama_vocab (so its llama_model) is borrowed and outlives this object. Immutable; copies
/// share the table; any number of threads may encode at once. Construction copies the table:
/// linear in it. encode allocates nothing of its own once `out` has grown, but llama.cpp does, and
/// looks for each of its user-defined tokens.
/// Errors, specdec::error: at construction, a model without vocabulary; what llama_tokenize
/// refuses.
template <class Id>
class llama_cpp_tokenizer {
    static_assert(sizeof(Id) == sizeof(llama_token) && std::is_standard_layout_v<Id>);

public:
    /// Precondition: vocab is not null.
    explicit llama_cpp_tokenizer(const llama_vocab* vocab)
        : vocab_(vocab), table_(std::make_shared<const vocabulary>(llama_cpp_vocabulary(vocab))) {
        std::vector<Id> probe;
        tokenize("\n", false, false, probe);
        if (!probe.empty() && bytes(probe.front()).starts_with(' '))
            find_mark();
    }

    [[nodiscard]] std::size_t vocabulary_size() const { return table_->size(); }
    /// Precondition: 0 <= id < vocabulary_size().
    [[nodiscard]] std::string_view bytes(Id id) const { return table_->text(id.index()); }

    /// Appends the ids of the text: neither BOS nor EOS; names of control tokens are plain text.
    void encode(std::string_view text, encode_mode where, std::vector<Id>& out) const {
        if (mark_tokens_ == 0)
            return tokenize(text, false, false, out);
        encode_between(text, 0, where == encode_mode::start, out);
    }

    /// Appends what llama.cpp's own programs make of a prompt: BOS where the model wants one, names
    /// of control tokens become those tokens.
    void encode_prompt(std::string_view text, std::vector<Id>& out) const {
        tokenize(text, true, true, out);
    }

    /// Entries and kinds by id: what intersect() wants.
    [[nodiscard]] const vocabulary& table() const { return *table_; }
    [[nodiscard]] enum llama_vocab_type type() const { return ::llama_vocab_type(vocab_); }
    /// What the model wants at the beginning of every text.
    [[nodiscard]] std::optional<Id> begin_token() const {
        const llama_token bos = llama_vocab_bos(vocab_);
        if (bos == LLAMA_TOKEN_NULL || !llama_vocab_get_add_bos(vocab_))
            return std::nullopt;
        return Id{bos};
    }
    /// The end-of-generation tokens, ascending: session_settings::end_ids.
    [[nodiscard]] std::vector<Id> end_tokens() const {
        std::vector<Id> ends;
        for (std::size_t i = 0; i < vocabulary_size(); ++i)
            if (llama_vocab_is_eog(vocab_, static_cast<llama_token>(i)))
                ends.push_back(id_at<Id>(i));
        return ends;
    }
    [[nodiscard]] const llama_vocab* vocab() const { return vocab_; }

private:
    /// What a vocabulary needs that adds a space: see encode_between.
    void find_mark() {
        std::vector<Id> ids;
        for (char c = 1; c < ' ' && mark_tokens_ == 0; ++c) {
            if (!stands_alone(c))
                continue;
            ids.clear();
            tokenize({&c, 1}, false, false, ids); // the space and the mark
            if (!ids.empty() && bytes(ids.back()) == std::string_view(&c, 1)) {
                mark_ = c;
                mark_tokens_ = ids.size();
            }
        }
        if (mark_tokens_ == 0)
            throw error("llama_vocab", "tokens",
                        "expected a control character that no longer token holds: the vocabulary "
                        "adds spaces, which only such a character keeps out of continuations");
        for (std::size_t i = 0; i < table_->size(); ++i)
            if (table_->kind(i) == token_kind::user && !table_->entry(i).empty())
                literal_.push_back(id_at<Id>(i));
        // llama.cpp's order.
        std::stable_sort(literal_.begin(), literal_.end(),
                         [this](Id a, Id b) { return bytes(a).size() > bytes(b).size(); });
    }

    /// Whether no token holds the character beside others.
    [[nodiscard]] bool stands_alone(char c) const {
        for (std::size_t i = 0; i < table_->size(); ++i)
            if (const std::string_view token = table_->text(i);
                token.size() > 1 && token.find(c) != token.npos)
                return false;
        return true;
    }

    /// Encodes text that the literal tokens before `first` do not occur in.
    void encode_between(std::string_view text, std::size_t first, bool at_start,
                        std::vector<Id>& out) const {
        for (std::size_t i = first; i < literal_.size(); ++i) {
            const std::string_view literal = bytes(literal_[i]);
            for (std::size_t at; (at = text.find(literal)) != text.npos; at_start = false) {
                encode_between(text.substr(0, at), i + 1, at_start, out);
                out.push_back(literal_[i]);
                text.remove_prefix(at + literal.size());
            }
        }
        if (at_start)
            return tokenize(text, false, false, out);
        const std::size_t before = out.size();
        tokenize(mark_ + std::string(text), false, false, out);
        out.erase(out.begin() + static_cast<std::ptrdiff_t>(before),
                  out.begin() + static_cast<std::ptrdiff_t>(before + mark_tokens_));
    }

    void tokenize(std::string_view text, bool special, bool parse, std::vector<Id>& out) const {
        if (text.size() > std::size_t{std::numeric_limits<std::int32_t>::max()} / 2)
            throw error("llama_tokenize", "text", "expected less than a gigabyte");
        const std::size_t before = out.size();
        std::size_t room = text.size() / 2 + 16; // most texts need less
        for (int tries = 0; tries < 2; ++tries) {
            out.resize(before + room);
            const std::int32_t n =
                llama_tokenize(vocab_, text.data(), static_cast<std::int32_t>(text.size()),
                               reinterpret_cast<llama_token*>(out.data() + before),
                               static_cast<std::int32_t>(room), special, parse);
            if (n >= 0) {
                out.resize(before + static_cast<std::size_t>(n));
                return;
            }
            if (n == std::numeric_limits<std::int32_t>::min())
                break;
            room = static_cast<std::size_t>(-n);
        }
        out.resize(before);
        throw error("llama_tokenize", "text", "expected a text whose tokens can be counted");
    }

    const llama_vocab* vocab_;
    std::shared_ptr<const vocabulary> table_;
    char mark_ = '\0';            ///< the character that no longer token holds
    std::size_t mark_tokens_ = 0; ///< of the mark by itself, the space included; 0: none is added
    std::vector<Id> literal_;     ///< user-defined tokens: behind them, too, a space is added
};

} // namespace specdec
