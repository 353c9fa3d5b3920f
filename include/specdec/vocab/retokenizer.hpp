// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <specdec/core/concepts.hpp>
#include <specdec/vocab/token_bytes.hpp>
#include <specdec/vocab/utf8_edges.hpp>

namespace specdec {

struct retokenizer_options {
    /// Bytes at the end of a run of text whose tokens are never taken as final; at least 8 are used.
    /// Longer than the words of the text, or a word may be cut otherwise than encode would.
    std::size_t look_behind = 64;
};

/// Encodes a text that grows at its end, without encoding what is settled again: the drafter's
/// context is the *retokenised* text of the committed target tokens (Timor et al., Algorithm 2, line
/// 4), so that a target token outside the intersection becomes several draft tokens and never UNK.
///
/// The invariant is  ids() = settled ids, then encode(live text) : only the live text, between one
/// and about two look-behinds long, is encoded again by an append. The front of the live text is
/// settled at a place where the encoding of both sides, apart, was seen to be the encoding of the
/// whole; so no tokenizer has to be understood, only called. What that gives:
/// - ids() == encode(whole run) for tokenizers whose tokens depend on less than look_behind bytes to
///   either side (BPE with pre-tokens, SentencePiece, longest match), however the text was cut into
///   appends;
/// - normalising tokenizers (NFC, space clean-up, literal U+2581) lose and double nothing, since a
///   place is refused where bytes would come or go; with a tokenizer that offers no such place the
///   live text keeps growing: the cost suffers, the text does not;
/// - an incomplete UTF-8 character at the end is encoded as bytes where the tokenizer can, held back
///   where it cannot, and encoded anew when its rest arrives.
///
/// Complexity: an append costs encode() of at most the new bytes and about three look-behinds,
/// whatever the length of the context. Allocation: none of its own once reserve() has been called or
/// the buffers have grown. Keeps a reference to the tokenizer. Single owner; copyable.
template <class Tokenizer, class Id>
    requires TokenizerOf<Tokenizer, Id>
class retokenizer {
public:
    explicit retokenizer(const Tokenizer& tokenizer, retokenizer_options options = {})
        : tokenizer_(&tokenizer),
          look_behind_(options.look_behind > 8 ? options.look_behind : 8) {
        reset();
    }

    /// Forgets everything; the next text stands at the start of a text.
    void reset() {
        ids_.clear();
        open_run(text_position::start);
        changed_ = 0;
    }

    /// Room for n ids and the buffers of ordinary appends.
    void reserve(std::size_t n) {
        ids_.reserve(n);
        live_.reserve(8 * look_behind_);
        fresh_.reserve(8 * look_behind_);
        probe_.reserve(8 * look_behind_);
    }

    /// The text goes on with these bytes: any bytes, cut anywhere.
    void append(std::string_view bytes) {
        if (bytes.empty()) return;
        live_.append(bytes);
        encode_live();
        if (live_.size() >= settle_at_) settle();
    }

    /// A token that is no text (BOS, end of turn): ends the run of text. The text behind it is a
    /// continuation unless said otherwise: behind BOS say text_position::start.
    void append_special(Id id, text_position next = text_position::continuation) {
        if (held_ > 0) { // its rest will not come
            encode_into_fresh(0);
            splice(anchor_);
        }
        ids_.push_back(id);
        open_run(next);
    }

    /// The encoding of everything appended. Valid until the next call that is not const.
    [[nodiscard]] std::span<const Id> ids() const { return ids_; }

    /// From now on changed_from() speaks of changes since here: the engine's context equals ids().
    void mark() { changed_ = ids_.size(); }

    /// The ids before this index are those of the last mark(): truncate the engine's context to
    /// changed_from() tokens, then append ids().subspan(changed_from()). At most what the context held.
    [[nodiscard]] std::size_t changed_from() const { return changed_; }

private:
    static constexpr std::size_t most_tries = 4; // places tried of each sort

    void open_run(text_position where) {
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
        if (!encoded().empty()) tokenizer_->encode(encoded(), where_, fresh_);
    }

    /// Puts the fresh tokens at index `from`, in place of all that stood there.
    void splice(std::size_t from) {
        std::size_t same = 0;
        while (same < fresh_.size() && from + same < ids_.size() && ids_[from + same] == fresh_[same])
            ++same;
        if (from + same < changed_) changed_ = from + same;
        ids_.resize(from + same);
        for (; same < fresh_.size(); ++same) ids_.push_back(fresh_[same]);
    }

