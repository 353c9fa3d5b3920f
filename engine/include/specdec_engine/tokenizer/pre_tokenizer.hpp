// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm> // std::remove_if
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <specdec/core/error.hpp>
#include <specdec_engine/tokenizer/regex.hpp>
#include <specdec_engine/tokenizer/utf8.hpp>

namespace specdec::engine {

/// What becomes of the matches of a splitting pattern ("delimiters" in tokenizer.json).
enum class split_behavior {
    isolated,             ///< each a piece of its own
    removed,              ///< dropped
    merged_with_previous, ///< the end of the piece before
    merged_with_next,     ///< the beginning of the piece behind
    contiguous,           ///< runs of them a piece
};

/// When a step puts its prefix before a piece that does not begin with it.
enum class prefix_rule {
    never,
    first, ///< only at the very beginning of a text
    every,
};

/// One step: pieces in, pieces out. First `replace` (if any) takes the place of every space, then
/// `prefix` is put in front by its rule, then `pattern` (if any) splits.
struct pre_token_step {
    std::string replace{};
    std::string prefix{};
    prefix_rule rule = prefix_rule::never;
    std::optional<regex> pattern{};
    split_behavior behavior = split_behavior::isolated;
    bool invert = false; ///< the delimiters are what does not match
};

/// A text cut into pieces; the pieces lie in `text`, in order.
struct pre_tokens {
    using range = std::pair<std::size_t, std::size_t>; // begin, end
    std::string text;
    std::vector<range> pieces;

    [[nodiscard]] std::string_view operator[](std::size_t i) const {
        return std::string_view(text).substr(pieces[i].first, pieces[i].second - pieces[i].first);
    }
};

/// Cuts a text into the pieces that merges do not cross. Bytes that are not valid UTF-8 never get
/// lost: runs of them are pieces of their own, which no pattern sees.
/// Complexity: linear in the text for the usual patterns, and bounded for all of them (regex.hpp).
class pre_tokenizer {
public:
    void add(pre_token_step step) { steps_.push_back(std::move(step)); }
    [[nodiscard]] bool empty() const { return steps_.empty(); }

    /// Cuts out.text. `prefixes`: the text stands where prefixes are put; `first`: and no token
    /// stands before it.
    void apply(pre_tokens& out, bool prefixes, bool first, regex::matcher& matcher) const {
        out.pieces.clear();
        if (out.text.empty())
            return;
        const auto piece = [&out](std::size_t begin, std::size_t end) {
            out.pieces.emplace_back(begin, end);
        };
        if (steps_.empty())
            return piece(0, out.text.size());
        for_each_utf8_span(out.text, piece, piece);
        pre_tokens next;
        for (const pre_token_step& step : steps_) {
            if (!step.replace.empty() || (prefixes && step.rule != prefix_rule::never)) {
                rewrite(step, out, prefixes, first, next);
                std::swap(out, next);
            }
            if (!step.pattern)
                continue;
            next.pieces.clear();
            for (const auto& [begin, end] : out.pieces) {
                const std::string_view text(out.text.data(), end); // of the next nothing is taken
                if (decode_utf8(text, begin).bytes == 0)           // an invalid run
                    next.pieces.emplace_back(begin, end);
                else
                    split(step, out.text, begin, end, matcher, next.pieces);
            }
            std::swap(out.pieces, next.pieces);
        }
    }

private:
    static void rewrite(const pre_token_step& step, const pre_tokens& in, bool prefixes, bool first,
                        pre_tokens& out) {
        out.text.clear();
        out.pieces.clear();
        for (std::size_t i = 0; i < in.pieces.size(); ++i) {
            const std::string_view piece = in[i];
            const std::size_t begin = out.text.size();
            for (const char c : piece) {
                if (c == ' ' && !step.replace.empty())
                    out.text += step.replace;
                else
                    out.text.push_back(c);
            }
            const bool wanted = step.rule == prefix_rule::every ||
                                (step.rule == prefix_rule::first && first && i == 0);
            if (prefixes && wanted &&
                !std::string_view(out.text).substr(begin).starts_with(step.prefix)) {
                out.text.insert(begin, step.prefix);
                if (decode_utf8(piece, 0).bytes == 0) { // an invalid run stays one
                    out.pieces.emplace_back(begin, begin + step.prefix.size());
                    out.pieces.emplace_back(begin + step.prefix.size(), out.text.size());
                    continue;
                }
            }
            out.pieces.emplace_back(begin, out.text.size());
        }
    }

    static void split(const pre_token_step& step, const std::string& text, std::size_t begin,
                      std::size_t end, regex::matcher& matcher,
                      std::vector<pre_tokens::range>& out) {
        const std::string_view piece = std::string_view(text).substr(begin, end - begin);
        const std::size_t first = out.size();
        bool open = false;          // the piece behind may still join the last one
        bool was_delimiter = false; // the last one is of delimiters
        const auto put = [&](std::size_t from, std::size_t to, bool matched) {
            const bool delimiter = matched != step.invert;
            const pre_tokens::range r{begin + from, begin + to};
            bool join = false;
            switch (step.behavior) {
            case split_behavior::isolated:
                break;
            case split_behavior::removed:
                if (delimiter)
                    return;
                break;
            case split_behavior::merged_with_previous:
                join = delimiter && !was_delimiter;
                break;
            case split_behavior::merged_with_next:
                join = !delimiter && open;
                break;
            case split_behavior::contiguous:
                join = delimiter == was_delimiter;
                break;
            }
            if (join && out.size() > first)
                out.back().second = r.second;
            else
                out.push_back(r);
            was_delimiter = delimiter;
            open = delimiter;
        };
        std::size_t done = 0, at = 0, from = 0, to = 0;
        while (at <= piece.size() && step.pattern->find(piece, at, matcher, from, to)) {
            at = to;
            if (to == from) { // an empty match cuts, unless a match has just ended there
                at = to < piece.size() ? to + decode_utf8(piece, to).bytes : to + 1;
                if (to == done && to > 0)
                    continue;
            }
            if (from > done)
                put(done, from, false);
            put(from, to, true);
            done = to;
        }
        if (done < piece.size())
            put(done, piece.size(), false);
        const auto is_empty = [](const pre_tokens::range& r) { return r.first == r.second; };
        const auto begin_of_new = out.begin() + static_cast<std::ptrdiff_t>(first);
        out.erase(std::remove_if(begin_of_new, out.end(), is_empty), out.end());
    }

    std::vector<pre_token_step> steps_;
};

} // namespace specdec::engine
