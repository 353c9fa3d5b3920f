// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <specdec/core/concepts.hpp>
#include <specdec/core/token_id.hpp>
#include <specdec/vocab/encoding/utf8_edges.hpp>
#include <specdec/vocab/table/checked.hpp>
#include <specdec/vocab/table/token_bytes.hpp>

namespace specdec {

struct continuation_options {
    /// Bytes of committed text looked at, at least (up to twice as many, to begin at a word).
    std::size_t look_behind = 48;
};

/// SLEM's retokenisation with look-behind: the target tokens that continue the committed ones with
/// the drafted text (Timor et al., Algorithm 2, line 7, and "Algorithm 2 Supports Non-Injective
/// Tokenizers").
///
///     W  = bytes of the last committed tokens, from a word's beginning, none of them special
///     E1 = T(W),  E2 = T(W + draft)          both continuations
///
/// The proposal is what stands in E2 behind the committed part, found by the first of
///     1. the text W itself has a token boundary in E2 (ordinary tokenizers, one encode a round);
///     2. E1 is a prefix of E2, or its bytes end at a token boundary of E2: a tokenizer that
///        normalises (NFC, literal U+2581, space clean-up) has normalised W alike in both;
///     3. otherwise T(draft) alone: the draft goes on inside a token that is already committed.
/// Encoding the draft alone, always, does as well for most texts and tokenizers; it goes wrong
/// where a token depends on what stands before it: digits in groups of three, spaces that are
/// stripped or put in front of a text, characters cut at the join. Every wrong cut is a rejection.
///
/// Nothing is lost at the join: spaces that the tokenizer strips off the end of W rule form 2 out,
/// an empty proposal for a draft that is not empty falls through to form 3, and where a character
/// is cut at the join or at the draft's end, its bytes are encoded apart, as byte tokens of T if
/// need be. The last proposed token may be one that longer text would have extended; exact match
/// decides.
///
/// Complexity: at most three encodes of look-behind + draft, whatever the context. Allocation: none
/// once the buffers have grown, or reserve() has been called and T writes no more tokens than
/// bytes; the constructor visits the vocabulary once. Keeps a reference to the tokenizer. One
/// object a sequence or thread (it holds scratch).
template <class Tokenizer>
    requires TokenizerOf<Tokenizer, target_id>
class continuation_encoder {
public:
    explicit continuation_encoder(const Tokenizer& tokenizer, continuation_options options = {})
        : tokenizer_(&tokenizer), look_behind_(options.look_behind) {
        const std::size_t size = tokenizer.vocabulary_size();
        for (std::size_t i = 0; i < size; ++i) {
            const std::string_view bytes = tokenizer.bytes(id_at<target_id>(i));
            longest_ = bytes.size() > longest_ ? bytes.size() : longest_;
            if (bytes.size() != 1)
                continue;
            target_id& id = byte_tokens_[static_cast<unsigned char>(bytes[0])];
            if (!id.valid())
                id = id_at<target_id>(i);
        }
    }

    /// Room for drafts of so many bytes.
    void reserve(std::size_t draft) {
        const std::size_t window = 2 * look_behind_ > longest_ ? 2 * look_behind_ : longest_;
        window_.reserve(window);
        joined_.reserve(2 * window); // more only if normalising makes it so
        text_.reserve(window + draft);
        for (std::vector<target_id>* ids : {&extended_, &alone_})
            ids->reserve(window + draft);
    }

