// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <openvino/op/ops.hpp>
#include <openvino/op/util/variable.hpp>
#include <openvino/openvino.hpp>

#include <specdec/core/token_id.hpp>

/// Stateful language models of OpenVINO with random weights, made where a test needs them: two
/// layers of attention over key-value caches in states, with the inputs that exporters give them.
namespace specdec::toy_ir {

/// An inference with this token fails half-way, in a model that is poisonable.
inline constexpr target_id poison{40};

struct shape_of_model {
    std::size_t vocabulary = 40;
    std::uint32_t seed = 1;
    float scale = 1;         ///< of the logits: larger, and choices are clearer
    bool poisonable = false; ///< a shape between the layers is wrong where a token is `poison`
    bool recurrent = false;  ///< the second layer has a running sum in the place of a cache
    std::size_t window = 0;  ///< of attention, in places; 0: none
    std::string without{};   ///< an input that it lacks
    ov::element::Type positions = ov::element::i64;
};

class model_builder {
public:
    explicit model_builder(shape_of_model shape) : is_(std::move(shape)), seed_(is_.seed) {
        using namespace ov::op;
        const auto ids = input("input_ids", ov::element::i64, 2);
        const auto mask = input("attention_mask", ov::element::i64, 2);
        const auto positions = input("position_ids", is_.positions, 2);
        beams_ = input("beam_idx", ov::element::i32, 1);
        const auto sizes = std::make_shared<v3::ShapeOf>(ids);
        batch_ = dimension(sizes, 0);
        const auto tokens = dimension(sizes, 1);
        const auto places = dimension(std::make_shared<v3::ShapeOf>(mask), 1);

        // A key is looked at where its place is not behind the query's, unless it is masked.
        const auto first = std::make_shared<v1::Subtract>(places, tokens);
        const auto keys = range(number(0), places), queries = range(first, places);
        const auto of_keys = std::make_shared<v0::Unsqueeze>(keys, indices({0}));
        const auto of_queries = std::make_shared<v0::Unsqueeze>(queries, indices({1}));
        node before = std::make_shared<v1::LessEqual>(of_keys, of_queries);
        if (is_.window > 0)
            before = std::make_shared<v13::BitwiseAnd>(
                before, std::make_shared<v1::Greater>(
                            std::make_shared<v1::Add>(
                                of_keys, number(static_cast<std::int64_t>(is_.window))),
                            of_queries));
        const auto shown = std::make_shared<v0::Unsqueeze>(
            std::make_shared<v0::Convert>(mask, ov::element::boolean), indices({1, 2}));
        shown_ = std::make_shared<v13::BitwiseAnd>(
            std::make_shared<v0::Unsqueeze>(before, indices({0, 1})), shown);

        ov::Output<ov::Node> x = std::make_shared<v1::Add>(
            std::make_shared<v8::Gather>(matrix(is_.vocabulary, width, 1), ids, number(0)),
            std::make_shared<v8::Gather>(matrix(most_positions, width, 0.5F), positions,
                                         number(0)));
        for (std::size_t layer = 0; layer < 2; ++layer) {
            if (layer == 1 && is_.poisonable)
                x = std::make_shared<v1::Reshape>(x, poisoned(ids), true);
            x = std::make_shared<v1::Add>(x, layer == 1 && is_.recurrent ? running_sum(x)
                                                                         : attention(x, layer));
            x = std::make_shared<v1::Add>(
                x, times(std::make_shared<v0::Relu>(times(x, width, hidden)), hidden, width));
        }
        const auto logits = times(x, width, is_.vocabulary, 0.6F * is_.scale);
        logits->output(0).set_names({"logits"});
        model = std::make_shared<ov::Model>(ov::ResultVector{std::make_shared<v0::Result>(logits)},
                                            sinks_, inputs_, "toy");
    }

    std::shared_ptr<ov::Model> model;

    static constexpr std::size_t most_positions = 8192;

private:
    static constexpr std::size_t width = 16, heads = 2, head = 8, hidden = 24;
    using node = std::shared_ptr<ov::Node>;

    ov::Output<ov::Node> input(const std::string& name, const ov::element::Type& type,
                               std::size_t rank) {
        if (name == is_.without) // the model has a constant there
            return ov::op::v0::Constant::create(type, ov::Shape(rank, 1), {0});
        const auto made = std::make_shared<ov::op::v0::Parameter>(
            type, ov::PartialShape::dynamic(static_cast<std::int64_t>(rank)));
        made->output(0).set_names({name});
        inputs_.push_back(made);
        return made;
    }
    static node number(std::int64_t value) {
        return ov::op::v0::Constant::create(ov::element::i64, {}, {value});
    }
    static node indices(const std::vector<std::int64_t>& values) {
        return ov::op::v0::Constant::create(ov::element::i64, {values.size()}, values);
    }
    static node dimension(const node& shape, std::int64_t which) {
        return std::make_shared<ov::op::v8::Gather>(shape, number(which), number(0));
    }
    /// [0, 0, width], or more than width.
    static node poisoned(const ov::Output<ov::Node>& ids) {
        const auto found = std::make_shared<ov::op::v0::Convert>(
            std::make_shared<ov::op::v1::Equal>(ids, number(poison.value)), ov::element::i64);
        const auto more = std::make_shared<ov::op::v1::ReduceMax>(found, indices({0, 1}), false);
        return std::make_shared<ov::op::v0::Concat>(
            ov::OutputVector{indices({0, 0}),
                             std::make_shared<ov::op::v1::Add>(indices({width}), more)},
            0);
    }
    static node range(const node& from, const node& to) {
        return std::make_shared<ov::op::v4::Range>(from, to, number(1), ov::element::i64);
    }

