// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <specdec/core/model/context_window.hpp>
#include <specdec/core/model/tree_scoring.hpp>
#include <specdec/head/features/feature_text.hpp>
#include <specdec/head/features/features.hpp>

#include "batch_of.hpp"
#include "toy_model.hpp"
#include "toy_rows.hpp"

namespace specdec::testing {

inline constexpr std::size_t toy_feature_width = 2;

/// The feature of a toy target behind the last of these tokens.
inline std::vector<float> toy_feature(const sequence& tokens) {
    return {static_cast<float>(scramble(7, tokens, 0) % 64) / 32.0F - 1.0F,
            static_cast<float>(scramble(7, tokens, 1) % 64) / 32.0F - 1.0F};
}

/// A toy model of the target that shows features. Models FeatureModelOf<target_id>.
class toy_feature_target : public toy_model<target_id> {
public:
    using toy_model::toy_model;

    void append(std::span<const target_id> ids) {
        toy_model::append(ids);
        show(ids.size());
    }
    [[nodiscard]] logits_rows<target_id> score(std::span<const target_id> ids) {
        const auto rows = toy_model::score(ids);
        show(ids.size());
        return rows;
    }
    [[nodiscard]] std::size_t feature_width() const { return toy_feature_width; }
    [[nodiscard]] hidden_states features() const {
        return {features_.data(), features_.size() / toy_feature_width, toy_feature_width,
                toy_feature_width};
    }

    bool forgets_one = false; ///< an engine that gives a feature too few

private:
    void show(std::size_t n) {
        features_.clear();
        sequence tokens;
        for (const target_id id : held()) {
            tokens.push_back(id.value);
            if (tokens.size() + n > held().size() + (forgets_one ? 1 : 0)) {
                const std::vector<float> feature = toy_feature(tokens);
                features_.insert(features_.end(), feature.begin(), feature.end());
            }
        }
    }

    std::vector<float> features_;
};

/// Several of them as one model, which shows the features of all parts of a pass. Models
/// FeatureBatchModelOf<target_id>.
struct toy_feature_targets : batch_of<target_id, toy_feature_target> {
    using batch_of::batch_of;

    void append(std::size_t s, std::span<const target_id> ids) {
        batch_of::append(s, ids);
        shown.clear();
        add_rows(shown, models[s].features());
    }
    [[nodiscard]] logits_rows<target_id> score(std::span<const sequence_tokens<target_id>> parts) {
        const auto scores = batch_of::score(parts);
        shown.clear();
        for (const auto& [s, ids] : parts)
            add_rows(shown, models[s].features());
        return scores;
    }
    [[nodiscard]] std::size_t feature_width() const { return toy_feature_width; }
    [[nodiscard]] hidden_states features() const {
        return {shown.data(), shown.size() / toy_feature_width, toy_feature_width,
                toy_feature_width};
    }

    std::vector<float> shown{};
};

/// A body whose hidden states are any function of its weights, a number, and of its places, each as
/// numbers: token, whether the feature is its own, and the feature. Its own feature is a function
/// of them, too. Counts places read. Models FeatureTreeBody and FeatureBatchBody.
class toy_body {
public:
    using place = std::vector<float>; ///< [token, own, feature ...]
    static constexpr std::size_t own_numbers = 3;

    toy_body(std::size_t vocabulary, std::size_t sequences = 1, std::size_t capacity = 64)
        : vocabulary_(vocabulary), capacity_(capacity), places_(sequences) {}

    [[nodiscard]] std::size_t sequences() const { return places_.size(); }
    [[nodiscard]] std::size_t size(std::size_t s) const { return places_[s].size(); }
    [[nodiscard]] std::size_t capacity() const { return capacity_; }
    [[nodiscard]] std::size_t vocabulary_size() const { return vocabulary_; }
    [[nodiscard]] std::size_t feature_width() const { return toy_feature_width; }
    [[nodiscard]] std::size_t own_width() const { return own_numbers; }
    [[nodiscard]] std::size_t width() const { return vocabulary_; }
    void truncate(std::size_t s, std::size_t n) {
        places_[s].resize(n);
        nodes_.clear();
    }
    /// Other weights: all sequences are then empty.
    void use(std::uint64_t weights) {
        weights_ = weights;
        nodes_.clear();
        for (std::vector<place>& of : places_)
            of.clear();
    }
    [[nodiscard]] std::uint64_t weights() const { return weights_; }

