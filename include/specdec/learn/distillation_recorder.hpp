// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <specdec/bridge/context/retokenised_context.hpp>
#include <specdec/core/basic/builtins.hpp>
#include <specdec/core/concepts.hpp>
#include <specdec/core/error.hpp>
#include <specdec/core/require.hpp>
#include <specdec/learn/aligned_token_starts.hpp>
#include <specdec/learn/distillation_sample.hpp>
#include <specdec/learn/likeliest_entries.hpp>
#include <specdec/process/log_probabilities.hpp>

namespace specdec {

/// How much a text teaches.
struct lesson_settings {
    std::size_t keep = 32;     ///< likeliest entries of a row
    std::size_t tokens = 2048; ///< of the target, prompt included: memory for a text
    std::size_t window = 256;  ///< most draft tokens of a distillation_sample, prefix included
};

/// Follows a text round by round and makes training samples of it (OmniDraft, 3.2: KL where tokens
/// are shared, NLL of the draft tokens that make up one target token).
///
///     lessons.start(prompt, prefix)       as the session
///     lessons.follow(rows, committed)     every committed round, those without drafts, too
///     while (lessons.finish(text))        behind the text, or anywhere in it
///         buffer.add(text)
///
/// A sample has a row wherever a committed target token and a draft token begin at the same byte:
/// the `keep` likeliest entries of the target's row, by softmax at temperature 1, whatever the text
/// is sampled with. It has a merge, with the token's probability by the same law, where a target
/// token's bytes are exactly two or more draft tokens. Of two target tokens that begin at one place
/// (the first a control token without an equivalent) it takes the later one.
///
/// A text longer than the window gives several samples. Each has the prefix and then consecutive
/// tokens, with up to half a window of them before its first row. A merge that does not fit into a
/// window is left out.
///
/// Borrows tokenizers and map. Single owner. Complexity: two reads of a row for each token; finish:
/// linear in the text, and behind it in the window. Memory, at construction: about 8 keep + 60
/// bytes for each of `tokens`; a text of no more tokens then allocates nothing while it is followed
/// (but a row of floats, once, where rows have to be widened), and finish() nothing but what the
/// caller's text lacks.
template <TokenizerOf<target_id> TargetTokenizer, TokenizerOf<draft_id> DraftTokenizer>
class distillation_recorder {
public:
    /// Errors: specdec::error for a map of other vocabularies, for settings that leave nothing.
    distillation_recorder(const TargetTokenizer& target, const DraftTokenizer& draft,
                          const id_map& map, lesson_settings settings = {})
        : target_(target), draft_(draft), map_(map), settings_(settings),
          context_(target, draft, map, settings.tokens) {
        if (settings.keep == 0 || settings.window < 8)
            fail("distillation recorder", "settings",
                 "expected at least 1 entry and a window of 8 tokens");
        record_.reserve(settings.keep, 1);
        tokens_.reserve(settings.tokens);
        laws_.reserve(settings.tokens);
        entries_.reserve(settings.tokens * settings.keep);
        places_.reserve(settings.tokens);
    }

    /// A text begins. Errors: specdec::error for ids of other vocabularies, and a prefix that fills
    /// more than half of the window.
    void start(std::span<const target_id> prompt, std::span<const draft_id> prefix = {}) {
        require_ids(prompt, target_.vocabulary_size(), "distillation recorder", "prompt");
        require_ids(prefix, draft_.vocabulary_size(), "distillation recorder", "prefix");
        if (2 * prefix.size() > settings_.window)
            fail("distillation recorder", "prefix", "expected at most half of the window");
        tokens_.assign(prompt.begin(), prompt.end());
        prompt_ = read_ = prompt.size();
        prefix_ = prefix.size();
        laws_.clear();
        places_.clear();
        next_ = 0;
        context_.start(prefix);
        context_.follow(prompt);
    }

    /// These tokens were committed, committed[i] drawn behind rows[i]: rows of any kind whose
    /// log-probabilities are known. Errors: specdec::error for too few rows, rows and ids of
    /// another vocabulary, and as log_probability_record; nothing is then followed.
    template <RowsOf<target_id> Rows>
    void follow(const Rows& rows, std::span<const target_id> committed) {
        if (rows.size() < committed.size())
            fail("distillation recorder", "rows",
                 "expected one for each of " + std::to_string(committed.size()) +
                     " committed tokens, found " + std::to_string(rows.size()));
        require_size<target_id>(rows.vocabulary(), target_.vocabulary_size(),
                                "distillation recorder", "tokenizer");
        require_ids(committed, target_.vocabulary_size(), "distillation recorder", "tokens");
        laws_.resize(tokens_.size() - prompt_); // should a row have thrown before
        entries_.resize(laws_.empty() ? 0 : laws_.back().end);
        for (std::size_t i = 0; i < committed.size(); ++i) {
            record_.record(one_row<Rows>{rows, i}, {}, committed[i]);
            append_likeliest(record_.all().top, entries_);
            laws_.push_back(
                {entries_.size(), static_cast<float>(builtin::exp(record_.all().of_tokens[0]))});
        }
        tokens_.insert(tokens_.end(), committed.begin(), committed.end());
        context_.follow(committed);
    }