    /// Appends to `out` the target ids that continue `committed` (any number of the last committed
    /// ids; only the look-behind is read) with the text `draft`.
    void encode(std::span<const target_id> committed, std::string_view draft,
                std::vector<target_id>& out) {
        take_window(committed);
        if (utf8_tail(window_) > 0)
            finish_character(draft, out);
        if (draft.empty())
            return;

        text_.assign(window_).append(draft);
        const std::size_t open = encode_whole(text_, draft.size());
        const std::string_view whole = draft.substr(0, draft.size() - open);
        const std::size_t behind = join();
        if (behind < extended_.size())
            out.insert(out.end(), extended_.begin() + static_cast<std::ptrdiff_t>(behind),
                       extended_.end());
        else if (!whole.empty())
            specdec::encode(*tokenizer_, whole, encode_mode::continuation, out);
        append_bytes(last_bytes(draft, open), out);
    }

private:
    /// W: back to a word's beginning at least look_behind bytes away, or to a special token.
    void take_window(std::span<const target_id> committed) {
        std::size_t first = committed.size();
        std::size_t size = 0;
        while (first > 0) {
            const std::string_view bytes = tokenizer_->bytes(committed[first - 1]);
            if (bytes.empty())
                break; // a special token ends the text
            if (size > 0 && size + bytes.size() > 2 * look_behind_)
                break;
            --first;
            size += bytes.size();
            if (size >= look_behind_ && bytes[0] == ' ')
                break;
        }
        window_.clear();
        for (; first < committed.size(); ++first)
            window_ += tokenizer_->bytes(committed[first]);
    }

    /// The committed text ends within a character: the draft's bytes of it stand alone.
    void finish_character(std::string_view& draft, std::vector<target_id>& out) {
        const std::string_view rest = draft.substr(0, utf8_head(draft));
        encode_into(alone_, rest);
        if (bytes_equal(*tokenizer_, alone_, rest))
            out.insert(out.end(), alone_.begin(), alone_.end());
        else if (!append_bytes(rest, out))
            return;
        window_ += rest;
        draft.remove_prefix(rest.size());
    }

    /// All bytes or none (a vocabulary without byte tokens cannot express them).
    bool append_bytes(std::string_view bytes, std::vector<target_id>& out) const {
        for (const char byte : bytes)
            if (!byte_tokens_[static_cast<unsigned char>(byte)].valid())
                return false;
        for (const char byte : bytes)
            out.push_back(byte_tokens_[static_cast<unsigned char>(byte)]);
        return true;
    }

    /// E2, into extended_. Returns the number of bytes at the end (of at most `last`) that it
    /// leaves out: an incomplete character that the tokenizer would not give back.
    std::size_t encode_whole(std::string_view text, std::size_t last) {
        const std::size_t open = utf8_tail(text);
        encode_into(extended_, text);
        if (open == 0 || open > last)
            return 0;
        if (bytes_end_with(*tokenizer_, extended_, last_bytes(text, open)))
            return 0;
        encode_into(extended_, text.substr(0, text.size() - open));
        return open;
    }

    void encode_into(std::vector<target_id>& ids, std::string_view text) const {
        ids.clear();
        if (!text.empty())
            specdec::encode(*tokenizer_, text, encode_mode::continuation, ids);
    }

    /// Index in extended_ where the tokens of the draft begin; extended_.size() or more if there is
    /// none (form 3).
    std::size_t join() {
        std::size_t behind = boundary_behind(*tokenizer_, extended_, window_);
        if (behind < extended_.size())
            return behind;
        encode_into(alone_, window_);
        joined_.clear();
        for (const target_id id : alone_)
            joined_ += tokenizer_->bytes(id);
        if (window_.ends_with(' ') && !joined_.ends_with(' '))
            return extended_.size(); // stripped
        behind = 0;
        while (behind < alone_.size() && behind < extended_.size() &&
               alone_[behind] == extended_[behind])
            ++behind;
        if (behind == alone_.size())
            return behind;
        return boundary_behind(*tokenizer_, extended_, joined_);
    }

    const Tokenizer* tokenizer_;
    std::size_t look_behind_;
    std::size_t longest_ = 0;                 // token, in bytes
    target_id byte_tokens_[256];              // the token of a byte alone, for cut characters
    std::string window_, text_, joined_;      // W, W + draft, bytes of E1
    std::vector<target_id> extended_, alone_; // E2, E1
};

} // namespace specdec
