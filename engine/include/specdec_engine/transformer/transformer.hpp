// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm> // std::min, std::ranges::find
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility> // std::exchange
#include <variant>
#include <vector>

#include <specdec/core/basic/on_throw.hpp>
#include <specdec/core/concepts.hpp>
#include <specdec/core/contract.hpp>
#include <specdec/core/error.hpp>
#include <specdec/core/law_version.hpp>
#include <specdec/core/model/context_tracker.hpp>
#include <specdec/interop/xtensor_containers.hpp>
#include <specdec_engine/transformer/adapters.hpp>
#include <specdec_engine/transformer/batch.hpp>
#include <specdec_engine/transformer/context_options.hpp>
#include <specdec_engine/transformer/contexts.hpp>
#include <specdec_engine/transformer/forward.hpp>
#include <specdec_engine/transformer/precision.hpp>
#include <specdec_engine/transformer/weights.hpp>

namespace specdec::engine {

/// A Llama-family transformer and one context of it, for one sequence (number 0) or several. Moving
/// it keeps the rows it has returned. Not for use by two threads at once; contexts that share
/// weights are independent.
class transformer {
public:
    /// `source` names the model in errors. Errors: specdec::error for a vocabulary larger than the
    /// head; std::bad_alloc.
    template <NumberFormat Format>
    transformer(std::shared_ptr<const model_weights<Format>> weights,
                const context_options& options, const std::string& source = "model")
        : config_(weights->config), team_(options.team), vocabulary_size_(options.vocabulary_size),
          which_(options.features),
          held_(options.sequences,
                options.capacity > 0 ? options.capacity
                                     : std::min<std::size_t>(config_.context, 4096),
                config_.vocabulary_size),
          keys_(sequences()) {
        if (team_ == nullptr)
            team_ = std::make_shared<thread_pool>(options.threads);
        if (vocabulary_size_ == 0)
            vocabulary_size_ = config_.vocabulary_size;
        if (vocabulary_size_ > config_.vocabulary_size)
            throw error(source, "vocabulary",
                        "expected at least a row of the head for each of the tokenizer's " +
                            std::to_string(vocabulary_size_) + " tokens, found " +
                            std::to_string(config_.vocabulary_size));
        const isa instructions = usable(options.instructions);
        pass_ =
            std::make_unique<any_pass>(std::in_place_type<forward_pass<Format>>, std::move(weights),
                                       sequences(), capacity(), team_, instructions, options.cache);
        logits_.resize({std::max<std::size_t>(options.rows, 1), row_stride()});
        states_.resize({std::max<std::size_t>(options.rows, 1), config_.dimension});
        features_.resize({std::max<std::size_t>(options.rows, 1),
                          engine::feature_width(which_, config_.dimension)});
    }

    [[nodiscard]] std::size_t sequences() const { return held_.sequences(); }
    [[nodiscard]] std::size_t size(std::size_t sequence = 0) const { return held_.size(sequence); }
    [[nodiscard]] std::size_t capacity() const { return held_.capacity(); }
    [[nodiscard]] std::size_t vocabulary_size() const { return vocabulary_size_; }
    [[nodiscard]] const model_config& config() const { return config_; }

    /// Holds ids after what is held; computes no rows (the head and half of the last block are
    /// skipped). Errors, before anything changes: specdec::error where the context is too short or
    /// an id is none of the model's.
    void append(std::span<const std::int32_t> ids, std::size_t sequence = 0) {
        const sequence_part part{sequence, ids};
        run({&part, 1}, pass_output::kind::nothing, logits_);
    }

    /// append, and the logits of every given position: logits()(i, token), i < ids.size().
    /// Allocates only where there are more rows than ever before.
    void score(std::span<const std::int32_t> ids) {
        const sequence_part part{0, ids};
        score({&part, 1});
    }
    /// The same for several sequences in one pass; the rows of one part after those of the other.
    /// Errors: as append, and for a sequence that stands there twice.
    void score(std::span<const sequence_part> parts) {
        run(parts, pass_output::kind::logits, logits_);
    }
    /// The same without the head: what it would be multiplied with, as it is rounded for that.
    void hidden(std::span<const sequence_part> parts) {
        run(parts, pass_output::kind::hidden, states_);
    }

    /// The sequence goes on with a path of its tree (core/model/tree_scoring.hpp). Errors:
    /// specdec::error where the nodes are none; nothing changes.
    void keep_path(std::span<const std::size_t> nodes, std::size_t sequence = 0) {
        held_.keep(sequence, nodes, [&](std::size_t node, std::size_t position) {
            std::visit([&](auto& pass) { pass.keep(sequence, node, position); }, *pass_);
        });
    }