    /// Writes a sample with the next rows that no sample has had. False: there are none.
    bool finish(distillation_sample& out) {
        out.clear();
        read();
        if (next_ == places_.size())
            return false;
        const std::span<const draft_id> ids = context_.ids(), body = ids.subspan(prefix_);
        const std::size_t room = settings_.window - prefix_, row = places_[next_].begin - prefix_;
        const std::size_t last = body.size() > room ? body.size() - room : 0;
        const std::size_t half = row > room / 2 ? row - room / 2 : 0;
        const std::size_t from = half < last ? half : last;
        const auto shown =
            body.subspan(from, body.size() - from < room ? body.size() - from : room);
        out.tokens.assign(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(prefix_));
        out.tokens.insert(out.tokens.end(), shown.begin(), shown.end());
        while (next_ < places_.size() && write(places_[next_], from, out))
            ++next_;
        return true;
    }

private:
    /// Of a committed token.
    struct token_law {
        std::size_t end = 0;   ///< of its entries, which begin where the last token's end
        float probability = 0; ///< p(t)
    };
    /// A committed token that begins where a draft token does.
    struct place {
        std::size_t token = 0; ///< of the committed ones
        std::size_t begin = 0; ///< of the context
        std::size_t count = 0; ///< draft tokens that are its bytes; 0: no whole ones
    };

    /// Finds the places again if there are tokens that were not read, as these may change how those
    /// before them are encoded.
    void read() {
        if (read_ == tokens_.size())
            return;
        const std::size_t taught = next_ == 0 ? 0 : places_[next_ - 1].token + 1;
        places_.clear();
        each_common_beginning(target_, tokens_, draft_, context_.ids(), map_, prefix_,
                              [&](std::size_t i, std::size_t j) {
                                  if (!places_.empty() && prompt_ + places_.back().token + 1 == i)
                                      places_.back().count = j - places_.back().begin;
                                  if (i < prompt_ || i == tokens_.size() || j == 0)
                                      return;
                                  if (!places_.empty() && places_.back().begin == j)
                                      places_.pop_back();
                                  places_.push_back({i - prompt_, j, 0});
                              });
        read_ = tokens_.size();
        next_ = 0;
        while (next_ < places_.size() && places_[next_].token < taught)
            ++next_;
    }

    /// A row of a window that begins `from` tokens behind the prefix, and its merge. False: it does
    /// not fit.
    bool write(const place& x, std::size_t from, distillation_sample& out) const {
        const std::size_t begin = x.begin - from, size = out.tokens.size();
        const bool merged = x.count > 1, whole = begin + x.count <= size;
        if (begin > size || (merged && !whole && !out.rows.empty()))
            return false;
        const std::size_t first = x.token == 0 ? 0 : laws_[x.token - 1].end;
        const auto entries = std::span(entries_).subspan(first, laws_[x.token].end - first);
        out.rows.push_back({begin - 1, out.entries.size(), entries.size()});
        out.entries.insert(out.entries.end(), entries.begin(), entries.end());
        if (merged && whole)
            out.merges.push_back(
                {begin, x.count, laws_[x.token].probability, tokens_[prompt_ + x.token]});
        return true;
    }

    const TargetTokenizer& target_;
    const DraftTokenizer& draft_;
    const id_map& map_;
    lesson_settings settings_;
    retokenised_context<TargetTokenizer, DraftTokenizer> context_;
    log_probability_record record_;
    std::vector<target_id> tokens_; // the prompt, and what was committed
    std::size_t prompt_ = 0, prefix_ = 0;
    std::vector<token_law> laws_;                 // [committed]
    std::vector<weighted_id<target_id>> entries_; // of them
    std::vector<place> places_;                   // ascending
    std::size_t read_ = 0;                        // tokens whose places are known
    std::size_t next_ = 0;                        // the first place that is not taught
};

} // namespace specdec
