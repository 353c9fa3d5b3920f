// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include <specdec/core/concepts.hpp>
#include <specdec/core/law_version.hpp>
#include <specdec/vocab/encoding/safe_cuts.hpp>
#include <specdec/vocab/encoding/segment_encoder.hpp>
#include <specdec/vocab/table/byte_order.hpp>
#include <specdec/vocab/table/checked.hpp>
#include <specdec/vocab/table/id_map.hpp>
#include <specdec/vocab/table/token_strings.hpp>

namespace specdec {

/// f = retokenise, as a Translation: the draft's text in the target's vocabulary, encoded as
/// segment_encoder does after every draft token. A control token ends the draft; its equivalent in
/// T, if any, comes last. Lossless whatever the tokenizer does, because the law of f is computed,
/// not assumed. Borrows tokenizers and tables.
template <TokenizerOf<target_id> TargetTokenizer, TokenizerOf<draft_id> DraftTokenizer>
class retokenising {
public:
    using state_type = encoded_draft;

    retokenising(const TargetTokenizer& target, const DraftTokenizer& draft, const id_map& map,
                 const byte_order<draft_id>& order, const safe_cuts& edges)
        : target_(&target), draft_(&draft), map_(&map), order_(&order), cuts_(&edges),
          encoder_(target, edges) {
        require_map(map, target, draft, "retokenising");
        require_size<draft_id>(order.size(), map.draft_size(), "retokenising", "order");
    }

    void start() { encoder_.start(); }
    void follow(std::span<const target_id> committed, std::size_t) { encoder_.follow(committed); }
    [[nodiscard]] law_version version() const { return 0; }
    [[nodiscard]] std::size_t target_size() const { return target_->vocabulary_size(); }
    [[nodiscard]] const byte_order<draft_id>& order() const { return *order_; }
    [[nodiscard]] std::string_view bytes(draft_id d) const { return draft_->bytes(d); }
    [[nodiscard]] std::string_view bytes(target_id t) const { return target_->bytes(t); }

    void prepare(const state_type&, std::span<const float> row, std::span<float> out) const {
        for (std::size_t d = 0; d < out.size(); ++d)
            out[d] = row[d];
    }

    bool step(state_type& s, draft_id d) const {
        const std::string_view bytes = draft_->bytes(d);
        if (!bytes.empty()) {
            encoder_.append(s, bytes);
            encoder_.look(s);
            return !s.ended;
        }
        encoder_.cut(s);
        const target_id t = map_->to_target(d);
        if (t.valid() && target_->bytes(t).empty() && !s.ended)
            s.tokens.push_back(t);
        s.ended = true;
        return false;
    }

    void finish(state_type& s) const {
        encoder_.cut(s);
        s.ended = true;
    }

    /// A preview can only grow, its first token first.
    [[nodiscard]] bool may_become(const state_type& s, std::span<const target_id> wanted) const {
        if (!begins_with(wanted, s.tokens))
            return begins_with(s.tokens, wanted);
        const std::span<const target_id> left = wanted.subspan(s.tokens.size());
        for (std::size_t i = 0; i < s.preview.size() && i < left.size(); ++i)
            if (s.preview[i] != left[i])
                return target_->bytes(s.preview[i]).size() < target_->bytes(left[i]).size();
        return true;
    }

    void spell(std::string_view text, std::vector<draft_id>& out) const {
        encode(*draft_, text, encode_mode::continuation, out);
    }

    /// The draft's text is a part of the wanted one.
    template <class Sink>
    void within(const state_type& s, const wanted_tokens& wanted, const Sink& sink) const {
        const std::string_view rest = wanted.text.substr(s.text.size());
        for (std::size_t n = 1; n <= rest.size() && n <= order_->longest(); ++n)
            sink.open(order_->exactly(rest.substr(0, n)));
        const order_range longer = order_->extending(rest);
        if (longer.empty())
            return;
        closed_ = s;
        encoder_.append(closed_, rest);
        encoder_.cut(closed_);
        const bool closes = begins_with(closed_.tokens, wanted.tokens);
        order_->by_byte(longer, rest.size(), [&](char byte, order_range range) {
            if (!cuts_->between(rest.back(), byte))
                sink.open(range);
            else if (closes)
                sink.in(range);
        });
    }

    /// The wanted text is a part of the draft's.
    template <class Sink>
    void behind(const state_type& s, const wanted_tokens& wanted, const Sink& sink) const {
        closed_ = s;
        encoder_.cut(closed_);
        const bool closes = begins_with(closed_.tokens, wanted.tokens);
        const order_range silent = order_->silent();
        if (closes)
            sink.in(silent);
        else
            sink.open(silent);
        if (!closes && target_->bytes(wanted.tokens.back()).empty())
            return; // only a control token leads to one
        order_->by_byte({silent.last, order_->size()}, 0, [&](char byte, order_range range) {
            if (s.preview.empty() || encoder_.joined(s, byte))
                sink.open(range);
            else if (closes)
                sink.in(range);
        });
    }

private:
    const TargetTokenizer* target_;
    const DraftTokenizer* draft_;
    const id_map* map_;
    const byte_order<draft_id>* order_;
    const safe_cuts* cuts_;
    mutable segment_encoder<TargetTokenizer> encoder_; // scratch from here on
    mutable state_type closed_;
};

} // namespace specdec