    node matrix(std::size_t rows, std::size_t columns, float scale) {
        std::vector<float> values(rows * columns);
        for (float& value : values) {
            seed_ = seed_ * 1664525U + 1013904223U;
            value = (static_cast<float>(seed_ >> 8) / (1U << 23U) - 1) * scale;
        }
        return ov::op::v0::Constant::create(ov::element::f32, {rows, columns}, values);
    }
    node times(const ov::Output<ov::Node>& x, std::size_t from, std::size_t to,
               float scale = 0.6F) {
        return std::make_shared<ov::op::v0::MatMul>(x, matrix(from, to, scale));
    }
    node split(const node& x) { // [batch, heads, tokens, head]
        return std::make_shared<ov::op::v1::Transpose>(
            std::make_shared<ov::op::v1::Reshape>(x, indices({0, 0, heads, head}), true),
            indices({0, 2, 1, 3}));
    }

    /// What a variable holds, and holds from here on.
    ov::Output<ov::Node> state(const std::string& name, const ov::PartialShape& shape,
                               std::vector<node> begin) {
        const auto variable = std::make_shared<ov::op::util::Variable>(
            ov::op::util::VariableInfo{shape, ov::element::f32, name});
        const auto zeros = std::make_shared<ov::op::v3::Broadcast>(
            ov::op::v0::Constant::create(ov::element::f32, {}, {0.0F}),
            std::make_shared<ov::op::v0::Concat>(ov::OutputVector(begin.begin(), begin.end()), 0));
        const auto read = std::make_shared<ov::op::v6::ReadValue>(zeros, variable);
        variable_ = variable;
        return read;
    }
    void assign(const ov::Output<ov::Node>& value) {
        sinks_.push_back(std::make_shared<ov::op::v6::Assign>(value, variable_));
    }

    node attention(const ov::Output<ov::Node>& x, std::size_t layer) {
        const auto cached = [&](const char* name, const node& added) {
            const auto past =
                state(std::string("past_key_values.") + std::to_string(layer) + "." + name,
                      {-1, heads, -1, head},
                      {std::make_shared<ov::op::v0::Unsqueeze>(batch_, indices({0})),
                       indices({heads}), indices({0}), indices({head})});
            const auto chosen = std::make_shared<ov::op::v8::Gather>(past, beams_, number(0));
            const auto all =
                std::make_shared<ov::op::v0::Concat>(ov::OutputVector{chosen, added}, 2);
            assign(all);
            return all;
        };
        const node queries = split(times(x, width, width));
        const node keys = cached("key", split(times(x, width, width)));
        const node values = cached("value", split(times(x, width, width)));
        const auto read = std::make_shared<ov::op::v13::ScaledDotProductAttention>(
            queries, keys, values, shown_, false);
        return times(std::make_shared<ov::op::v1::Reshape>(
                         std::make_shared<ov::op::v1::Transpose>(read, indices({0, 2, 1, 3})),
                         indices({0, 0, width}), true),
                     width, width);
    }

    /// Of all tokens so far, which cannot be taken back.
    node running_sum(const ov::Output<ov::Node>& x) {
        const auto past = state("sum", {-1, 1, width},
                                {std::make_shared<ov::op::v0::Unsqueeze>(batch_, indices({0})),
                                 indices({1}), indices({width})});
        const auto sums = std::make_shared<ov::op::v1::Add>(
            past, std::make_shared<ov::op::v1::ReduceSum>(x, indices({1}), true));
        assign(sums);
        return sums;
    }

    shape_of_model is_;
    std::uint32_t seed_;
    ov::ParameterVector inputs_;
    ov::SinkVector sinks_;
    ov::Output<ov::Node> beams_;
    node batch_, shown_;
    std::shared_ptr<ov::op::util::Variable> variable_;
};

/// Numbers in f32 everywhere, one thread: what is left is the order of sums.
inline ov::CompiledModel compiled(const std::shared_ptr<ov::Model>& model) {
    static ov::Core core;
    return core.compile_model(model, "CPU", ov::inference_num_threads(1),
                              ov::hint::inference_precision(ov::element::f32),
                              ov::hint::kv_cache_precision(ov::element::f32),
                              ov::hint::dynamic_quantization_group_size(0));
}
inline ov::CompiledModel compiled(const shape_of_model& shape = {}) {
    return compiled(model_builder(shape).model);
}

/// n tokens, of an endless text those from `from` on.
inline std::vector<target_id> text(std::size_t n, std::size_t from = 0) {
    std::vector<target_id> ids;
    for (std::size_t i = from; i < from + n; ++i)
        ids.push_back(id_at<target_id>(i * 37 % 40));
    return ids;
}

} // namespace specdec::toy_ir
