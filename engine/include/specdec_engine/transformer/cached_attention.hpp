// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm> // std::max, std::min
#include <cstddef>
#include <span>
#include <vector>

#include <specdec_engine/attention/attention.hpp>
#include <specdec_engine/attention/kv_cache.hpp>
#include <specdec_engine/attention/q8_cache.hpp>
#include <specdec_engine/kernel/elementwise.hpp>
#include <specdec_engine/transformer/attention_store.hpp>
#include <specdec_engine/transformer/batch.hpp>

namespace specdec::engine {

/// The attention of a transformer's blocks and the caches of its sequences, in loops that a team
/// shares out: share(n, bytes, work) does n items that read so many bytes each. Tokens: those of a
/// pass; those of a sequence stand together, in order.
///
/// A short context's head is cut into tiles of queries. A long one's, which comes from memory, is
/// read once for all of them, and so is what nodes of a tree have behind them: a piece for each
/// head and sequence where there are several, and otherwise loops over the panels of all heads.
/// Results are the same, bit for bit.
template <PanelValue Stored, class Cache>
class cached_attention {
public:
    /// From so many bytes of a head's keys and values on a context is long.
    static constexpr std::size_t long_bytes = std::size_t{1} << 16;

    /// `chunk`: tokens of a pass at most; `members`: of the team.
    cached_attention(const model_config& c, std::size_t sequences, std::size_t capacity, isa set,
                     std::size_t chunk, std::size_t members)
        : d_(c.head_dimension), heads_(c.kv_heads), group_(c.heads / c.kv_heads), config_(c),
          kernels_(set), held_(c, sequences, capacity, set, chunk), positions_(chunk * group_) {
        scratch_.assign(capacity < long_from() ? members : std::max(members, heads_),
                        attention_scratch<Cache>(attention_queries, capacity, d_));
        turned_.assign(members, aligned_vector<float>(2 * held_.stride()));
        paths_.resize(members);
        parts_.reserve(positions_.size());
    }

    /// The context of a sequence goes on with this node of its tree, at this position.
    void keep(std::size_t sequence, std::size_t node, std::size_t position) {
        held_.keep(sequence, node, position);
    }
    /// The first n positions of a sequence become those of another one.
    void copy_prefix(std::size_t to, std::size_t from, std::size_t n) {
        held_.copy_prefix(to, from, n);
    }

    /// Puts keys and values into the caches. Allocates where a tree has more nodes than any before.
    template <class Share>
    void store(std::size_t layer, std::span<const token_place> tokens,
               const attention_columns<Stored>& columns, const Share& share) {
        held_.make_room(tokens);
        const std::size_t read = (group_ + 2) * d_ * sizeof(float);
        share(heads_ * tokens.size(), read, [&](pool_share s) {
            for (std::size_t i = s.begin; i < s.end; ++i) {
                const std::size_t c = i % tokens.size();
                held_.turn_and_store(layer, tokens, i / tokens.size(), c, columns,
                                     turned_[s.member].data());
            }
        });
    }
    /// The tokens' outputs, into `attended`.
    template <class Share>
    void attend(std::size_t layer, std::span<const token_place> tokens,
                const attention_columns<Stored>& columns, const Share& share) {
        const step all{layer, tokens, columns};
        std::size_t seen = 0;
        for (std::size_t q = 0; q < tokens.size() * group_; ++q) {
            positions_[q] = tokens[q / group_].position;
            seen = std::max(seen, positions_[q] + 1);
        }
        const bool nodes = any_nodes(tokens), is_long = seen >= long_from();
        cut(layer, tokens, nodes || is_long ? attention_queries : tile_columns);
        if (is_long && tokens.front().sequence == tokens.back().sequence) {
            for (const part& p : parts_)
                attend_long(all, p, share);
            return;
        }
        // Paths of a tree take turns in a head's cache.
        const std::size_t together = nodes ? parts_.size() : 1, apart = parts_.size() / together;
        const std::size_t read = std::min(seen, config_.seen_by(layer));
        const std::size_t bytes = 2 * read * d_ * sizeof(typename Cache::number);
        share(heads_ * apart, bytes * together, [&](pool_share s) {
            for (std::size_t i = s.begin * together; i < s.end * together; ++i)
                attend_part(all, i / parts_.size(), parts_[i % parts_.size()], s.member);
        });
    }

private:
    struct step {
        std::size_t layer;
        std::span<const token_place> tokens;
        const attention_columns<Stored>& columns;
    };
    /// Queries of a head in one line, sorted by token, that are of one sequence: n from first on.
    /// All see the positions below `context`, whole panels of them where there are nodes, but for
    /// those before their windows; none sees one before `begin`.
    struct part {
        std::size_t first, n, context;
        bool nodes;
        std::size_t begin = 0;
    };