    /// Moves the front of the live text to what is settled, if a place for the cut is found.
    void settle() {
        if (encoded().size() > look_behind_) {
            const bool long_enough = live_.size() >= 8 * look_behind_;
            const bool done = settle_at_token(true) || settle_between_tokens() ||
                              (long_enough && settle_at_token(false));
            if (!done && long_enough) settle_at_ = live_.size(); // then doubled: rarer and rarer
            else settle_at_ = 0;
        }
        settle_at_ += live_.size() + look_behind_;
    }

    /// Cuts where the bytes of the last tokens are the last bytes of the text. `exact` asks that the
    /// text behind the cut has the same tokens by itself; otherwise only the same bytes (a word
    /// longer than eight look-behinds: the tokens differ from there on, the text does not).
    bool settle_at_token(bool exact) {
        struct place {
            std::size_t at, token;
        };
        const std::string_view text = encoded();
        const std::size_t latest = text.size() - look_behind_;
        place others[most_tries];
        std::size_t edge_count = 0, other_count = 0, at = text.size();
        for (std::size_t i = ids_.size(); i-- > anchor_;) {
            const std::string_view token = tokenizer_->bytes(ids_[i]);
            if (token.size() >= at || text.substr(at - token.size(), token.size()) != token) break;
            at -= token.size();
            if (at > latest) continue;
            if (at + look_behind_ < latest) break;
            if (is_word_edge(text, at)) {
                if (edge_count++ < most_tries && cut(at, i, exact)) return true;
            } else if (other_count < most_tries && !is_utf8_inner(text[at])) {
                others[other_count++] = {at, i};
            }
        }
        for (std::size_t k = 0; k < other_count; ++k)
            if (cut(others[k].at, others[k].token, exact)) return true;
        return false;
    }

    bool cut(std::size_t at, std::size_t token, bool exact) {
        const std::string_view text = encoded().substr(at);
        fresh_.clear();
        tokenizer_->encode(text, text_position::continuation, fresh_);
        if (exact ? !is_rest(fresh_, token) : !bytes_equal(*tokenizer_, fresh_, text)) return false;
        splice(token);
        settled(at, token);
        return true;
    }

    /// Cuts where the bytes do not tell (they were normalised): the tokens of both sides do.
    bool settle_between_tokens() {
        const std::string_view text = encoded();
        const std::size_t latest = text.size() - look_behind_;
        const std::size_t earliest = latest > look_behind_ ? latest - look_behind_ : 1;
        for (const bool at_edge : {true, false}) {
            std::size_t tries = 0;
            for (std::size_t at = latest; at >= earliest && tries < most_tries; --at) {
                if (at_edge ? !is_word_edge(text, at)
                            : is_utf8_inner(text[at]) || text[at] == ' ' || is_word_edge(text, at))
                    continue;
                ++tries;
                probe_.clear();
                tokenizer_->encode(text.substr(at), text_position::continuation, probe_);
                if (probe_.size() > ids_.size() - anchor_) continue;
                const std::size_t token = ids_.size() - probe_.size();
                if (!is_rest(probe_, token)) continue;
                fresh_.clear();
                tokenizer_->encode(text.substr(0, at), where_, fresh_);
                if (fresh_.size() != token - anchor_) continue;
                for (const Id id : probe_) fresh_.push_back(id);
                if (!is_rest(fresh_, anchor_)) continue;
                settled(at, token);
                return true;
            }
        }
        return false;
    }

    void settled(std::size_t bytes, std::size_t token) {
        live_.erase(0, bytes);
        anchor_ = token;
        where_ = text_position::continuation;
    }

    [[nodiscard]] bool is_rest(const std::vector<Id>& tokens, std::size_t from) const {
        if (tokens.size() != ids_.size() - from) return false;
        for (std::size_t i = 0; i < tokens.size(); ++i)
            if (tokens[i] != ids_[from + i]) return false;
        return true;
    }

    const Tokenizer* tokenizer_;
    std::size_t look_behind_;
    std::vector<Id> ids_;       // the whole encoding: settled | of the live text
    std::size_t anchor_ = 0;    // first id of the live text
    std::size_t changed_ = 0;   // first id that differs since mark()
    std::string live_;          // text of ids_[anchor_ ..], then held_ bytes without a token
    std::size_t held_ = 0;      // bytes of an incomplete character at the end
    std::size_t settle_at_ = 0; // live size at which a cut is looked for
    text_position where_ = text_position::start;
    std::vector<Id> fresh_, probe_; // scratch
};

} // namespace specdec