    /// [rows, head rows rounded up to 32]: the latest score()'s rows come first, of which the first
    /// vocabulary_size() columns count.
    [[nodiscard]] const xt::xtensor<float, 2>& logits() const { return logits_; }
    /// [rows, dimension]: the latest hidden()'s come first.
    [[nodiscard]] const xt::xtensor<float, 2>& states() const { return states_; }

    /// Numbers of a feature; 0: none are kept.
    [[nodiscard]] std::size_t feature_width() const { return features_.shape(1); }
    /// [rows, feature_width()]: those behind the tokens of the latest pass come first.
    [[nodiscard]] const xt::xtensor<float, 2>& features() const { return features_; }
    /// Tokens of the latest pass that was made.
    [[nodiscard]] std::size_t passed() const { return passed_; }

    /// Forgets all but the first n tokens. Precondition: n <= size().
    void truncate(std::size_t n, std::size_t sequence = 0) { held_.truncate(sequence, n); }

    /// Sequence `to` holds the first n tokens of `from` and nothing else, as if it had been fed
    /// them. Complexity: a copy of their keys and values. Preconditions: to != from, n <=
    /// size(from), and both have one key.
    void copy_prefix(std::size_t to, std::size_t from, std::size_t n) {
        SPECDEC_PRECONDITION(to != from && n <= size(from) && key(to) == key(from));
        std::visit([&](auto& pass) { pass.copy_prefix(to, from, n); }, *pass_);
        held_.copied(to, n);
    }

    /// use(pass): the forward_pass<Format> of this context, for what shares weights and kernels.
    template <class Use>
    decltype(auto) with_pass(const Use& use) const {
        return std::visit(use, std::as_const(*pass_));
    }

    /// The threads, for context_options::team.
    [[nodiscard]] const std::shared_ptr<thread_pool>& team() const { return team_; }

    /// Computes with other weights of the same shapes from the next pass on; all contexts are then
    /// empty, and the mark another. Errors: as forward_pass::use, and for another number format.
    template <NumberFormat Format>
    void use(std::shared_ptr<const model_weights<Format>> weights) {
        auto* const pass = std::get_if<forward_pass<Format>>(pass_.get());
        if (pass == nullptr)
            throw error("weights", "number format",
                        "expected " + std::string(name(number_format())));
        pass->use(std::move(weights));
        held_.clear();
        ++changes_;
    }

    /// Sequences of this key compute with these adapters from now on, which the weights are shared
    /// with: one drafter for several targets or tasks. They replace those of the key; its sequences
    /// are then empty. Errors: specdec::error for the key 0, which has none, null, and adapters of
    /// another shape.
    void set_adapters(context_key key, std::shared_ptr<const model_adapters> adapters) {
        if (key == 0)
            throw error("adapters", "key", "expected another key than 0, which has no adapters");
        if (adapters == nullptr)
            throw error("adapters", "key " + std::to_string(key), "expected adapters");
        with_pass([&](const auto& pass) { pass.require_fits(adapters.get()); });
        const auto at = std::ranges::find(adapters_, key, &keyed_adapters::key);
        (at != adapters_.end() ? *at : adapters_.emplace_back()) = {key, std::move(adapters)};
        for (std::size_t s = 0; s < sequences(); ++s)
            if (keys_[s].key == key)
                switch_to(key, s);
    }
    /// The sequence computes with the adapters of this key from its next pass on, and is then
    /// empty; no-op for the key that it has. Without any adapters a key says nothing to the model.
    /// Errors: specdec::error for a key that has none where others have.
    void set_key(context_key key, std::size_t sequence = 0) {
        if (keys_[sequence].key != key)
            switch_to(key, sequence);
    }
    [[nodiscard]] context_key key(std::size_t sequence = 0) const { return keys_[sequence].key; }
    [[nodiscard]] law_version version(std::size_t sequence = 0) const {
        return changes_ + keys_[sequence].changes;
    }

    /// An empty context that shares the weights (and the threads, where options.team says so).
    [[nodiscard]] transformer another_context(const context_options& options) const {
        return std::visit(
            [&](const auto& pass) { return transformer(pass.shared_weights(), options); }, *pass_);
    }

