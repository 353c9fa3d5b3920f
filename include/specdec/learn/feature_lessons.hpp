// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <specdec/core/basic/on_throw.hpp>
#include <specdec/core/error.hpp>
#include <specdec/core/require.hpp>
#include <specdec/core/rows.hpp>
#include <specdec/decode/round_result.hpp>
#include <specdec/head/features/feature_records.hpp>
#include <specdec/learn/feature_sample.hpp>
#include <specdec/learn/likeliest_entries.hpp>
#include <specdec/process/log_probabilities.hpp>

namespace specdec {

/// How much a text teaches a drafter that reads features.
struct feature_lesson_settings {
    std::size_t keep = 32;           ///< likeliest entries of a row
    std::size_t tokens = 2048;       ///< of a text, prompt included: memory
    std::size_t window = 256;        ///< most tokens of a sample
    std::size_t behind_rejected = 0; ///< rows of a round that are taught behind a rejected token
};

/// Follows a text round by round and makes samples of it for a drafter that reads features:
///
///     lessons.start(prompt)
///     lessons.follow(rows, proposed, committed)    every round that committed something, or
///     lessons.follow(round)                        the same where rounds come by a callback
///     while (lessons.finish(sample))               behind the text, or anywhere in it
///         buffer.add(sample)
///
/// What is taught: the target's law of every committed token, behind the draft that the round made:
/// where a token was rejected, the law that rejected it; and behind the rejected token, where that
/// is asked for. The features are those behind the text's tokens, found in the records by these
/// tokens. A committed token's feature is there from the next round on; the last one has none.
///
/// Target and drafter share their ids. A text longer than the window gives several samples, with up
/// to half a window before their first round. Borrows the records. Single owner. Complexity: two
/// reads of a row for each row that is taught, a copy of each feature. Memory, at construction:
/// `tokens` features and lists.
class feature_lessons {
public:
    /// Errors: specdec::error for settings that leave nothing.
    explicit feature_lessons(const feature_records& records, feature_lesson_settings settings = {})
        : records_(records), settings_(settings) {
        if (settings.keep == 0 || settings.window < 8)
            fail("feature lessons", "settings",
                 "expected at least 1 entry and a window of 8 tokens");
        record_.reserve(settings.keep, 1);
        all_.tokens.reserve(settings.tokens);
        all_.values.reserve(settings.tokens * records.width());
        all_.width = records.width();
    }

    void start(std::span<const target_id> prompt) {
        all_.clear();
        next_ = 0;
        add(prompt, all_.tokens);
    }

    /// A round that committed these tokens. rows: as given to the round's decision, one for each
    /// proposal and one more. Call it while the target holds what the round fed it, before or
    /// behind its commit. Errors: specdec::error for too few rows, records without the text, and as
    /// log_probability_record; nothing is then followed.
    template <RowsOf<target_id> Rows>
    void follow(const Rows& rows, std::span<const target_id> proposed,
                std::span<const target_id> committed) {
        if (committed.empty())
            return;
        if (rows.size() < proposed.size() + 1 || proposed.size() + 1 < committed.size())
            fail("feature lessons", "rows",
                 "expected one for each of " + std::to_string(proposed.size()) +
                     " proposals and one more, and at most as many committed tokens");
        const std::size_t more = common_prefix(proposed, committed) + settings_.behind_rejected;
        const std::size_t drafted = more < proposed.size() ? more : proposed.size();
        add_round(proposed.first(drafted), committed, [&] {
            for (std::size_t j = 0; j <= drafted; ++j) {
                record_.record(one_row<Rows>{rows, j}, {}, target_id{0});
                note(record_.all().likeliest(0));
            }
        });
    }

    /// The same as callbacks get rounds (decode_settings::log_probabilities: as many as shall be
    /// kept): of the tokens that were kept and the target's own. Errors: specdec::error where the
    /// settings did not ask for log-probabilities, and as above.
    void follow(const round_result& round) {
        if (round.log_probabilities.k == 0)
            fail("feature lessons", "log-probabilities",
                 "expected the likeliest of every token: decode_settings::log_probabilities");
        add_round(round.proposed.first(round.accepted), round.tokens, [&] {
            for (std::size_t j = 0; j < round.tokens.size(); ++j)
                note(round.log_probabilities.likeliest(j));
        });
    }

