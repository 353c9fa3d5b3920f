// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm> // std::copy_n
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility> // std::exchange
#include <vector>

#include <openvino/openvino.hpp>

#include <specdec/core/basic/on_throw.hpp>
#include <specdec/core/error.hpp>
#include <specdec/core/model/context_tracker.hpp>
#include <specdec/core/require.hpp>
#include <specdec/core/rows.hpp>
#include <specdec/head/lm_head.hpp>
#include <specdec/interop/openvino_ports.hpp>

namespace specdec {

struct openvino_settings {
    /// The most tokens that a sequence holds: what the model was trained for, or less. An OpenVINO
    /// model does not say it. Rejected tokens that are still in the cache are compacted before they
    /// would exceed it.
    std::size_t capacity = 4096;
    /// A prompt is fed in inferences of at most this many tokens, which bounds the memory of one.
    std::size_t piece = 512;
    /// What it costs to read and write a token's keys and values once, in tokens of attention by
    /// one position. The cache is compacted when the masked tokens have cost as much as that.
    std::size_t compaction = 8;
    /// The window of a model whose attention has one (Gemma 3: 512), else 0. A window counts places
    /// of the cache, masked ones too, so they are cut out before the cache is longer than it.
    std::size_t window = 0;
    /// Ids that have tokens, where the model's rows are padded; 0: all of a row.
    std::size_t vocabulary = 0;
};
/// Errors: specdec::error.
inline void validate(const openvino_settings& s) {
    require_that(s.capacity > 2, "OpenVINO settings", "capacity", "expected at least three tokens");
    require_that(s.piece > 0, "OpenVINO settings", "piece", "expected at least one token");
}

/// One sequence of a stateful language model in OpenVINO, as a ModelOf<Id>.
///
/// OpenVINO cannot truncate its key-value cache: to read, cut and write all states takes about as
/// long as a pass. So truncated tokens stay in the cache, with zeros in attention_mask, and
/// position_ids tell the others where they are. They make attention longer. The states are cut as
/// soon as the masked tokens have cost as much as that (openvino_settings::compaction), and when
/// their places are needed. If no token is left, the states are reset, which is free.
///
/// - The inference request is this object's own: no one else feeds it, resets it or sets its
///   tensors. Any number of models may be made of one compiled model; they share its weights.
/// - score(ids) returns OpenVINO's output tensor: nothing is copied.
/// - append computes the logits of its last token only, where the model has the input
///   sampled_tokens_indices (openvino_select_rows), else of all tokens.
/// - The device and its settings are those of the compiled model.
/// - Attention is one mask a sequence: no trees.
/// - Allocates at construction and at a compaction, and what OpenVINO allocates in a pass.
///
/// Errors, specdec::error: at construction, a model without the inputs and outputs of
/// openvino_ports, or with a state that is no key-value cache (recurrent models cannot forget);
/// append, score: ids outside the vocabulary, and more than there is room for. What OpenVINO itself
/// throws (ov::Exception, ov::Cancelled) passes. size() and the tokens are then as before. What the
/// states hold after a failed inference is not known, so the next call feeds the sequence again.
template <class Id>
class openvino_model {
public:
    explicit openvino_model(ov::CompiledModel model, const openvino_settings& settings = {})
        : ports_(model), settings_(settings), request_(model.create_infer_request()),
          logits_(request_.get_tensor(*ports_.logits)) {
        validate(settings_);
        if (settings_.vocabulary > ports_.vocabulary)
            fail("OpenVINO model", "logits",
                 "expected rows of " + std::to_string(settings_.vocabulary) + " tokens, found " +
                     std::to_string(ports_.vocabulary));
        for (auto* numbers : {&mask_, &ids_, &positions_, &rows_})
            numbers->reserve(capacity());
        held_.reserve(capacity());
        place_.reserve(capacity());
        require_caches();
    }

    [[nodiscard]] std::size_t size() const { return held_.size(); }
    [[nodiscard]] std::size_t capacity() const { return settings_.capacity; }
    [[nodiscard]] std::size_t vocabulary_size() const {
        return settings_.vocabulary > 0 ? settings_.vocabulary : ports_.vocabulary;
    }
    /// Numbers from row to row: of the padded head.
    [[nodiscard]] std::size_t stride() const { return ports_.vocabulary; }
    /// The tokens of the context, so sessions may take turns with this model.
    [[nodiscard]] held_tokens<Id> held() const { return held_.held(); }

