// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <specdec/core/basic/builtins.hpp>
#include <specdec/core/basic/heap.hpp>
#include <specdec/core/concepts.hpp>
#include <specdec/core/law_version.hpp>
#include <specdec/vocab/table/byte_order.hpp>
#include <specdec/vocab/table/checked.hpp>
#include <specdec/vocab/table/token_bytes.hpp>
#include <specdec/vocab/table/token_strings.hpp>

namespace specdec {

/// f = merge by cache, as a Translation: scanning a draft from the left, the
/// longest n-gram of the cache becomes the target token that it spells; a token that begins none
/// becomes its equal in T.
///
/// Paper: OmniDraft, section 3.1 and Alg. 1, line 8 (the scan). Ours: the scan is incremental, so
/// that its law is defined while a draft is open. A token is settled when no longer n-gram of the
/// cache can begin where it does. Drawn are draft tokens that T has, those that begin an n-gram,
/// and those that go on with one; a draft ends at a token that is none of T and merged with
/// nothing. An n-gram that does not spell its target token is ignored. The cache learns from every
/// committed token without a direct match how the drafter's tokenizer spells it (the paper's C,
/// section 3.1; there behind its context) and counts an accepted merge as a hit. The mark is the
/// cache's: a round is refused where another sequence has taught it since the draft (let all decide
/// before one commits, as batch does). Borrows everything. Allocates as the cache grows.
template <class Cache, TokenizerOf<target_id> TargetTokenizer, TokenizerOf<draft_id> DraftTokenizer>
class merging {
    using node = typename Cache::node;

public:
    struct state_type {
        std::vector<target_id> tokens;  ///< settled
        std::vector<std::size_t> parts; ///< [tokens] draft tokens that each is made of
        std::vector<draft_id> pending;  ///< draft tokens that may still become part of an n-gram
        std::string text;               ///< bytes of the draft
        bool ended = false;             ///< nothing may follow
    };

    merging(Cache& cache, const TargetTokenizer& target, const DraftTokenizer& draft,
            const id_map& map, const byte_order<draft_id>& order)
        : cache_(&cache), target_(&target), draft_(&draft), map_(&map), order_(&order) {
        require_map(map, target, draft, "merging");
        require_size<draft_id>(order.size(), map.draft_size(), "merging", "order");
        for (std::size_t i = 0; i < map.draft_size(); ++i)
            if (const auto d = id_at<draft_id>(i); map.to_target(d).valid() && !direct(d).valid())
                other_bytes_.push_back(d);
    }

    void start() {}
    /// The first `accepted` of the committed tokens were proposed by the last draft.
    void follow(std::span<const target_id> committed, std::size_t accepted) {
        cache_->count_tokens(committed.size());
        for (std::size_t i = 0; i < committed.size(); ++i) {
            const std::string_view bytes = target_->bytes(committed[i]);
            if (bytes.empty() || map_->to_draft(committed[i]).valid())
                continue;
            spelling_.clear();
            encode(*draft_, bytes, encode_mode::continuation, spelling_);
            if (!bytes_equal(*draft_, spelling_, bytes))
                continue;
            if (i >= accepted || !cache_->use(spelling_))
                cache_->insert(spelling_, committed[i]);
        }
    }
    [[nodiscard]] law_version version() const { return cache_->changes(); }
    [[nodiscard]] std::size_t target_size() const { return target_->vocabulary_size(); }
    [[nodiscard]] const byte_order<draft_id>& order() const { return *order_; }

    [[nodiscard]] std::string_view bytes(draft_id d) const { return draft_->bytes(d); }
    [[nodiscard]] std::string_view bytes(target_id t) const { return target_->bytes(t); }

    void prepare(const state_type& s, std::span<const float> row, std::span<float> out) const {
        map_->restrict_to_shared(row, out);
        for (const draft_id d : other_bytes_)
            if (d.index() < out.size())
                out[d.index()] = -builtin::infinity;
        const auto allow = [&](draft_id d, node) {
            if (d.index() < out.size())
                out[d.index()] = row[d.index()];
        };
        cache_->for_each_child(Cache::root(), allow);
        if (!s.pending.empty())
            cache_->for_each_child(walk(s.pending), allow);
    }

    bool step(state_type& s, draft_id d) const {
        s.text += draft_->bytes(d);
        s.pending.push_back(d);
        scan(s, [](node) { return true; });
        return !s.ended;
    }

    void finish(state_type& s) const {
        scan(s, [](node) { return false; });
        s.ended = true;
    }

