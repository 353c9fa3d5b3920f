// SPDX-License-Identifier: MIT
// Question: how much of what the machine's matrix products allow does a training step reach, of a
// drafter that reads features (SmolLM2's shape, 12,288 rows of its head) and of one that runs alone
// (smollm2-drafter's shape)? The step: forward, losses, reverse, clipping, AdamW, in each kind of
// numbers. The product: 1,024 x 1,024 x 1,024 through the same kernels, packing included.
// `operations` a second, and as a part of those of the product (`of_product`).
//     bench_engine_learning [--threads N] [--repetitions N] [--numbers f32|bf16]
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "support.hpp"
#include <specdec_engine/learn/drafter_learner.hpp>
#include <specdec_engine/learn/features/feature_learner.hpp>

namespace ref = specdec::engine;
using namespace specdec;

namespace {

std::vector<float> numbers(std::size_t n, float size, unsigned seed) {
    std::minstd_rand bits(seed);
    std::vector<float> out(n);
    for (float& v : out)
        v = (static_cast<float>(bits() % 2001) - 1000.0F) * 1e-3F * size;
    return out;
}

/// Random weights for whatever has values().
template <class Parameters>
void fill(Parameters& m, float size) {
    const std::vector<float> some = numbers(m.values().size(), size, 7);
    std::copy(some.begin(), some.end(), m.values().begin());
}

/// A step that is timed, and what its products multiply and add.
struct trained {
    double operations;
    std::function<void()> step;
};

ref::learner_settings settings(std::size_t threads, ref::product_numbers kind) {
    return {.loss = {.direct = direct_loss::forward_kl, .ngram = ngram_loss::none},
            .sequences = 2,
            .length = 256,
            .threads = threads,
            .products = {kind}};
}

/// Texts of 200 tokens whose rounds drafted 4 tokens and kept 2.
trained feature_step(std::size_t threads, ref::product_numbers kind) {
    constexpr std::size_t rows = 12288, texts = 2, length = 200, width = 576;
    ref::model_config c = bench::smollm2_shape();
    c.layers = 1;
    ref::feature_parameters<float> body{ref::feature_layout(c, false)};
    fill(body, 0.04F);
    ref::target_ends ends;
    ends.dimension = width;
    ends.embedding = [](std::size_t token, std::span<float> out) {
        for (std::size_t k = 0; k < out.size(); ++k)
            out[k] = static_cast<float>((token + k) % 17) * 0.05F - 0.4F;
    };
    const std::vector<float> head = numbers(rows * width, 0.1F, 3);
    ends.head.assign(head.begin(), head.end());
    std::vector<std::int32_t> forward(rows), back(c.vocabulary_size, -1);
    for (std::size_t i = 0; i < rows; ++i)
        back[i] = forward[i] = static_cast<std::int32_t>(i);
    ends.map = id_map(std::move(forward), std::move(back), 0, 0);

    auto samples = std::make_shared<std::vector<feature_sample>>(texts);
    double cells = 0, further = 0, places = 0;
    for (feature_sample& s : *samples) {
        s.width = width;
        s.values = numbers((length - 1) * width, 1, 5);
        for (std::size_t i = 0; i < length; ++i)
            s.tokens.push_back(id_at<draft_id>((i * 37) % rows));
        for (std::size_t begin = 20; begin + 6 < length; begin += 3) {
            s.rounds.push_back({begin, s.drafted.size(), s.rows.size(), 4});
            for (std::size_t j = 0; j < 3; ++j)
                s.drafted.push_back(s.tokens[begin + j]);
            for (std::size_t j = 0; j < 4; ++j) {
                s.rows.push_back({s.entries.size(), 32});
                for (std::size_t k = 0; k < 32; ++k)
                    s.entries.push_back({id_at<target_id>(300 * k + begin), 1.0F / 32});
            }
            cells += 4, further += 3;
            places = std::max(places, static_cast<double>(begin - 1));
        }
    }
    places *= texts;
    auto learner = std::make_shared<ref::feature_learner>(body, ends, settings(threads, kind));
    const double d = width, fuse = 2 * d * d, kv = d * 2 * 192, rest = 2 * d * d + 3 * d * 1536;
    const double operations = 6 * (cells * rest + further * (fuse + kv) + places * kv) +
                              4 * places * fuse + 4 * cells * d * rows;
    return {operations, [learner, samples] {
                const std::vector<const feature_sample*> both{samples->data(), samples->data() + 1};
                (void)learner->learn(both);
            }};
}

/// Two texts of 256 tokens, each with a row.
trained drafter_step(std::size_t threads, ref::product_numbers kind) {
    ref::model_config c = bench::smollm2_shape();
    c.dimension = 256;
    c.layers = 3;
    c.heads = 4;
    c.kv_heads = 2;
    c.hidden_dimension = 640;
    c.vocabulary_size = 4096;
    ref::model_parameters<float> model(c);
    fill(model, 0.05F);
    std::vector<std::int32_t> ids(c.vocabulary_size);
    for (std::size_t i = 0; i < ids.size(); ++i)
        ids[i] = static_cast<std::int32_t>(i);
    auto map = std::make_shared<id_map>(ids, ids, 0, 0);
    auto texts = std::make_shared<std::vector<distillation_sample>>(2);
    for (distillation_sample& t : *texts)
        for (std::size_t i = 0; i < 256; ++i) {
            t.tokens.push_back(id_at<draft_id>((i * 37) % 4096));
            if (i + 1 == 256)
                break;
            t.rows.push_back({i, t.entries.size(), 32});
            for (std::size_t k = 0; k < 32; ++k)
                t.entries.push_back({id_at<target_id>(100 * k + i % 90), 1.0F / 32});
        }
    auto learner = std::make_shared<ref::drafter_learner>(model, *map, settings(threads, kind));
    const double d = 256, block = 2 * d * d + d * 2 * 128 + 3 * d * 640;
    return {
        6 * (512 * 3 * block + 510 * d * 4096), [learner, texts, map] {
            const std::vector<const distillation_sample*> both{texts->data(), texts->data() + 1};
            (void)learner->learn(both);
        }};
}

trained product(std::size_t threads, ref::product_numbers kind) {
    constexpr std::size_t n = 1024;
    struct scene {
        ref::products run;
        std::vector<float> a = numbers(n * n, 1, 1), b = numbers(n * n, 1, 2), c = a;
    };
    auto s = std::make_shared<scene>(
        scene{ref::products(std::make_shared<ref::thread_pool>(threads), {kind})});
    return {2.0 * n * n * n, [s] {
                s->run.forward(ref::columns_of(std::as_const(s->a).data(), n, n),
                               ref::columns_of(std::as_const(s->b).data(), n, n),
                               ref::columns_of(s->c.data(), n, n));
            }};
}

struct scene {
    std::vector<trained> all;

    scene(std::size_t threads, ref::product_numbers kind)
        : all{product(threads, kind), feature_step(threads, kind), drafter_step(threads, kind)} {}
};

const bench::registration here([] {
    const std::size_t threads = bench::command_line().number("--threads", 1);
    const std::string only = bench::command_line().text("--numbers", "");
    for (const auto kind : {ref::product_numbers::f32, ref::product_numbers::bf16}) {
        if (!only.empty() && name(kind) != only)
            continue;
        bench::question<scene> learning("learning/" + std::string(name(kind)),
                                        {.repetitions = 7, .unit = benchmark::kMillisecond},
                                        threads, kind);
        for (const char* what : {"product", "feature_step", "drafter_step"})
            learning.add(what, [i = learning.size()](scene& s) { s.all[i].step(); }).ratios = {};
        learning.count([](scene& s, std::size_t i,
                          const std::vector<double>& seconds) -> benchmark::UserCounters {
            const auto speed = [&](std::size_t k) { return s.all[k].operations / seconds[k]; };
            return {{"operations",
                     benchmark::Counter(s.all[i].operations, benchmark::Counter::kIsRate)},
                    {"of_product", speed(i) / speed(0)}};
        });
    }
});

} // namespace
