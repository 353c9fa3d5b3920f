// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm> // std::max, std::min
#include <array>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <specdec/core/basic/on_throw.hpp>
#include <specdec/core/contract.hpp>
#include <specdec/core/error.hpp>
#include <specdec/core/model/context_window.hpp>
#include <specdec/core/model/tree_scoring.hpp>
#include <specdec/core/require.hpp>
#include <specdec/core/tree/token_tree.hpp>
#include <specdec/head/features/features.hpp>
#include <specdec_engine/drafter/feature_checkpoint.hpp>
#include <specdec_engine/drafter/feature_pass.hpp>
#include <specdec_engine/drafter/gguf_feature_checkpoint.hpp>
#include <specdec_engine/transformer/transformer.hpp>

namespace specdec::engine {

/// Settings of a body.
struct feature_body_options {
    std::size_t sequences = 1;
    /// Places of each sequence; 0: the target's capacity and 64, so that no text is too long, but
    /// no more than a sliding window of the body's, and than its window and a draft need.
    std::size_t capacity = 0;
    /// Rows that read() can return without allocating.
    std::size_t rows = 16;
};

/// A drafter's body that reads the features of a target: weights of its own (an embedding, too,
/// where its files have another than the target's), the target's precision, cache type and threads.
/// Models FeatureTreeBody and FeatureBatchBody. Its
/// head is the target's (lm_head of it), or its own (kept()). Not for two threads at once, nor
/// while the target runs.
class feature_body {
public:
    /// Errors: specdec::error, of the checkpoint, where tensors are not as its configuration says,
    /// where dimension or vocabulary are not the target's, and for a capacity beyond a sliding
    /// window.
    feature_body(const feature_checkpoint& c, const transformer& target,
                 const feature_body_options& options = {})
        : vocabulary_size_(target.vocabulary_size()), kind_(c.kind),
          dimension_(c.files.config.dimension),
          capacity_(options.capacity > 0 ? options.capacity
                                         : default_capacity(c.files.config, target.capacity())),
          trained_context_(c.files.config.trained_context),
          sizes_(std::max<std::size_t>(options.sequences, 1)), trees_(sizes_.size()) {
        const auto agree = [&](const char* field, std::size_t found, std::size_t expected) {
            if (found != expected)
                throw error(c.files.source, field,
                            "expected the target's " + std::to_string(expected) + ", found " +
                                std::to_string(found));
        };
        check_capacity(c.files.config, capacity_, c.files.source);
        agree("hidden size", dimension_, target.config().dimension);
        agree("vocabulary size", c.files.config.vocabulary_size, target.config().vocabulary_size);
        if (c.taken && *c.taken != low_mid_high(target.config().layers))
            throw error(c.files.source, "layers whose input is read",
                        "expected those that EAGLE-3 takes of a target of " +
                            std::to_string(target.config().layers) +
                            " layers: " + shape_text(low_mid_high(target.config().layers)) +
                            ", found " + shape_text(*c.taken));
        target.with_pass([&]<class Format>(const forward_pass<Format>& pass) {
            pass_ = std::make_unique<any_pass>(
                std::in_place_type<feature_pass<Format>>,
                pack_features<Format>(c, target.team()->size(), &pass.weights()),
                pass.shared_weights(), sizes_.size(), capacity_, target.team(), pass.instructions(),
                pass.cache());
        });
        reserve(options.rows);
    }

