// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <specdec/core/concepts.hpp>
#include <specdec/vocab/encoding/encoding_split.hpp>
#include <specdec/vocab/encoding/utf8_edges.hpp>
#include <specdec/vocab/table/checked.hpp>
#include <specdec/vocab/table/token_bytes.hpp>

namespace specdec {

struct retokenizer_options {
    /// Bytes at the end of a run of text whose tokens are never taken as final; at least 8 are
    /// used. Longer than the words of the text, or a word may be cut otherwise than encode would.
    std::size_t look_behind = 64;
};

/// Encodes a text that grows at its end, without encoding again what is settled: the drafter's
/// context is the *retokenised* text of the committed target tokens (Timor et al., Algorithm 2,
/// line 4), so that a target token outside the intersection becomes several draft tokens and never
/// UNK.
///
/// The invariant is ids() = settled ids, then encode(live text) : only the live text, one to two
/// look-behinds long, is encoded again by an append. Its front is settled at a place where the
/// rest, encoded by itself, has the same tokens as in the whole (encoding_split.hpp). So:
///
/// - ids() == encode(whole run) for tokenizers whose tokens depend on less than look_behind bytes
///   to either side (BPE with pre-tokens, SentencePiece, longest match), whatever the appends;
/// - normalising tokenizers (NFC, space clean-up, literal U+2581) lose and double nothing, since a
///   place is refused where bytes would come or go; with a tokenizer that offers no such place the
///   live text keeps growing: the cost suffers, the text does not;
/// - an incomplete UTF-8 character at the end is encoded as bytes where the tokenizer can, held
///   back where it cannot, and encoded anew when its rest arrives.
///
/// Complexity: an append costs encode() of at most the new bytes and about three look-behinds,
/// whatever the length of the context. Allocation: none of its own once reserve() has been called
/// or the buffers have grown. Keeps a reference to the tokenizer. Single owner; copyable.
template <class Tokenizer, class Id>
    requires TokenizerOf<Tokenizer, Id>
class retokenizer {
public:
    explicit retokenizer(const Tokenizer& tokenizer, retokenizer_options options = {})
        : tokenizer_(&tokenizer), look_behind_(options.look_behind > 8 ? options.look_behind : 8),
          splitter_(tokenizer) {
        reset();
    }

    /// Forgets everything; the next text stands at the start of a text.
    void reset() {
        ids_.clear();
        open_run(encode_mode::start);
        changed_ = 0;
    }

    /// Room for n ids and the buffers of ordinary appends.
    void reserve(std::size_t n) {
        ids_.reserve(n);
        live_.reserve(10 * look_behind_);
        fresh_.reserve(10 * look_behind_);
        splitter_.reserve(10 * look_behind_);
    }

    /// The text goes on with these bytes: any bytes, cut anywhere.
    void append(std::string_view bytes) {
        if (bytes.empty())
            return;
        live_.append(bytes);
        encode_live();
        if (live_.size() >= settle_at_)
            settle();
    }

    /// A token that is no text (BOS, end of turn): ends the run of text. The text behind it is a
    /// continuation unless said otherwise: behind BOS say encode_mode::start.
    void append_special(Id id, encode_mode next = encode_mode::continuation) {
        if (held_ > 0) { // its rest will not come
            encode_into_fresh(0);
            splice(anchor_);
        }
        ids_.push_back(id);
        open_run(next);
    }

    /// The encoding of everything appended. Valid until the next call that is not const.
    [[nodiscard]] std::span<const Id> ids() const { return ids_; }

    /// The engine's context equals ids() now: changed_from() tells of changes since here.
    void mark() { changed_ = ids_.size(); }

    /// The ids before this index are those of the last mark(): truncate the engine's context to
    /// changed_from() tokens, then append ids().subspan(changed_from()). At most what the context
    /// held.
    [[nodiscard]] std::size_t changed_from() const { return changed_; }

private:
    void open_run(encode_mode where) {
        where_ = where;
        live_.clear();
        held_ = 0;
        anchor_ = ids_.size();
        settle_at_ = 2 * look_behind_;
    }

    /// The live text without the incomplete character that is held back.
    [[nodiscard]] std::string_view encoded() const {
        return std::string_view(live_).substr(0, live_.size() - held_);
    }

    void encode_live() {
        const std::size_t open = utf8_tail(live_);
        encode_into_fresh(0);
        if (open > 0 && !bytes_end_with(*tokenizer_, fresh_, last_bytes(live_, open)))
            encode_into_fresh(open);
        splice(anchor_);
    }

    void encode_into_fresh(std::size_t hold) {
        held_ = hold;
        fresh_.clear();
        if (!encoded().empty())
            specdec::encode(*tokenizer_, encoded(), where_, fresh_);
    }

    /// Puts the fresh tokens at index `from`, in place of all that stood there.
    void splice(std::size_t from) {
        std::size_t same = 0;
        while (same < fresh_.size() && from + same < ids_.size() &&
               ids_[from + same] == fresh_[same])
            ++same;
        if (from + same < changed_)
            changed_ = from + same;
        ids_.resize(from + same);
        for (; same < fresh_.size(); ++same)
            ids_.push_back(fresh_[same]);
    }

    /// Moves the front of the live text to what is settled, if a place for the cut is found.
    void settle() {
        const std::string_view text = encoded();
        settle_at_ = live_.size() + look_behind_;
        if (text.size() <= look_behind_ + 1)
            return;
        const std::span<const Id> tokens = ids().subspan(anchor_);
        const std::size_t latest = text.size() - look_behind_;
        const std::size_t earliest = latest > look_behind_ ? latest - look_behind_ : 1;
        if (const encoding_split place = splitter_.exact(text, where_, tokens, earliest, latest);
            place.found())
            return settle(place);
        if (live_.size() < 8 * look_behind_)
            return;
        if (const encoding_split place = splitter_.by_bytes(text, tokens, earliest, latest);
            place.found()) {
            settle(place);
            encode_live(); // other tokens from here on, the same text
        } else {
            settle_at_ = 2 * live_.size(); // tried rarer and rarer
        }
    }

    void settle(encoding_split place) {
        live_.erase(0, place.byte);
        anchor_ += place.token;
        where_ = encode_mode::continuation;
        settle_at_ = live_.size() + look_behind_;
    }

    const Tokenizer* tokenizer_;
    std::size_t look_behind_;
    std::vector<Id> ids_;       // the whole encoding: settled | of the live text
    std::size_t anchor_ = 0;    // first id of the live text
    std::size_t changed_ = 0;   // first id that differs since mark()
    std::string live_;          // text of ids_[anchor_ ..], then held_ bytes without a token
    std::size_t held_ = 0;      // bytes of an incomplete character at the end
    std::size_t settle_at_ = 0; // live size at which a cut is looked for
    encode_mode where_ = encode_mode::start;
    std::vector<Id> fresh_; // scratch: the live text's encoding
    encoding_splitter<Tokenizer, Id> splitter_;
};

} // namespace specdec