    /// How many tokens of the key-value cache are masked, and how often it was compacted.
    [[nodiscard]] std::size_t masked() const { return mask_.size() - place_.size(); }
    [[nodiscard]] std::size_t compactions() const { return compactions_; }

    void append(std::span<const Id> ids) {
        require_room(ids);
        prepare(ids.size());
        hold(ids, false);
    }

    [[nodiscard]] logits_rows<Id> score(std::span<const Id> ids) {
        require_room(ids);
        prepare(ids.size());
        hold(ids, true);
        const ov::Tensor rows = request_.get_tensor(*ports_.logits);
        return {rows.data<const float>(), ids.size(), vocabulary_size(), stride()};
    }
    /// Writes the logits to `rows`, [ids.size(), stride()].
    void score_into(std::span<const Id> ids, float* rows) {
        require_room(ids);
        prepare(ids.size());
        // Undone in any case.
        const on_throw back([this] { request_.set_tensor(*ports_.logits, logits_); });
        request_.set_tensor(*ports_.logits, {ov::element::f32, {1, ids.size(), stride()}, rows});
        hold(ids, true);
    }

    /// Precondition: n <= size().
    void truncate(std::size_t n) {
        held_.truncated(n);
        if (n == 0)
            return lose();
        for (; place_.size() > n; place_.pop_back())
            mask_[place_.back()] = 0;
    }

    /// Numbers of a token's feature: 0 for a model without openvino_show_features().
    [[nodiscard]] std::size_t feature_width() const { return ports_.feature_width; }
    /// The features after the tokens of the latest append or score: OpenVINO's output tensor.
    [[nodiscard]] hidden_states features() {
        if (!ports_.features)
            return {nullptr, 0, 0, 0};
        const ov::Tensor all = request_.get_tensor(*ports_.features);
        return {all.data<const float>(), all.get_shape()[1], feature_width(), feature_width()};
    }

private:
    void require_room(std::span<const Id> ids) const {
        require_ids(ids, vocabulary_size(), "OpenVINO model", "tokens");
        if (ids.size() > capacity() - size())
            fail("OpenVINO model", "capacity",
                 "expected room for " + std::to_string(ids.size()) + " tokens, " +
                     std::to_string(size()) + " of " + std::to_string(capacity()) + " are held");
    }

    /// Two passes, whose tokens are forgotten, show what the states are: key-value caches grow
    /// along one axis.
    void require_caches() {
        const Id probe[] = {Id{0}, Id{0}};
        infer(std::span(probe).first(1), true);
        std::vector<std::vector<std::size_t>> before;
        for (const ov::VariableState& state : request_.query_state())
            before.push_back(state.get_state().get_shape());
        if (before.empty())
            fail("OpenVINO model", "states",
                 "expected key-value caches; export the model as a stateful one");
        infer(probe, true);
        for (const ov::VariableState& state : request_.query_state()) {
            const std::vector<std::size_t>& one = before[axes_.size()];
            std::vector<std::size_t> three = state.get_state().get_shape();
            std::size_t axis = 0;
            while (axis < one.size() && axis < three.size() && one[axis] == three[axis])
                ++axis;
            if (axis == one.size() || one[axis] != 1 || std::exchange(three[axis], 1) != 3 ||
                one != three)
                fail("OpenVINO model", state.get_name(),
                     "expected a key-value cache, which grows by one along an axis with each "
                     "token, as a state; other states cannot forget tokens");
            axes_.push_back(axis);
        }
        lose();
    }

    /// Makes the states hold what is held, ready for n tokens more.
    void prepare(std::size_t n) {
        paid_ += n * masked();
        const std::size_t places = mask_.size() + n;
        if (masked() > 0 &&
            (places > capacity() || (settings_.window > 0 && places > settings_.window) ||
             paid_ >= settings_.compaction * mask_.size()))
            compact();
        if (place_.size() < held_.size())
            feed(held().subspan(place_.size()));
    }

