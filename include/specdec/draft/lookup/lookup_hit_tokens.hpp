// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <specdec/core/concepts.hpp>
#include <specdec/core/drafting.hpp>
#include <specdec/draft/draft_outcome.hpp>
#include <specdec/draft/lookup/lookup_hit.hpp>
#include <specdec/vocab/encoding/continuation.hpp>

namespace specdec {

/// Bytes that are looked up for a draft of so many tokens.
[[nodiscard]] constexpr std::size_t lookup_hit_bytes(std::size_t max_draft) {
    return 6 * max_draft + 16;
}

/// What a text goes on with where its end was seen before, in the target's tokens:
///
///     text           := lookup.find()                  what followed where the text's end stood
///     t_1 .. t_m     := T(text), realigned by look-behind (continuation_encoder)
///     sure_i         := product of the chances of t_i's bytes
///
///     f.find(stop)       for the round that begins; false: nothing was found
///     f.ids(), f.steps() what was found, and how sure each of its tokens is
///     f.outcome(tokens)  what would have become of it, now that these tokens are to be committed
///     f.follow(tokens)   they are
///
/// Only start and follow change what is known of the text. A token that is cut where the found text
/// ends may be one that longer text would have extended. Borrows the tokenizer. Allocates at
/// construction only, unless a tokenizer writes more tokens than a text has bytes.
template <TextLookup Lookup, TokenizerOf<target_id> Tokenizer>
class lookup_hit_tokens {
public:
    /// At most `most` tokens are found.
    lookup_hit_tokens(Lookup lookup, const Tokenizer& tokenizer, std::size_t most)
        : lookup_(std::move(lookup)), tokenizer_(&tokenizer), encoder_(tokenizer), most_(most) {
        const std::size_t bytes = lookup_hit_bytes(most);
        found_.reserve(bytes);
        encoder_.reserve(bytes);
        ids_.reserve(bytes);
        steps_.reserve(bytes);
        committed_.reserve(most_kept);
    }

    void start() {
        lookup_.start();
        committed_.clear();
        forget();
    }
    void follow(std::span<const target_id> committed) {
        forget();
        for (const target_id t : committed) {
            const std::string_view bytes = tokenizer_->bytes(t);
            lookup_.follow(bytes.empty() ? std::string_view(&no_text, 1) : bytes);
            if (committed_.size() == most_kept)
                committed_.erase(committed_.begin(),
                                 committed_.begin() + static_cast<std::ptrdiff_t>(most_kept / 2));
            committed_.push_back(t);
        }
    }

    [[nodiscard]] std::size_t target_size() const { return tokenizer_->vocabulary_size(); }
    [[nodiscard]] std::size_t most() const { return most_; }
    [[nodiscard]] std::span<const target_id> ids() const { return ids_; }
    [[nodiscard]] std::span<const draft_progress> steps() const { return steps_; }
    /// Whether something was looked for since the last commit.
    [[nodiscard]] bool asked() const { return asked_; }

    /// Nothing is found, and nothing was looked for.
    void forget() {
        ids_.clear();
        steps_.clear();
        asked_ = false;
    }

    /// Looks up the text, encodes it, and follows the chances of its tokens as the rule sees them.
    template <StopRule Stop>
    [[nodiscard]] bool find(const Stop& stop) {
        forget();
        asked_ = true;
        const std::size_t bytes_looked_up = lookup_hit_bytes(most_);
        lookup_.find(bytes_looked_up, found_);
        if (found_.bytes.empty())
            return false;
        encoder_.encode(committed_, found_.bytes, ids_);
        std::string_view text = found_.bytes;
        std::size_t at = 0, tokens = 0;
        draft_progress now;
        for (; tokens < ids_.size() && tokens < most_; ++tokens) {
            const std::string_view bytes = tokenizer_->bytes(ids_[tokens]);
            if (bytes.empty() || !text.substr(at).starts_with(bytes))
                break; // normalised: nobody knows how sure it is
            if (at + bytes.size() == bytes_looked_up)
                break; // cut
            double sure = 1;
            for (std::size_t k = 0; k < bytes.size(); ++k)
                sure *= static_cast<double>(found_.chances[at + k]);
            at += bytes.size();
            now = extend_progress(now, stop, draft_id{ids_[tokens].value}, 1.0, sure, 0.0,
                                  sure < 1            ? token_certainty::guessed
                                  : at == text.size() ? token_certainty::forced_end
                                                      : token_certainty::forced);
            steps_.push_back(now);
        }
        ids_.resize(tokens);
        return tokens > 0;
    }

    [[nodiscard]] draft_outcome outcome(std::span<const target_id> committed) const {
        return outcome_of_known(ids_, steps_, committed);
    }

private:
    static constexpr std::size_t most_kept = 256; // tokens: more than the encoder looks behind

    Lookup lookup_;
    const Tokenizer* tokenizer_;
    continuation_encoder<Tokenizer> encoder_;
    std::size_t most_;
    std::vector<target_id> committed_; // the last ones
    lookup_hit found_;
    std::vector<target_id> ids_;
    std::vector<draft_progress> steps_; // [ids_]
    bool asked_ = false;
};

} // namespace specdec