    [[nodiscard]] bool may_become(const state_type& s, std::span<const target_id> wanted) const {
        return begins_with(wanted, s.tokens);
    }

    void spell(std::string_view text, std::vector<draft_id>& out) const {
        encode(*draft_, text, encode_mode::continuation, out);
    }

    /// The draft's text is a part of the wanted one. Merging joins whole draft tokens, so none of
    /// them reaches across the end of the wanted text.
    template <class Sink>
    void within(const state_type& s, const wanted_tokens& wanted, const Sink& sink) const {
        const std::string_view rest = wanted.text.substr(s.text.size());
        for (std::size_t n = 1; n <= rest.size() && n <= order_->longest(); ++n)
            sink.open(order_->exactly(rest.substr(0, n)));
        if (has_silent(wanted.tokens))
            sink.open(order_->silent());
    }

    /// The wanted text is a part of the draft's: settled by any draft token but those that an
    /// n-gram goes on with.
    template <class Sink>
    void behind(const state_type& s, const wanted_tokens& wanted, const Sink& sink) const {
        growing_.clear();
        closed_ = s;
        scan(closed_, [&](node at) {
            cache_->for_each_child(at, [&](draft_id d, node) {
                growing_.push_back(order_->place(d, draft_->bytes(d)));
            });
            return false;
        });
        heap_sort(growing_, [](std::size_t a, std::size_t b) { return a < b; });
        const bool closes = begins_with(closed_.tokens, wanted.tokens);
        const bool silent = !closes && has_silent(wanted.tokens);
        if (silent)
            sink.open(order_->silent());
        std::size_t first = silent ? order_->silent().last : 0;
        for (const std::size_t place : growing_) {
            if (place < first)
                continue; // reported
            if (closes)
                sink.in({first, place});
            sink.open({place, place + 1});
            first = place + 1;
        }
        if (closes)
            sink.in({first, order_->size()});
    }

private:
    /// The node that the draft tokens lead to; none where no n-gram begins with them.
    [[nodiscard]] node walk(std::span<const draft_id> ids) const {
        node at = Cache::root();
        for (std::size_t i = 0; i < ids.size() && at != node::none; ++i)
            at = cache_->step(at, ids[i]);
        return at;
    }

    /// Settles what can be settled: everything at the end of a draft. waits(node): called where an
    /// n-gram may grow from the node; true: wait for it.
    template <class Waits>
    void scan(state_type& s, const Waits& waits) const {
        std::size_t done = 0;
        while (!s.ended && done < s.pending.size()) {
            const std::span<const draft_id> rest =
                std::span<const draft_id>(s.pending).subspan(done);
            node at = Cache::root();
            std::size_t merged = 0;
            target_id longest;
            for (std::size_t read = 0; read < rest.size(); ++read) {
                at = cache_->step(at, rest[read]);
                if (at == node::none)
                    break;
                const target_id t = cache_->target(at);
                if (t.valid() && t.index() < target_size() &&
                    spells(*draft_, rest.first(read + 1), target_->bytes(t))) {
                    longest = t;
                    merged = read + 1;
                }
            }
            if (at != node::none && has_child(at) && waits(at))
                break;
            if (merged == 0) {
                longest = direct(rest[0]);
                merged = 1;
            }
            if (longest.valid()) {
                s.tokens.push_back(longest);
                s.parts.push_back(merged);
            } else {
                s.ended = true;
            }
            done += merged;
        }
        s.pending.erase(s.pending.begin(), s.pending.begin() + static_cast<std::ptrdiff_t>(done));
    }

    [[nodiscard]] bool has_silent(std::span<const target_id> wanted) const {
        for (const target_id t : wanted)
            if (target_->bytes(t).empty())
                return true;
        return false;
    }

    /// The target token that is the draft token, byte for byte: what is proposed spells the draft.
    [[nodiscard]] target_id direct(draft_id d) const {
        const target_id t = map_->to_target(d);
        return t.valid() && target_->bytes(t) == draft_->bytes(d) ? t : target_id{};
    }

    [[nodiscard]] bool has_child(node at) const {
        bool any = false;
        cache_->for_each_child(at, [&](draft_id, node) { any = true; });
        return any;
    }

    Cache* cache_;
    const TargetTokenizer* target_;
    const DraftTokenizer* draft_;
    const id_map* map_;
    const byte_order<draft_id>* order_;
    std::vector<draft_id> other_bytes_; // equals by decree only: drawn for n-grams
    std::vector<draft_id> spelling_;    // scratch from here on
    mutable std::vector<std::size_t> growing_;
    mutable state_type closed_;
};

} // namespace specdec