    /// Feeds ids, and holds them unless it throws.
    void hold(std::span<const Id> ids, bool all_rows) {
        if (all_rows || ports_.features) // in one inference, whose outputs are asked for
            infer(ids, all_rows);
        else
            feed(ids);
        held_.fed(ids);
    }
    void feed(std::span<const Id> ids) {
        while (!ids.empty()) {
            const auto now = ids.first(std::min(ids.size(), settings_.piece));
            infer(now, false);
            ids = ids.subspan(now.size());
        }
    }

    /// An inference over ids after what the states hold.
    void infer(std::span<const Id> ids, bool all_rows) {
        on_throw guard([this] { lose(); });
        if (stale_)
            request_.reset_state();
        stale_ = false;
        ids_.clear();
        positions_.clear();
        rows_.clear();
        for (std::size_t i = 0; i < ids.size(); ++i) {
            ids_.push_back(ids[i].value);
            positions_.push_back(static_cast<std::int64_t>(place_.size() + i));
            if (all_rows || i + 1 == ids.size())
                rows_.push_back(static_cast<std::int64_t>(i));
        }
        mask_.resize(mask_.size() + ids.size(), 1);
        request_.set_tensor(*ports_.ids, {ov::element::i64, {1, ids_.size()}, ids_.data()});
        request_.set_tensor(*ports_.mask, {ov::element::i64, {1, mask_.size()}, mask_.data()});
        request_.set_tensor(*ports_.positions,
                            {ov::element::i64, {1, positions_.size()}, positions_.data()});
        if (ports_.beams)
            request_.set_tensor(*ports_.beams, {ov::element::i32, {1}, &beam_});
        if (ports_.rows)
            request_.set_tensor(*ports_.rows, {ov::element::i64, {rows_.size()}, rows_.data()});
        // infer() of 2026.4.1 returns as if nothing were wrong where a node throws; wait() tells.
        request_.start_async();
        request_.wait();
        guard.done();
        for (std::size_t i = ids.size(); i > 0; --i)
            place_.push_back(mask_.size() - i);
    }

    /// The states hold nothing that is known: they are reset before the next inference.
    void lose() {
        mask_.clear();
        place_.clear();
        paid_ = 0;
        stale_ = true;
    }

    /// Cuts what is masked out of the states.
    void compact() {
        on_throw guard([this] { lose(); });
        std::vector<ov::VariableState> states = request_.query_state();
        for (std::size_t i = 0; i < states.size(); ++i) {
            const ov::Tensor all = states[i].get_state();
            std::vector<std::size_t> shape = all.get_shape();
            const std::size_t held = std::exchange(shape[axes_[i]], place_.size());
            if (held != mask_.size())
                fail("OpenVINO model", states[i].get_name(),
                     "expected " + std::to_string(mask_.size()) + " tokens, found " +
                         std::to_string(held));
            ov::Tensor kept(all.get_element_type(), ov::Shape(shape));
            std::size_t outer = 1; // runs of numbers of a token lie behind each other
            for (std::size_t axis = 0; axis < axes_[i]; ++axis)
                outer *= shape[axis];
            const std::size_t width = all.get_byte_size() / (outer * held);
            const auto* from = static_cast<const std::byte*>(all.data());
            auto* to = static_cast<std::byte*>(kept.data());
            for (std::size_t o = 0; o < outer; ++o, from += held * width)
                for (const std::size_t place : place_)
                    to = std::copy_n(from + place * width, width, to);
            states[i].set_state(kept);
        }
        guard.done();
        mask_.assign(place_.size(), 1);
        for (std::size_t i = 0; i < place_.size(); ++i)
            place_[i] = i;
        paid_ = 0;
        ++compactions_;
    }

    openvino_ports ports_;
    openvino_settings settings_;
    ov::InferRequest request_;
    ov::Tensor logits_;              ///< the request's own
    context_tracker<Id> held_;       ///< what the context is
    std::vector<std::size_t> place_; ///< [<= held_.size()] of its tokens in the states
    std::vector<std::int64_t> mask_; ///< [places of the states] 0: truncated
    std::vector<std::int64_t> ids_, positions_, rows_; ///< inputs of an inference
    std::vector<std::size_t> axes_;                    ///< [states] along which it has tokens
    std::int32_t beam_ = 0;
    bool stale_ = false;   ///< the states are to be reset
    std::size_t paid_ = 0; ///< masked tokens times positions that have looked at them
    std::size_t compactions_ = 0;
};

} // namespace specdec
