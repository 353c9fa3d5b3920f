// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <specdec/bridge/context/bridge.hpp>
#include <specdec/core/concepts.hpp>
#include <specdec/core/drafting.hpp>
#include <specdec/core/proposal.hpp>
#include <specdec/draft/draft_outcome.hpp>
#include <specdec/draft/lookup/found_text.hpp>
#include <specdec/draft/lookup/lookup_length.hpp>
#include <specdec/vocab/encoding/continuation.hpp>

namespace specdec {

struct lookup_limits {
    std::size_t max_draft = 16; ///< target tokens proposed a round, at most
    /// How much of what is found is proposed; nothing: as much as the stop rule asks for.
    std::optional<lookup_length> length{};
};

/// Bytes that are looked up for a draft of so many tokens.
[[nodiscard]] constexpr std::size_t found_bytes(std::size_t max_draft) {
    return 6 * max_draft + 16;
}

/// Drafting without a model: text that was seen before, found by bytes, encoded in the target's
/// vocabulary and proposed as it is.
///
///     text           := lookup.find()                  what followed where the text's end stood
///     t_1 .. t_m     := T(text), realigned by look-behind (continuation_encoder)
///     sure_i         := product of the chances of t_i's bytes
///     proposals      := t_1 .. t_n, each from the law with all its mass on it
///
/// Of drafter, bridge and verifier this is a bridge that needs no drafter (no_drafter). Nothing is
/// drawn and there are no rows: what makes a lookup a draft is the way from bytes to tokens, which
/// is a bridge's work. As a drafter of 256 tokens it would be asked byte by byte, and cut within
/// words; here the tokenizer is called once a round, and a draft's end is chosen with all of it
/// known. The stop rule is asked before each token, as always.
///
/// Lossless with every verifier: given what was committed, in this text and in those that share an
/// index, a proposal is certain, q = 1, and it carries that law. So an index that another text
/// changes between this round's draft and its decision changes nothing about the round; of this
/// text the index changes in start and follow only. A token that is cut where the found text ends
/// may be one that longer text would have extended; the verifier decides.
///
/// Models Bridge with any drafter. Borrows the tokenizer. Allocates at construction only, unless a
/// tokenizer writes more tokens than a text has bytes.
template <TextLookup Lookup, TokenizerOf<target_id> Tokenizer>
class lookup_bridge {
public:
    using law_type = one_hot_law<target_id>;

    lookup_bridge(Lookup lookup, const Tokenizer& tokenizer, lookup_limits limits = {})
        : lookup_(std::move(lookup)), tokenizer_(&tokenizer), encoder_(tokenizer),
          limits_(std::move(limits)) {
        const std::size_t bytes = found_bytes(limits_.max_draft);
        found_.reserve(bytes);
        encoder_.reserve(bytes);
        encoded_.reserve(bytes);
        steps_.reserve(bytes);
        committed_.reserve(most_kept);
        proposals_.reserve(limits_.max_draft);
    }

    void start(std::span<const draft_id>) {
        lookup_.start();
        committed_.clear();
        forget();
    }

    void follow(std::span<const target_id> committed) {
        if (asked_ && limits_.length)
            learn(committed);
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
    /// What was found for this round, and how sure each of its tokens is.
    [[nodiscard]] std::span<const target_id> found() const { return encoded_; }
    [[nodiscard]] std::span<const draft_progress> steps() const { return steps_; }

    template <class D, StopRule Stop, Coin C>
    [[nodiscard]] draft_view<law_type> propose(D&, const Stop& stop, C&,
                                               const draft_request& request) {
        forget();
        if (request.max_proposals == 0)
            return draft_view<law_type>::nothing(no_draft::no_room);
        if (!stop.more(draft_progress{}))
            return draft_view<law_type>::nothing(no_draft::stop_rule);
        asked_ = true;
        if (!find(stop))
            return draft_view<law_type>::nothing(no_draft::nothing_found);
        const std::size_t most = limits_.length ? limits_.length->choose(steps_) : steps_.size();
        for (std::size_t i = 0; i < most && i < request.max_proposals; ++i) {
            if (i > 0 && !stop.more(steps_[i - 1]))
                break;
            proposals_.push_back(certain(encoded_[i]));
            if (is_end(request.end_ids, encoded_[i]))
                break;
        }
        if (proposals_.empty())
            return draft_view<law_type>::nothing(no_draft::stop_rule);
        return {proposals_, {}, {}, no_draft::none, proposals_.size()};
    }

private:
    static constexpr std::size_t most_kept = 256; // tokens: more than the encoder looks behind

    void forget() {
        encoded_.clear();
        steps_.clear();
        proposals_.clear();
        asked_ = false;
    }

    /// Looks up the text, encodes it, and follows the chances of its tokens.
    template <StopRule Stop>
    [[nodiscard]] bool find(const Stop& stop) {
        const std::size_t most = found_bytes(limits_.max_draft);
        lookup_.find(most, found_);
        if (found_.bytes.empty())
            return false;
        encoder_.encode(committed_, found_.bytes, encoded_);
        std::string_view text = found_.bytes;
        std::size_t at = 0, tokens = 0;
        draft_progress now;
        for (; tokens < encoded_.size() && tokens < limits_.max_draft; ++tokens) {
            const std::string_view bytes = tokenizer_->bytes(encoded_[tokens]);
            if (bytes.empty() || !text.substr(at).starts_with(bytes))
                break; // normalised: nobody knows how sure it is
            if (at + bytes.size() == most)
                break; // cut
            double sure = 1;
            for (std::size_t k = 0; k < bytes.size(); ++k)
                sure *= static_cast<double>(found_.chances[at + k]);
            at += bytes.size();
            now = extend_progress(now, stop, draft_id{encoded_[tokens].value}, 1.0, sure, 0.0);
            steps_.push_back(now);
        }
        encoded_.resize(tokens);
        return tokens > 0;
    }

    void learn(std::span<const target_id> committed) {
        std::size_t kept = 0;
        while (kept < encoded_.size() && kept < committed.size() &&
               encoded_[kept] == committed[kept])
            ++kept;
        limits_.length->learn(proposals_.size(), committed.size(),
                              {.steps = steps_,
                               .kept = kept,
                               .rejected = kept < encoded_.size() && kept < committed.size()});
    }

    Lookup lookup_;
    const Tokenizer* tokenizer_;
    continuation_encoder<Tokenizer> encoder_;
    lookup_limits limits_;
    std::vector<target_id> committed_; // the last ones
    found_text found_;
    std::vector<target_id> encoded_;    // what was found, as tokens
    std::vector<draft_progress> steps_; // [encoded_]
    std::vector<proposal<law_type>> proposals_;
    bool asked_ = false; // for this round
};

} // namespace specdec