    [[nodiscard]] std::size_t long_from() const {
        return long_bytes / (2 * d_ * sizeof(typename Cache::number));
    }

    /// The tokens' queries in parts of at most so many.
    void cut(std::size_t layer, std::span<const token_place> tokens, std::size_t most) {
        const std::size_t window = config_.seen_by(layer);
        parts_.clear();
        const std::size_t n = tokens.size() * group_;
        for (std::size_t first = 0, end = 0; first < n; first = end) {
            const token_place& at = tokens[first / group_];
            std::size_t seen = 0, least = positions_[first];
            for (; end < n && end - first < most && tokens[end / group_].sequence == at.sequence;
                 ++end) {
                seen = std::max(seen, positions_[end] + 1);
                least = std::min(least, positions_[end]);
            }
            const bool nodes = at.tree != nullptr;
            const std::size_t context = nodes ? at.context() / panel_rows * panel_rows : seen;
            const std::size_t begin = least >= window ? least + 1 - window : 0;
            parts_.push_back({first, end - first, context, nodes,
                              std::min(begin / piece_length * piece_length, context)});
        }
    }

    /// n queries of a part, from its query `row` on.
    [[nodiscard]] attention_task<Cache> task(const step& all, std::size_t head, const part& p,
                                             std::size_t row, std::size_t n) {
        const std::size_t q = p.first + row;
        return {held_.cache(all.tokens[q / group_].sequence),
                all.layer,
                head,
                held_.query(head, all.tokens.size(), q),
                held_.stride(),
                n,
                &positions_[q],
                row,
                config_.seen_by(all.layer)};
    }
    [[nodiscard]] auto task(const step& all, std::size_t head, const part& p) {
        return task(all, head, p, 0, p.n);
    }
    void give(const step& all, std::size_t head, const part& p, std::size_t panel,
              attention_scratch<Cache>& scratch) {
        give_panel(task(all, head, p), panel, scratch,
                   [&](std::size_t i, std::size_t from, float scale, const float* y) {
                       const std::size_t q = p.first + i, at = head * group_ + q % group_;
                       all.columns.functions->scale(y, scale, std::min(panel_rows, d_ - from),
                                                    all.columns.attended +
                                                        q / group_ * all.columns.attended_stride +
                                                        at * d_ + from);
                   });
    }