    [[nodiscard]] std::size_t sequences() const { return sizes_.size(); }
    [[nodiscard]] std::size_t size(std::size_t s) const { return sizes_[s]; }
    [[nodiscard]] std::size_t capacity() const { return capacity_; }
    [[nodiscard]] std::size_t vocabulary_size() const { return vocabulary_size_; }
    [[nodiscard]] std::size_t feature_width() const {
        return engine::feature_width(kind_, dimension_);
    }
    [[nodiscard]] std::size_t own_width() const { return dimension_; }
    [[nodiscard]] std::size_t width() const { return dimension_; }
    [[nodiscard]] feature_kind kind() const { return kind_; }
    static constexpr body_traits traits{.window = true};
    /// Of texts longer than those that it was trained on, where its files tell (feature_model).
    [[nodiscard]] window_settings window() const {
        return {.length = std::min(trained_context_, capacity_ + 1)};
    }
    /// The places that a text of so many tokens of the target needs, and a draft after it.
    [[nodiscard]] static std::size_t default_capacity(const model_config& c, std::size_t tokens) {
        const std::size_t windowed =
            c.trained_context > 0 ? c.trained_context + most_draft_tokens : c.window;
        return std::min({tokens + 64, windowed, c.window});
    }

    [[nodiscard]] body_output read(std::size_t s, std::span<const draft_id> ids, body_input given) {
        const sequence_tokens<draft_id> part{s, ids};
        return read({&part, 1}, given);
    }
    /// Places of several sequences in one pass (FeatureBatchBody).
    [[nodiscard]] body_output read(std::span<const sequence_tokens<draft_id>> parts,
                                   body_input given) {
        std::size_t n = 0;
        for (const auto& [s, ids] : parts) {
            require_takes(s, ids, false);
            n += ids.size();
        }
        require_given(given, n);
        std::visit([&](auto& pass) { run(pass, parts, given, 0); }, *pass_);
        for (const auto& [s, ids] : parts) {
            sizes_[s] += ids.size();
            trees_[s].truncate(0);
        }
        return output(n);
    }
    /// Nodes (FeatureTreeBody).
    [[nodiscard]] body_output read_tree(std::size_t s, std::span<const draft_id> ids,
                                        std::span<const std::size_t> parents, body_input given) {
        require_takes(s, ids, true);
        require_given(given, ids.size());
        tree_nodes& tree = trees_[s];
        require_parents(ids.size(), parents, tree.size(), "feature body");
        tree.reserve(ids.size());
        for (const std::size_t parent : parents)
            tree.add(parent);
        on_throw grown([&] { tree.truncate(tree.size() - ids.size()); });
        const sequence_tokens<draft_id> part{s, ids};
        std::visit([&](auto& pass) { run(pass, {&part, 1}, given, tree.size()); }, *pass_);
        grown.done();
        return output(ids.size());
    }
    void keep_path(std::size_t s, std::span<const std::size_t> path) {
        require_path(path, trees_[s].parents, "feature body");
        for (const std::size_t node : path)
            std::visit([&](auto& pass) { pass.keep(s, node, sizes_[s]++); }, *pass_);
        trees_[s].truncate(0);
    }
    void truncate(std::size_t s, std::size_t n) {
        SPECDEC_PRECONDITION(n <= size(s));
        sizes_[s] = n;
        trees_[s].truncate(0);
    }

    /// Reads with other weights of the same shapes from the next place on; all sequences are then
    /// empty, since what they held is of the old ones. Between rounds only, by feature_model::use.
    /// An lm_head that was made of it before keeps the old rows.
    /// Errors: specdec::error, as feature_pass::use, and for another number format.
    void use(const any_feature_weights& weights) {
        std::visit(
            [this]<class Format>(const std::shared_ptr<const feature_weights<Format>>& set) {
                auto* const pass = std::get_if<feature_pass<Format>>(pass_.get());
                if (pass == nullptr)
                    throw error("feature weights", "number format", "expected the target's");
                pass->use(set);
            },
            weights);
        sizes_.assign(sizes_.size(), 0);
        for (tree_nodes& tree : trees_)
            tree.truncate(0);
    }

