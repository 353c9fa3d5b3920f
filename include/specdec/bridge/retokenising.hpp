// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <specdec/bridge/draft_tree.hpp> // begins_with
#include <specdec/core/concepts.hpp>
#include <specdec/vocab/byte_order.hpp>
#include <specdec/vocab/continuation.hpp>
#include <specdec/vocab/id_map.hpp>
#include <specdec/vocab/seams.hpp>
#include <specdec/vocab/token_bytes.hpp>

namespace specdec {

/// f = retokenise, as a Translation (draft_tree.hpp): the draft's text in the target's vocabulary.
///
///     text := bytes of the draft, cut at the target's seams (bytes that no token holds together)
///     whenever a seam is passed: settle T(segment before it);  at the end: T(last segment)
///
/// T is called, never understood; the first segment goes on from the committed text by look-behind
/// (vocab/continuation.hpp). Where T rewrites a segment (NFC, clean-up), what is proposed ends before
/// it, so proposals always spell the draft. A control token ends the draft; its equivalent in T, if
/// it has one, comes last. Any such choice is lossless, because the law of f is computed, not
/// assumed. Borrows tokenizers and tables.
template <TokenizerOf<target_id> TargetTokenizer, TokenizerOf<draft_id> DraftTokenizer>
class retokenising {
public:
    struct state_type {
        std::vector<target_id> tokens; ///< settled
        std::string text;              ///< bytes of the draft
        std::size_t segment = 0;       ///< where the open segment begins
        bool ended = false;            ///< nothing may follow
    };

    retokenising(const TargetTokenizer& target, const DraftTokenizer& draft, const id_map& map,
                 const byte_order<draft_id>& order, const seams& edges)
        : target_(&target), draft_(&draft), map_(&map), order_(&order), seams_(&edges),
          encoder_(target) {}

    void start() { committed_.clear(); }
    void follow(std::span<const target_id> committed, std::size_t) {
        committed_.insert(committed_.end(), committed.begin(), committed.end());
    }
    [[nodiscard]] std::size_t target_size() const { return target_->vocabulary_size(); }

    [[nodiscard]] const byte_order<draft_id>& order() const { return *order_; }

    [[nodiscard]] std::string_view bytes(draft_id d) const { return draft_->bytes(d); }

    void begin(state_type& s) const {
        s.tokens.clear();
        s.text.clear();
        s.segment = 0;
        s.ended = false;
    }

    void prepare(const state_type&, std::span<const float> row, std::span<float> out) const {
        for (std::size_t d = 0; d < out.size(); ++d)
            out[d] = row[d];
    }

    bool step(state_type& s, draft_id d) const {
        const std::string_view bytes = draft_->bytes(d);
        if (!bytes.empty()) {
            append(s, bytes);
            return !s.ended;
        }
        close(s);
        if (const target_id t = map_->to_target(d); t.valid() && !s.ended)
            s.tokens.push_back(t);
        s.ended = true;
        return false;
    }

    void finish(state_type& s) const {
        if (!s.ended)
            close(s);
        s.ended = true;
    }

    template <class Sink>
    void children(const state_type& s, std::span<const target_id> wanted, const Sink& sink) const {
        wanted_text_.clear();
        for (const target_id t : wanted)
            wanted_text_ += target_->bytes(t);
        if (s.text.size() < wanted_text_.size()) {
            if (wanted_text_.starts_with(s.text))
                within(s, wanted, sink);
        } else if (std::string_view(s.text).starts_with(wanted_text_)) {
            behind(s, wanted, sink);
        }
    }

private:
    void append(state_type& s, std::string_view bytes) const {
        for (const char byte : bytes) {
            if (!s.text.empty() && seams_->between(s.text.back(), byte)) {
                close(s);
                if (s.ended)
                    return;
            }
            s.text += byte;
        }
    }

    /// Settles the open segment; ends the draft where the tokenizer does not give it back.
    void close(state_type& s) const {
        if (s.ended || s.segment == s.text.size())
            return;
        const std::string_view segment = std::string_view(s.text).substr(s.segment);
        fresh_.clear();
        if (s.segment == 0)
            encoder_.encode(committed_, segment, fresh_);
        else
            target_->encode(segment, text_position::continuation, fresh_);
        if (bytes_equal(*target_, fresh_, segment))
            s.tokens.insert(s.tokens.end(), fresh_.begin(), fresh_.end());
        else
            s.ended = true;
        s.segment = s.text.size();
    }

    /// The draft's text is a part of the wanted one.
    template <class Sink>
    void within(const state_type& s, std::span<const target_id> wanted, const Sink& sink) const {
        const std::string_view rest = std::string_view(wanted_text_).substr(s.text.size());
        for (std::size_t n = 1; n <= rest.size() && n <= order_->longest(); ++n)
            sink.open(order_->exactly(rest.substr(0, n)));
        const order_range longer = order_->extending(rest);
        if (longer.empty())
            return;
        closed_ = s;
        append(closed_, rest);
        close(closed_);
        const bool closes = begins_with(closed_.tokens, wanted);
        order_->by_byte(longer, rest.size(), [&](char byte, order_range range) {
            if (!seams_->between(rest.back(), byte))
                sink.open(range);
            else if (closes)
                sink.in(range);
        });
    }

    /// The wanted text is a part of the draft's.
    template <class Sink>
    void behind(const state_type& s, std::span<const target_id> wanted, const Sink& sink) const {
        closed_ = s;
        close(closed_);
        const bool closes = begins_with(closed_.tokens, wanted);
        const order_range silent = order_->silent();
        if (closes)
            sink.in(silent);
        else
            sink.open(silent);
        order_->by_byte({silent.last, order_->size()}, 0, [&](char byte, order_range range) {
            if (s.text.empty() || !seams_->between(s.text.back(), byte))
                sink.open(range);
            else if (closes)
                sink.in(range);
        });
    }

    const TargetTokenizer* target_;
    const DraftTokenizer* draft_;
    const id_map* map_;
    const byte_order<draft_id>* order_;
    const seams* seams_;
    std::vector<target_id> committed_;
    mutable continuation_encoder<TargetTokenizer> encoder_; // scratch from here on
    mutable std::vector<target_id> fresh_;
    mutable std::string wanted_text_;
    mutable state_type closed_;
};

} // namespace specdec