    /// A head of a part, by one member of the team.
    void attend_part(const step& all, std::size_t head, const part& p, std::size_t member) {
        attention_scratch<Cache>& scratch = scratch_[member];
        const attention_task<Cache> t = task(all, head, p);
        for (std::size_t panel = p.begin / panel_rows; panel * panel_rows < p.context; ++panel)
            score_panel(kernels_, t, panel, scratch);
        if (p.nodes)
            soften_paths(all, head, p, scratch, paths_[member]);
        else
            for (std::size_t i = 0; i < p.n; ++i)
                soften(kernels_, t, p.begin, p.context, i, scratch);
        for (std::size_t panel = 0; panel < held_.value_panels(); ++panel)
            weigh_panel(kernels_, t, panel, p.begin, p.context, true, scratch);
        if (p.nodes)
            weigh_paths(all, head, p, scratch, paths_[member]);
        for (std::size_t panel = 0; panel < held_.value_panels(); ++panel)
            give(all, head, p, panel, scratch);
    }
    /// All heads of one, step by step, by all members.
    template <class Share>
    void attend_long(const step& all, const part& p, const Share& share) {
        const std::size_t before = p.begin / panel_rows;
        const std::size_t panels = round_up(p.context, panel_rows) / panel_rows - before;
        const std::size_t bytes = panel_rows * d_ * sizeof(typename Cache::number);
        const auto each = [&](std::size_t count, std::size_t item, const auto& work) {
            share(heads_ * count, item, [&](pool_share s) { // work(head, i < count, member)
                for (std::size_t i = s.begin; i < s.end; ++i)
                    work(i / count, i % count, s.member);
            });
        };
        each(panels, bytes, [&](std::size_t head, std::size_t panel, std::size_t) {
            score_panel(kernels_, task(all, head, p), before + panel, scratch_[head]);
        });
        if (p.nodes)
            each(1, bytes * p.n, [&](std::size_t head, std::size_t, std::size_t member) {
                soften_paths(all, head, p, scratch_[head], paths_[member]);
            });
        else
            each(p.n, p.context * sizeof(float), [&](std::size_t head, std::size_t i, std::size_t) {
                soften(kernels_, task(all, head, p), p.begin, p.context, i, scratch_[head]);
            });
        each(held_.value_panels(), bytes * std::max(panels, std::size_t{1}),
             [&](std::size_t head, std::size_t panel, std::size_t) {
                 weigh_panel(kernels_, task(all, head, p), panel, p.begin, p.context, true,
                             scratch_[head]);
                 if (!p.nodes)
                     give(all, head, p, panel, scratch_[head]);
             });
        if (p.nodes)
            each(1, bytes * p.n, [&](std::size_t head, std::size_t, std::size_t member) {
                weigh_paths(all, head, p, scratch_[head], paths_[member]);
                for (std::size_t panel = 0; panel < held_.value_panels(); ++panel)
                    give(all, head, p, panel, scratch_[head]);
            });
    }

    /// use(task) for the chains of a part's nodes, each behind the path that leads to it, laid into
    /// the head's cache.
    template <class Use>
    void for_paths(const step& all, std::size_t head, const part& p, path_layer& paths,
                   const Use& use) {
        paths.begin();
        for (std::size_t row = 0; row < p.n;) {
            const std::size_t c = (p.first + row) / group_;
            const std::size_t end =
                std::min(end_of_chain(all.tokens, c), (p.first + p.n + group_ - 1) / group_);
            const token_place& last = all.tokens[end - 1];
            held_.lay(last, all.layer, head, paths);
            const std::size_t n = std::min(p.n, end * group_ - p.first) - row;
            use(task(all, head, p, row, n));
            row += n;
        }
    }
    void soften_paths(const step& all, std::size_t head, const part& p,
                      attention_scratch<Cache>& scratch, path_layer& paths) {
        for_paths(all, head, p, paths, [&](const auto& t) {
            const std::size_t seen = t.seen();
            for (std::size_t panel = p.context / panel_rows; panel * panel_rows < seen; ++panel)
                score_panel(kernels_, t, panel, scratch);
            for (std::size_t i = 0; i < t.n; ++i)
                soften(kernels_, t, p.begin, seen, i, scratch);
        });
    }
    void weigh_paths(const step& all, std::size_t head, const part& p,
                     attention_scratch<Cache>& scratch, path_layer& paths) {
        for_paths(all, head, p, paths, [&](const auto& t) {
            for (std::size_t panel = 0; panel < held_.value_panels(); ++panel)
                weigh_panel(kernels_, t, panel, p.context, t.seen(), false, scratch);
        });
    }

    std::size_t d_, heads_, group_; ///< as of `held_`
    model_config config_;
    attention_kernels<Cache> kernels_;
    attention_store<Cache> held_;
    std::vector<std::size_t> positions_; ///< of a head's queries
    std::vector<part> parts_;
    std::vector<attention_scratch<Cache>> scratch_; ///< [member], or [kv head]
    std::vector<aligned_vector<float>> turned_;     ///< [member]: two heads
    std::vector<path_layer> paths_;                 ///< [member]
};

} // namespace specdec::engine