    [[nodiscard]] precision number_format() const {
        return std::array{precision::f32, precision::bf16, precision::native}[pass_->index()];
    }
    /// What the weights are: "f32", "bf16", or the type of most quantised ones, "Q4_1".
    [[nodiscard]] std::string_view weights_name() const {
        return std::visit(
            [this]<class Format>(const forward_pass<Format>& pass) {
                if constexpr (std::same_as<Format, quantised>)
                    return name(pass.weights().blocks.front().gate_up.type());
                else
                    return name(number_format());
            },
            *pass_);
    }
    [[nodiscard]] std::string_view kernel_name() const {
        return std::visit([](const auto& pass) { return pass.kernels().name; }, *pass_);
    }
    /// Of keys and values: "f32", "bf16" or "q8".
    [[nodiscard]] std::string_view cache_name() const {
        return std::visit([](const auto& pass) { return name(pass.cache()); }, *pass_);
    }
    [[nodiscard]] std::size_t threads() const { return team_->size(); }
    [[nodiscard]] std::size_t parameters() const {
        return std::visit([](const auto& pass) { return pass.weights().parameters(); }, *pass_);
    }
    /// Bytes of weights that scoring one position reads.
    [[nodiscard]] std::size_t forward_bytes() const {
        return std::visit([](const auto& pass) { return pass.weights().forward_bytes(); }, *pass_);
    }
    /// The packed weights as they lie in memory, for measuring a plain read of them.
    [[nodiscard]] std::span<const std::byte> weight_bytes() const {
        return std::visit([](const auto& pass) { return std::as_bytes(pass.weights().memory()); },
                          *pass_);
    }

private:
    using any_pass =
        std::variant<forward_pass<float>, forward_pass<bf16_bits>, forward_pass<quantised>>;

    [[nodiscard]] std::size_t row_stride() const {
        return round_up(config_.vocabulary_size, panel_rows);
    }

    void run(std::span<const sequence_part> parts, pass_output::kind what,
             xt::xtensor<float, 2>& rows) {
        held_.begin(parts);
        passed_ = 0;
        on_throw begun([&] { held_.abandon(parts); });
        const std::size_t n = count_tokens(parts);
        if (what != pass_output::kind::nothing && n > rows.shape(0))
            rows = xt::xtensor<float, 2>::from_shape({n, rows.shape(1)}); // or as it was
        if (n > features_.shape(0) && which_ != feature_kind::none)
            features_ = xt::xtensor<float, 2>::from_shape({n, features_.shape(1)});
        const pass_output out{
            what, rows.data(), rows.shape(1), {which_, features_.data(), features_.shape(1)}};
        std::visit([&](auto& pass) { run(pass, parts, out); }, *pass_);
        begun.done();
        held_.end(parts);
        passed_ = n;
    }

    void switch_to(context_key key, std::size_t sequence) {
        std::shared_ptr<const model_adapters> next;
        if (key != 0 && !adapters_.empty()) {
            const auto at = std::ranges::find(adapters_, key, &keyed_adapters::key);
            if (at == adapters_.end())
                throw error("adapters", "key " + std::to_string(key),
                            "expected 0 or a key that adapters were set for");
            next = at->adapters;
        }
        std::visit([&](auto& pass) { pass.adapt(sequence, std::move(next)); }, *pass_);
        held_.truncate(sequence, 0);
        keys_[sequence].key = key;
        ++keys_[sequence].changes;
    }

    /// Whole chunks of tokens, whichever sequences they belong to.
    template <class Format>
    void run(forward_pass<Format>& pass, std::span<const sequence_part> parts, pass_output out) {
        std::array<token_place, forward_pass<Format>::chunk> tokens;
        std::size_t held = 0;
        const auto flush = [&] {
            if (held > 0)
                pass.run({tokens.data(), held}, out);
            out.data += held * out.stride;
            out.features.data += std::exchange(held, 0) * out.features.stride;
        };
        for (const sequence_part& part : parts)
            for (std::size_t i = 0; i < part.ids.size(); ++i) {
                tokens[held++] = held_.place(part, i);
                if (held == tokens.size())
                    flush();
            }
        flush();
    }

    model_config config_;
    std::shared_ptr<thread_pool> team_;
    std::size_t vocabulary_size_;
    feature_kind which_;
    contexts held_;
    std::unique_ptr<any_pass> pass_;
    xt::xtensor<float, 2> logits_;
    xt::xtensor<float, 2> states_;
    xt::xtensor<float, 2> features_;
    std::size_t passed_ = 0;
    law_version changes_ = 0; ///< of weights
    struct sequence_key {
        context_key key = 0;
        law_version changes = 0;
    };
    std::vector<sequence_key> keys_; ///< [sequences]
    struct keyed_adapters {
        context_key key = 0;
        std::shared_ptr<const model_adapters> adapters;
    };
    std::vector<keyed_adapters> adapters_;
};

} // namespace specdec::engine
