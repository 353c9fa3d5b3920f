// SPDX-License-Identifier: MIT
// The engine against the reference transformer in double, on the same weights: logits in every
// number format, trees, several sequences and features.
#include <specdec_engine/load.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "support/quantised_checkpoint.hpp"
#include <specdec/reference/load_weights.hpp>
#include <specdec/reference/transformer_batch.hpp>
#include <specdec/reference/transformer_model.hpp>
#include <specdec_engine/batch_model.hpp>
#include <specdec_engine/model.hpp>

namespace oracle_tests {

namespace fast = specdec::engine;
namespace oracle = specdec::reference;
using namespace specdec;
using fast::precision;
using weights_pointer = std::shared_ptr<const oracle::transformer_weights<double>>;
using oracle::matrix;

const std::string root = SPECDEC_SOURCE_DIR;

/// The weights of a checkpoint that the engine has opened, dequantised where they are quantised.
weights_pointer weights_of(const fast::checkpoint& file) {
    const fast::model_config& c = file.config;
    const fast::llama3_scaling& scaling = c.rotary.llama3;
    auto out = std::make_shared<oracle::transformer_weights<double>>();
    out->config = {.width = c.dimension,
                   .layers = c.layers,
                   .heads = c.heads,
                   .kv_heads = c.kv_heads,
                   .head_dimension = c.head_dimension,
                   .inner_width = c.hidden_dimension,
                   .vocabulary_size = c.vocabulary_size,
                   .context = c.context,
                   .rms_epsilon = double{c.rms_epsilon},
                   .tied = c.tied,
                   .qkv_bias = c.qkv_bias,
                   .rotary = {.theta = c.rotary.theta,
                              .scaling = c.rotary.scaled ? oracle::rotary_scaling::llama3
                                                         : oracle::rotary_scaling::none,
                              .factor = scaling.factor,
                              .low_frequency_factor = scaling.low_frequency_factor,
                              .high_frequency_factor = scaling.high_frequency_factor,
                              .original_context = scaling.original_context}};
    REQUIRE_FALSE(c.rotary.interleaved);
    out->layers.resize(c.layers);
    oracle::visit_tensors(
        *out, [&](const std::string& name, auto& to, std::size_t rows, std::size_t columns) {
            to.resize(oracle::index(rows), oracle::index(columns));
            std::vector<float> row(columns);
            for (std::size_t r = 0; columns > 0 && r < rows; ++r) {
                fast::read_row(file.tensors.at(name), r, row);
                to.row(oracle::index(r)) =
                    Eigen::Map<const oracle::row_vector<float>>(row.data(), oracle::index(columns))
                        .cast<double>();
            }
        });
    return out;
}

/// The same with matrices rounded to BF16, as the engine stores them in that precision.
weights_pointer rounded_to_bf16(const weights_pointer& weights) {
    auto out = std::make_shared<oracle::transformer_weights<double>>(*weights);
    oracle::visit_tensors(*out,
                          [](const std::string&, auto& tensor, std::size_t rows, std::size_t) {
                              if (rows > 1)
                                  tensor = tensor.template cast<float>()
                                               .template cast<Eigen::bfloat16>()
                                               .template cast<float>()
                                               .template cast<double>()
                                               .eval();
                          });
    return out;
}

template <class Id = target_id>
std::vector<Id> some_ids(std::size_t n, std::size_t salt, std::size_t vocabulary) {
    std::vector<Id> ids;
    for (std::size_t i = 0; i < n; ++i)
        ids.push_back(id_at<Id>((i * i * 31 + (7 + salt) * i + 11 * salt) % vocabulary));
    return ids;
}

/// The numbers of rows of logits or of hidden states.
template <class Rows>
matrix<double> numbers_of(const Rows& rows) {
    matrix<double> out(rows.size(), rows.vocabulary());
    for (std::size_t i = 0; i < rows.size(); ++i)
        for (std::size_t v = 0; v < rows.vocabulary(); ++v)
            out(oracle::index(i), oracle::index(v)) = double{rows[i].values[v]};
    return out;
}

/// The greatest distance of two numbers, measured by the root mean square of those wanted.
double apart(const matrix<double>& found, const matrix<double>& wanted) {
    REQUIRE(found.rows() == wanted.rows());
    REQUIRE(found.cols() == wanted.cols());
    return (found - wanted).cwiseAbs().maxCoeff() /
           std::sqrt(wanted.squaredNorm() / static_cast<double>(wanted.size()));
}

/// check(apart) of the logits of 24 tokens behind `context` others, for each kind of instructions
/// that the processor has.
template <class Check>
void compare_logits(const fast::checkpoint& file, const weights_pointer& weights, precision format,
                    const Check& check, std::size_t context = 0,
                    fast::cache_type cache = fast::cache_type::own) {
    oracle::transformer_model<target_id, double> wanted(weights);
    const std::vector<target_id> ids = some_ids(context + 24, 1, wanted.vocabulary_size());
    const std::span<const target_id> all = ids;
    const auto scored = [&](auto& model) {
        if (context > 0)
            model.append(all.first(context));
        return model.score(all.subspan(context));
    };
    (void)scored(wanted);
    using enum fast::isa;
    for (const fast::isa set : {portable, avx2, avx512, avx512_bf16, amx}) {
        if (fast::usable(set) != set)
            continue;
        CAPTURE(fast::name(set));
        fast::model<target_id> m(fast::make_transformer(
            file, {format,
                   {.threads = 1, .capacity = ids.size(), .instructions = set, .cache = cache},
                   {}}));
        const double off = apart(numbers_of(scored(m)), wanted.logits());
        CAPTURE(off);
        check(off);
    }
}

/// Bounds are four times what was seen on a Zen 3. Those of rounded activations depend on how large
/// a model's weights are: random ones are larger.
constexpr double f32_bound = 2e-5;

TEST_CASE("engine in f32 and bf16: logits are the reference's up to rounding", "[computes]") {
    const std::map<std::string, double> bf16_bounds = {
        {"/tests/golden/llama", 0.33},      {"/tests/golden/llama3", 0.33},
        {"/tests/golden/mistral", 0.33},    {"/tests/golden/qwen2", 0.33},
        {"/tests/golden/llama-bf16", 0.33}, {"/tests/golden/llama-f16-sharded", 0.33},
        {"/models/docs-drafter", 0.03},     {"/models/smollm2-drafter", 0.1}};
    for (const auto& [name, bound] : bf16_bounds) {
        const fast::checkpoint file = fast::open_checkpoint(root + name);
        const weights_pointer weights = weights_of(file);
        CAPTURE(name);
        compare_logits(file, weights, precision::f32, [](double off) { CHECK(off < f32_bound); });
        compare_logits(file, rounded_to_bf16(weights), precision::bf16,
                       [&, most = bound](double off) { CHECK(off < most); });
    }
}

TEST_CASE("engine in Q8_0, Q4_0 and Q4_1: logits are those of the dequantised weights up to the "
          "rounding of activations",
          "[computes]") {
    using fast::dtype;
    const std::map<std::string, double> bounds = {{"/tests/golden/llama", 0.47},
                                                  {"/models/docs-drafter", 0.17}};
    for (const auto& [name, bound] : bounds)
        for (const dtype type : {dtype::q8_0, dtype::q4_0, dtype::q4_1}) {
            CAPTURE(name, fast::name(type));
            const toy::quantised_checkpoint quantised(fast::open_checkpoint(root + name),
                                                      [type](const std::string&) { return type; });
            const weights_pointer weights = weights_of(quantised.files);
            const auto rounded = [&, most = bound](double off) { CHECK(off < most); };
            compare_logits(quantised.files, weights, precision::native, rounded);
            compare_logits(quantised.files, weights, precision::f32,
                           [](double off) { CHECK(off < f32_bound); });
            if (type == dtype::q8_0) // weights that the engine itself rounds to Q8_0
                compare_logits(fast::open_checkpoint(root + name), weights, precision::q8, rounded);
        }
}

TEST_CASE(
    "engine behind a long context, with caches of all kinds: logits are the reference's up to "
    "the rounding of keys and values",
    "[computes]") {
    using fast::cache_type;
    const fast::checkpoint file = fast::open_checkpoint(root + "/models/docs-drafter");
    const weights_pointer weights = weights_of(file);
    for (const auto& [cache, bound] : {std::pair{cache_type::f32, f32_bound},
                                       {cache_type::bf16, 0.016},
                                       {cache_type::q8, 0.033}}) {
        CAPTURE(fast::name(cache));
        const auto rounded = [&, most = bound](double off) { CHECK(off < most); };
        compare_logits(file, weights, precision::f32, rounded, 260, cache);
    }
}

TEST_CASE("engine: trees have the reference's logits, and so has what follows an accepted path",
          "[computes]") {
    constexpr std::size_t top = tree_root;
    const std::vector<std::size_t> bush{top, 0, 0, 1, top, 4, 2, 2, 6, 5}, path{0, 2, 6, 8};
    for (const std::string name : {"/tests/golden/llama3", "/models/docs-drafter"}) {
        CAPTURE(name);
        const fast::checkpoint file = fast::open_checkpoint(root + name);
        fast::model<draft_id> m(
            fast::make_transformer(file, {precision::f32, {.threads = 1, .capacity = 64}, {}}));
        oracle::transformer_model<draft_id, double> wanted(weights_of(file));
        const auto ids = some_ids<draft_id>(30, 2, wanted.vocabulary_size());
        const std::span<const draft_id> all = ids;
        const auto both = [&](const auto& call) {
            const matrix<double> found = numbers_of(call(m));
            (void)call(wanted);
            CHECK(apart(found, wanted.logits()) < 2 * f32_bound);
        };
        both([&](auto& x) { return x.score(all.first(13)); });
        both([&](auto& x) { return x.score_tree(all.subspan(13, 4), std::span(bush).first(4)); });
        both([&](auto& x) { return x.score_tree(all.subspan(17, 6), std::span(bush).subspan(4)); });
        m.keep_path(path);
        wanted.keep_path(path);
        CHECK(std::ranges::equal(m.held(), wanted.held()));
        both([&](auto& x) { return x.score(all.subspan(23, 3)); });
        m.truncate(15);
        wanted.truncate(15);
        both([&](auto& x) { return x.score(all.subspan(26)); });
    }
}

TEST_CASE("engine: several sequences have the reference's logits and features", "[computes]") {
    using fast::feature_kind;
    constexpr std::size_t top = tree_root;
    const std::vector<std::size_t> bush{top, 0, 0, 1, top};
    for (const std::string name :
         {"/tests/golden/llama", "/models/docs-drafter", "/models/smollm2-drafter"})
        for (const feature_kind kind : {feature_kind::head_input, feature_kind::low_mid_high}) {
            CAPTURE(name, static_cast<int>(kind));
            const fast::checkpoint file = fast::open_checkpoint(root + name);
            fast::batch_model<target_id> m(fast::make_transformer(
                file, {precision::f32,
                       {.threads = 1, .capacity = 48, .sequences = 3, .features = kind},
                       {}}));
            const std::size_t layers = file.config.layers;
            std::vector<std::size_t> shown{layers};
            if (kind == feature_kind::low_mid_high) {
                const auto three = fast::low_mid_high(layers);
                shown.assign(three.begin(), three.end());
            }
            oracle::transformer_batch<target_id, double> wanted(
                weights_of(file), {.sequences = 3, .capacity = 48, .features = shown});
            REQUIRE(m.feature_width() == wanted.feature_width());
            const auto ids = some_ids(40, 3, wanted.vocabulary_size());
            const std::span<const target_id> all = ids;
            const auto same_features = [&] {
                CHECK(apart(numbers_of(m.features()), numbers_of(wanted.features())) <
                      4 * f32_bound);
            };
            for (std::size_t s = 0; s < 3; ++s) {
                m.append(s, all.subspan(s, 4 + 7 * s));
                wanted.append(s, all.subspan(s, 4 + 7 * s));
                same_features();
            }
            const std::vector<sequence_nodes<target_id>> trees{{2, all.subspan(20, 5), bush},
                                                               {0, all.subspan(25, 3), {}},
                                                               {1, all.subspan(28, 5), bush}};
            const matrix<double> found = numbers_of(m.score_tree(trees));
            (void)wanted.score_tree(trees);
            CHECK(apart(found, wanted.logits()) < 2 * f32_bound);
            same_features();
            m.keep_path(2, std::vector<std::size_t>{0, 2});
            wanted.keep_path(2, std::vector<std::size_t>{0, 2});
            m.truncate(1, 6);
            wanted.truncate(1, 6);
            const std::vector<sequence_tokens<target_id>> next{{1, all.subspan(30, 4)},
                                                               {2, all.subspan(34, 2)}};
            const matrix<double> states = numbers_of(m.hidden(next));
            CHECK(apart(states, numbers_of(wanted.hidden(next))) < 2 * f32_bound);
        }
}

} // namespace oracle_tests