    /// Writes a sample with the next rounds that no sample has had. False: there are none.
    bool finish(feature_sample& out) {
        out.clear();
        out.width = all_.width;
        if (next_ == all_.rounds.size())
            return false;
        const std::size_t begin = all_.rounds[next_].begin, half = settings_.window / 2;
        const std::size_t last =
            all_.tokens.size() > settings_.window ? all_.tokens.size() - settings_.window : 0;
        const std::size_t back = begin > half ? begin - half : 0;
        const std::size_t from = back < last ? back : last;
        const std::size_t left = all_.tokens.size() - from;
        const std::size_t size = left < settings_.window ? left : settings_.window;
        const std::size_t known = all_.values.size() / all_.width - from;
        copy(all_.tokens, from, size, out.tokens);
        copy(all_.values, from * all_.width, (known < size ? known : size) * all_.width,
             out.values);
        // The first round of a sample always fits: half a window of tokens is behind its begin.
        do
            write(all_.rounds[next_++], from, out);
        while (next_ < all_.rounds.size() && all_.rounds[next_].begin - from <= size);
        return true;
    }

private:
    static void add(std::span<const target_id> ids, std::vector<draft_id>& to) {
        for (const target_id t : ids)
            to.push_back(draft_id{t.value});
    }
    template <class T>
    static void copy(const std::vector<T>& from, std::size_t first, std::size_t n,
                     std::vector<T>& to) {
        const auto begin = from.begin() + static_cast<std::ptrdiff_t>(first);
        to.insert(to.end(), begin, begin + static_cast<std::ptrdiff_t>(n));
    }

    /// note_rows notes the round's rows. What throws leaves nothing of the round.
    template <class NoteRows>
    void add_round(std::span<const target_id> proposed, std::span<const target_id> committed,
                   const NoteRows& note_rows) {
        on_throw guard([this, tokens = all_.tokens.size(), values = all_.values.size(),
                        drafted = all_.drafted.size(), rounds = all_.rounds.size(),
                        rows = all_.rows.size(), entries = all_.entries.size()] {
            all_.tokens.resize(tokens);
            all_.values.resize(values);
            all_.drafted.resize(drafted);
            all_.rounds.resize(rounds);
            all_.rows.resize(rows);
            all_.entries.resize(entries);
        });
        begin_draft_round(proposed, committed);
        note_rows();
        end_round(committed);
        guard.done();
    }
    void begin_draft_round(std::span<const target_id> proposed,
                           std::span<const target_id> committed) {
        const std::size_t before = all_.tokens.size();
        add(committed, all_.tokens); // to be found in the records
        const std::size_t known = all_.tokens.size() - 1, had = all_.values.size() / all_.width;
        const feature_record* const record = records_.find(std::span(all_.tokens).first(known));
        all_.tokens.resize(before);
        if (record == nullptr)
            fail("feature lessons", "features",
                 "expected records of the sequence's first " + std::to_string(known) +
                     " tokens: the target keeps them until it is fed another round");
        for (std::size_t i = had; i < known; ++i) {
            const std::span<const float> f = record->features(i, 1)[0].values;
            all_.values.insert(all_.values.end(), f.begin(), f.end());
        }
        all_.rounds.push_back({before, all_.drafted.size(), all_.rows.size(), 0});
        add(proposed, all_.drafted);
    }
    void note(std::span<const token_log_probability> top) {
        const std::size_t first = all_.entries.size();
        append_likeliest(top, all_.entries);
        all_.rows.push_back({first, all_.entries.size() - first});
        ++all_.rounds.back().rows;
    }
    /// A round is there once its tokens are. The text's first token has no place, so a round behind
    /// it alone teaches nothing.
    void end_round(std::span<const target_id> committed) {
        add(committed, all_.tokens);
        if (all_.rounds.back().begin < 2)
            all_.rounds.pop_back();
    }

    void write(const feature_sample::round& r, std::size_t from, feature_sample& out) const {
        out.rounds.push_back({r.begin - from, out.drafted.size(), out.rows.size(), r.rows});
        copy(all_.drafted, r.first_draft, r.rows - 1, out.drafted);
        for (std::size_t j = 0; j < r.rows; ++j) {
            const feature_sample::row& row = all_.rows[r.first_row + j];
            out.rows.push_back({out.entries.size(), row.count});
            copy(all_.entries, row.first, row.count, out.entries);
        }
    }

    const feature_records& records_;
    feature_lesson_settings settings_;
    log_probability_record record_;
    feature_sample all_;   // the text, as far as it has come
    std::size_t next_ = 0; // the first round that no sample has had
};

} // namespace specdec