    [[nodiscard]] body_output read(std::size_t s, std::span<const draft_id> ids, body_input given) {
        require_room(s, ids.size());
        nodes_.clear();
        for (std::size_t i = 0; i < ids.size(); ++i) {
            places_[s].push_back(place_of(ids[i], given, i));
            make(places_[s]);
        }
        return made(ids.size());
    }
    [[nodiscard]] body_output read(std::span<const sequence_tokens<draft_id>> parts,
                                   body_input given) {
        for (const auto& [s, ids] : parts)
            require_room(s, ids.size());
        nodes_.clear();
        std::size_t n = 0;
        for (const auto& [s, ids] : parts)
            for (const draft_id id : ids) {
                places_[s].push_back(place_of(id, given, n++));
                make(places_[s]);
            }
        return made(n);
    }
    /// Of one sequence at a time.
    [[nodiscard]] body_output read_tree(std::size_t s, std::span<const draft_id> ids,
                                        std::span<const std::size_t> parents, body_input given) {
        require_room(s, nodes_.size() + ids.size());
        require_parents(ids.size(), parents, nodes_.size(), "toy body");
        for (std::size_t i = 0; i < ids.size(); ++i) {
            nodes_.push_back({place_of(ids[i], given, i), parents[i]});
            std::vector<place> path;
            for (std::size_t at = nodes_.size() - 1; at != tree_root; at = nodes_[at].second)
                path.insert(path.begin(), nodes_[at].first);
            path.insert(path.begin(), places_[s].begin(), places_[s].end());
            make(path);
        }
        return made(ids.size());
    }
    void keep_path(std::size_t s, std::span<const std::size_t> path) {
        for (const std::size_t node : path)
            places_[s].push_back(nodes_[node].first);
        nodes_.clear();
    }

    /// Of these places: numbers between -2 and 2.
    static std::vector<float> state_of(const std::vector<place>& places, std::size_t numbers,
                                       std::uint64_t weights = 0) {
        sequence key;
        for (const place& p : places)
            for (const float x : p)
                key.push_back(static_cast<int>(std::lround(x * 512.0F)));
        std::vector<float> state(numbers);
        for (std::size_t k = 0; k < numbers; ++k)
            state[k] = static_cast<float>(scramble(11 + weights, key, k) % 2048) / 512.0F - 2.0F;
        return state;
    }

    /// The places of a text whose round begins behind `round` tokens, from scratch: those that its
    /// window leaves.
    static std::vector<place> places_of(const sequence& text, std::size_t round,
                                        std::size_t vocabulary, std::uint64_t weights = 0,
                                        const context_window& window = {}) {
        std::vector<place> all; // of every token but the first
        const auto read = [&](std::size_t tokens) {
            const std::size_t dropped = window.dropped(round, tokens);
            std::vector<place> left;
            for (std::size_t i = 1; i < tokens && i <= all.size(); ++i)
                if (i < window.keep() || i >= window.keep() + dropped)
                    left.push_back(all[i - 1]);
            return left;
        };
        std::vector<float> own(own_numbers);
        for (std::size_t i = 1; i < text.size(); ++i) {
            const bool real = i < round;
            place now{static_cast<float>(text[i]), real ? 0.0F : 1.0F};
            const std::vector<float> feature =
                real ? toy_feature({text.begin(), text.begin() + static_cast<std::ptrdiff_t>(i)})
                     : own;
            now.insert(now.end(), feature.begin(), feature.end());
            all.push_back(now);
            const std::vector<float> state =
                state_of(read(i + 1), vocabulary + own_numbers, weights);
            own.assign(state.begin() + static_cast<std::ptrdiff_t>(vocabulary), state.end());
        }
        return read(text.size());
    }

    [[nodiscard]] const std::vector<place>& places(std::size_t s = 0) const { return places_[s]; }

    std::size_t read_places = 0, passes = 0;

private:
    std::size_t vocabulary_, capacity_;
    std::uint64_t weights_ = 0;
    void require_room(std::size_t s, std::size_t more) {
        if (more > capacity_ - size(s))
            throw "toy_body: beyond its capacity";
        states_.clear();
        own_.clear();
    }
    static place place_of(draft_id id, const body_input& given, std::size_t i) {
        place now{static_cast<float>(id.value), given.own ? 1.0F : 0.0F};
        now.insert(now.end(), given.rows[i].values.begin(), given.rows[i].values.end());
        return now;
    }
    void make(const std::vector<place>& path) {
        const std::vector<float> all = state_of(path, vocabulary_ + own_numbers, weights_);
        const auto own = all.begin() + static_cast<std::ptrdiff_t>(vocabulary_);
        states_.insert(states_.end(), all.begin(), own);
        own_.insert(own_.end(), own, all.end());
    }
    body_output made(std::size_t n) {
        read_places += n;
        ++passes;
        return {{states_.data(), n, vocabulary_, vocabulary_},
                {own_.data(), n, own_numbers, own_numbers}};
    }

    std::vector<std::vector<place>> places_;
    std::vector<std::pair<place, std::size_t>> nodes_;
    std::vector<float> states_, own_;
};

} // namespace specdec::testing