    /// The tokens of the rows of a head of its own; null: the head is the target's.
    [[nodiscard]] const token_list<draft_id>* kept() const {
        return std::visit(
            [](const auto& pass) { return pass.weights().kept ? &*pass.weights().kept : nullptr; },
            *pass_);
    }
    /// Whether tokens are read by an embedding that is not the target's.
    [[nodiscard]] bool own_embedding() const {
        return std::visit([](const auto& pass) { return pass.weights().own_embedding; }, *pass_);
    }
    /// Its own: without the target's embedding and head.
    [[nodiscard]] std::size_t parameters() const {
        return std::visit([](const auto& pass) { return pass.weights().parameters(); }, *pass_);
    }
    /// Bytes of weights that reading a place reads, without any head or embedding.
    [[nodiscard]] std::size_t forward_bytes() const {
        return std::visit([](const auto& pass) { return pass.weights().bytes(); }, *pass_);
    }
    /// use(pass): the feature_pass<Format>, for what shares its weights and kernels.
    template <class Use>
    decltype(auto) with_pass(const Use& use) const {
        return std::visit(use, std::as_const(*pass_));
    }

private:
    using any_pass =
        std::variant<feature_pass<float>, feature_pass<bf16_bits>, feature_pass<quantised>>;

    void require_takes(std::size_t s, std::span<const draft_id> ids, bool as_nodes) const {
        require_sequence(s, sequences(), "feature body");
        const std::size_t held = size(s) + (as_nodes ? trees_[s].size() : 0);
        if (ids.size() > capacity_ - held)
            throw error("feature body", "length",
                        "expected at most " + std::to_string(capacity_) + " places, found " +
                            std::to_string(held + ids.size()));
        require_ids(ids, vocabulary_size_, "feature body", "tokens");
    }
    void require_given(const body_input& given, std::size_t n) {
        const std::size_t wanted = given.own ? own_width() : feature_width();
        if (given.rows.size() != n || given.rows.width() != wanted)
            throw error("feature body", "features",
                        "expected one of width " + std::to_string(wanted) + " for each token");
        reserve(n);
    }
    [[nodiscard]] body_output output(std::size_t n) const {
        return {{states_.data(), n, dimension_, dimension_},
                {own_.data(), n, dimension_, dimension_}};
    }
    [[nodiscard]] token_place place(std::int32_t id, std::size_t s, std::size_t i, std::size_t node,
                                    bool in_tree) const {
        if (!in_tree)
            return {id, s, size(s) + i};
        return {id, s, size(s) + trees_[s].depths[node], &trees_[s], node};
    }
    void reserve(std::size_t rows) {
        for (auto* buffer : {&states_, &own_})
            if (buffer->size() < rows * dimension_)
                buffer->resize(rows * dimension_);
    }
    /// `nodes`: those of a tree, of which these are the last; 0: they are places.
    template <class Format>
    void run(feature_pass<Format>& pass, std::span<const sequence_tokens<draft_id>> parts,
             const body_input& given, std::size_t nodes) {
        constexpr std::size_t chunk = feature_pass<Format>::chunk;
        std::array<token_place, chunk> tokens;
        std::size_t first = 0, n = 0; // of the chunk
        const auto flush = [&] {
            pass.run({tokens.data(), n}, {given.rows.middle(first, n), given.own},
                     &states_[first * dimension_], &own_[first * dimension_]);
            first += n;
            n = 0;
        };
        for (const auto& [s, ids] : parts)
            for (std::size_t i = 0; i < ids.size(); ++i) {
                if (n == chunk)
                    flush();
                tokens[n++] = place(ids[i].value, s, i, nodes - ids.size() + i, nodes > 0);
            }
        flush();
    }

    std::size_t vocabulary_size_;
    feature_kind kind_;
    std::size_t dimension_, capacity_, trained_context_;
    std::vector<std::size_t> sizes_; ///< [sequences] places held
    std::vector<tree_nodes> trees_;  ///< [sequences] behind them
    std::unique_ptr<any_pass> pass_;
    std::vector<float> states_, own_; ///< [rows, dimension]
};

/// Loads the body of a folder, or of a GGUF file, for a target. Errors: specdec::error naming file
/// and field or tensor.
[[nodiscard]] inline feature_body load_feature_body(const std::filesystem::path& path,
                                                    const transformer& target,
                                                    const feature_body_options& options = {}) {
    return {open_feature_drafter(path), target, options};
}

} // namespace specdec::engine
