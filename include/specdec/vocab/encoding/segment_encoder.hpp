// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <specdec/core/concepts.hpp>
#include <specdec/vocab/encoding/continuation.hpp>
#include <specdec/vocab/encoding/safe_cuts.hpp>
#include <specdec/vocab/encoding/utf8_edges.hpp>
#include <specdec/vocab/table/checked.hpp>
#include <specdec/vocab/table/token_bytes.hpp>

namespace specdec {

/// A draft's text on its way into the target's vocabulary.
struct encoded_draft {
    std::vector<target_id> tokens;  ///< settled
    std::vector<target_id> preview; ///< of the segment; of its first part while `stale`
    std::string text;               ///< bytes of the draft
    std::size_t segment = 0;        ///< where the segment begins
    bool stale = false;             ///< the segment's end is not in the preview (yet)
    bool ended = false;             ///< nothing may follow
    mutable bool joins_known = false;
    mutable byte_set joins; ///< bytes that are no cut behind the text
};

/// Encodes a text that grows piece by piece and settles tokens as early as longer text cannot
/// change them, for every tokenizer T whose tokens do not shift when text follows:
///
///     preview := T(segment), the text since the last cut, after every piece
///     a preview's first token is settled as soon as no token of T goes on from the segment
///     cut, which settles the whole preview,
///         before a piece, if no token of T reaches from one of the preview's into it
///         before a byte that no token of T holds behind the last one (a seam)
///
/// A draft ends where T does not give a cut segment's bytes back (NFC, clean-up) and where longer
/// text makes the preview's tokens shorter: the tokens always spell the text, and a preview only
/// grows, its first token first. The first segment goes on from the committed text by look-behind
/// (continuation.hpp). T is called, never understood. Complexity: one encode of a segment a piece.
/// Allocation: none once the buffers have grown. One object a sequence; borrows its arguments.
template <TokenizerOf<target_id> Tokenizer>
class segment_encoder {
public:
    segment_encoder(const Tokenizer& tokenizer, const safe_cuts& edges)
        : tokenizer_(&tokenizer), cuts_(&edges), first_(tokenizer) {
        committed_.reserve(std::size_t{most_kept});
    }

    void start() { committed_.clear(); }
    void follow(std::span<const target_id> committed) {
        for (const target_id t : committed) { // keeps what the look-behind may read
            if (committed_.size() == std::size_t{most_kept})
                committed_.erase(committed_.begin(), committed_.begin() + most_kept / 2);
            committed_.push_back(t);
        }
    }

    /// The text goes on: cuts, but does not look at what is left.
    void append(encoded_draft& s, std::string_view bytes) {
        if (!s.preview.empty() && !joined(s, bytes[0]))
            cut(s);
        for (const char byte : bytes) {
            if (s.segment < s.text.size() && cuts_->between(s.text.back(), byte))
                cut(s);
            if (s.ended)
                return;
            s.text += byte;
            s.stale = true;
            s.joins_known = false;
        }
    }

    /// preview := T(segment), as far as T gives the segment back (a cut character: not yet).
    void look(encoded_draft& s) {
        if (!s.stale || s.ended)
            return;
        const std::string_view segment = std::string_view(s.text).substr(s.segment);
        fresh_.clear();
        if (s.segment == 0)
            first_.encode(committed_, segment, fresh_);
        else
            specdec::encode(*tokenizer_, segment, encode_mode::continuation, fresh_);
        if (!bytes_equal(*tokenizer_, fresh_, segment))
            return;
        for (std::size_t i = 0; i < s.preview.size(); ++i) {
            if (i < fresh_.size() && fresh_[i] == s.preview[i])
                continue;
            s.ended = i >= fresh_.size() || size_of(fresh_[i]) <= size_of(s.preview[i]);
            break;
        }
        if (s.ended)
            return;
        s.stale = s.joins_known = false;
        std::size_t settled = 0;
        while (settled < fresh_.size() &&
               !cuts_->extends(std::string_view(s.text).substr(s.segment))) {
            s.tokens.push_back(fresh_[settled]);
            s.segment += size_of(fresh_[settled++]);
        }
        s.preview.assign(fresh_.begin() + static_cast<std::ptrdiff_t>(settled), fresh_.end());
    }

    /// Settles the segment; ends the draft where T does not give it back.
    void cut(encoded_draft& s) {
        look(s);
        s.ended = s.ended || s.stale;
        if (s.ended)
            return;
        s.tokens.insert(s.tokens.end(), s.preview.begin(), s.preview.end());
        s.preview.clear();
        s.segment = s.text.size();
        s.joins_known = false;
    }

    /// Whether a token of T may reach from one of the preview's tokens across the end of the text.
    [[nodiscard]] bool joined(const encoded_draft& s, char next) const {
        if (s.stale || is_utf8_inner(next))
            return true;
        if (!s.joins_known) {
            s.joins = {};
            std::string_view rest = std::string_view(s.text).substr(s.segment);
            for (const target_id t : s.preview) {
                cuts_->add_next(rest, s.joins);
                rest.remove_prefix(size_of(t));
            }
            s.joins_known = true;
        }
        return s.joins.has(next);
    }

private:
    static constexpr std::ptrdiff_t most_kept = 1024;

    [[nodiscard]] std::size_t size_of(target_id t) const { return tokenizer_->bytes(t).size(); }

    const Tokenizer* tokenizer_;
    const safe_cuts* cuts_;
    std::vector<target_id> committed_;
    continuation_encoder<Tokenizer> first_;
    std::vector<target_id> fresh_; // scratch
};

} // namespace specdec
