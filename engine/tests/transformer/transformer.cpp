// SPDX-License-Identifier: MIT
#include <specdec_engine/transformer/transformer.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

#include "support/quantised_checkpoint.hpp"
#include "support/toy_checkpoint.hpp"
#include <specdec_engine/file/hf_checkpoint.hpp>
#include <specdec_engine/load.hpp>

using namespace specdec::engine;
using Catch::Contains;

namespace {

/// A toy model of the given number format.
transformer make(precision number_format, const context_options& options,
                 const nlohmann::json& changed = nlohmann::json::object()) {
    static const toy::temporary_folder folder;
    static const toy::checkpoint toy_model;
    nlohmann::json config = toy_model.config();
    config.update(changed);
    folder.write("config.json", config.dump());
    folder.write("model.safetensors", toy_model.safetensors());
    return load_transformer(folder.path(), {number_format, options, {}});
}

std::vector<std::int32_t> some_ids(std::size_t n) {
    std::vector<std::int32_t> ids;
    for (std::size_t i = 0; i < n; ++i)
        ids.push_back(static_cast<std::int32_t>((i * i + 7 * i) % 77));
    return ids;
}

using rows = std::vector<std::vector<float>>;

/// The rows of all ids, scored in groups of the given size.
rows score_in_groups(transformer& t, const std::vector<std::int32_t>& ids, std::size_t group) {
    rows out;
    for (std::size_t i = 0; i < ids.size(); i += group) {
        const std::size_t n = std::min(group, ids.size() - i);
        t.score({ids.data() + i, n});
        for (std::size_t r = 0; r < n; ++r)
            out.emplace_back(&t.logits()(r, 0), &t.logits()(r, 0) + t.vocabulary_size());
    }
    return out;
}

bool same_bits(const rows& a, const rows& b) {
    if (a.size() != b.size())
        return false;
    for (std::size_t i = 0; i < a.size(); ++i)
        if (std::memcmp(a[i].data(), b[i].data(), a[i].size() * sizeof(float)) != 0)
            return false;
    return true;
}

} // namespace

TEST_CASE("neither grouping nor threads change a bit of a row") {
    const std::vector<std::int32_t> ids = some_ids(60);
    for (const precision p : {precision::f32, precision::bf16, precision::q8})
        for (const isa set : {isa::portable, isa::avx2, isa::avx512, isa::avx512_bf16, isa::amx}) {
            if (usable(set) != set)
                continue;
            context_options options{.threads = 1, .instructions = set};
            transformer one = make(p, options);
            const rows expected = score_in_groups(one, ids, 1);
            for (const std::size_t threads : {1U, 2U, 3U}) {
                options.threads = threads;
                for (const std::size_t group : {2U, 3U, 5U, 8U, 13U, 60U}) {
                    CAPTURE(name(p), name(set), threads, group);
                    transformer t = make(p, options);
                    REQUIRE(same_bits(score_in_groups(t, ids, group), expected));
                }
            }
        }
}

TEST_CASE("a model that is large enough for threads gives the same bits with any number of them",
          "[computes]") {
    const std::vector<std::int32_t> ids = some_ids(57);
    for (const precision p : {precision::f32, precision::bf16, precision::q8}) {
        load_options options{p, {.threads = 1, .capacity = 64}, {}};
        transformer one = load_transformer(SPECDEC_SOURCE_DIR "/models/docs-target", options);
        REQUIRE(one.forward_bytes() > forward_pass<float>::one_thread_bytes);
        const rows expected = score_in_groups(one, ids, 57);
        for (const std::size_t threads : {2U, 3U, 4U}) {
            transformer t = one.another_context({.threads = threads, .capacity = 64});
            for (const std::size_t group : {1U, 4U, 7U, 57U}) {
                CAPTURE(name(p), threads, group);
                t.truncate(0);
                REQUIRE(same_bits(score_in_groups(t, ids, group), expected));
            }
        }
    }
}

TEST_CASE(
    "behind a long context neither grouping, threads, sequences nor trees change a bit, in any "
    "numbers of the cache, with windows and without",
    "[computes]") {
    const std::vector<std::int32_t> ids = some_ids(330);
    const std::span<const std::int32_t> all = ids;
    constexpr std::size_t context = 300; // longer than cached_attention::long_bytes
    load_options options{precision::q8, {.threads = 1, .capacity = 400}, {}};
    const checkpoint plain = open_checkpoint(SPECDEC_SOURCE_DIR "/models/docs-target");
    for (const auto& [cache, window] :
         std::vector<std::pair<cache_type, std::size_t>>{{cache_type::f32, 0},
                                                         {cache_type::bf16, 0},
                                                         {cache_type::q8, 0},
                                                         {cache_type::f32, 150},
                                                         {cache_type::bf16, 3},
                                                         {cache_type::q8, 301}}) {
        CAPTURE(window);
        checkpoint with_windows = plain;
        for (std::size_t i = 0; window > 0 && i < plain.config.layers; ++i)
            with_windows.config.kinds.push_back(i % 2 == 0 ? layer_kind::window : layer_kind::full);
        with_windows.config.window = window > 0 ? window : plain.config.window;
        const transformer weights = make_transformer(with_windows, options);
        context_options one{.threads = 1, .capacity = 400, .cache = cache};
        transformer t = weights.another_context(one);
        CHECK(t.cache_name() == name(cache));
        for (std::size_t i = 0; i < context; ++i) // each alone
            t.append(all.subspan(i, 1));
        const rows expected = score_in_groups(t, {ids.begin() + context, ids.end()}, 1);
        for (const std::size_t threads : {1U, 3U}) {
            context_options many{
                .threads = threads, .capacity = 400, .sequences = 2, .cache = cache};
            transformer u = weights.another_context(many);
            u.append(all.first(context));
            u.append(all.first(context - 60), 1);
            for (const std::size_t group : {1U, 4U, 17U, 30U}) {
                CAPTURE(name(cache), threads, group);
                u.truncate(context);
                REQUIRE(same_bits(score_in_groups(u, {ids.begin() + context, ids.end()}, group),
                                  expected));
            }
            u.truncate(context - 20); // into what was read before
            u.append(all.subspan(context - 20, 20));
            const std::vector<sequence_part> both = {{1, all.subspan(context - 60, 60)},
                                                     {0, all.subspan(context, 5)}};
            u.score(both);
            for (std::size_t i = 0; i < 5; ++i)
                CHECK(std::memcmp(&u.logits()(60 + i, 0), expected[i].data(),
                                  expected[i].size() * sizeof(float)) == 0);
            // Tokens 0, 1, 2 as a path of a tree, of which other nodes lie between.
            constexpr std::size_t root = specdec::tree_root;
            const std::vector<std::size_t> parents = {root, 0, 0, 2, root, 2};
            const std::vector<std::int32_t> nodes = {ids[300], 9, ids[301], 5, 5, ids[302]};
            const std::vector<std::size_t> path = {0, 2, 5};
            u.truncate(context);
            const sequence_part tree{0, nodes, parents};
            u.score({&tree, 1});
            for (std::size_t i = 0; i < path.size(); ++i)
                CHECK(std::memcmp(&u.logits()(path[i], 0), expected[i].data(),
                                  expected[i].size() * sizeof(float)) == 0);
            u.keep_path(path);
            u.score(all.subspan(303, 2));
            CHECK(std::memcmp(&u.logits()(1, 0), expected[4].data(),
                              expected[4].size() * sizeof(float)) == 0);
        }
    }
}

TEST_CASE("logits with a cache of fewer bits stay near those of f32", "[computes]") {
    const std::vector<std::int32_t> ids = some_ids(300);
    const transformer weights =
        load_transformer(SPECDEC_SOURCE_DIR "/models/docs-target", {precision::f32, {}, {}});
    const auto scored = [&](cache_type cache) {
        transformer t = weights.another_context({.threads = 2, .capacity = 300, .cache = cache});
        return score_in_groups(t, ids, 300);
    };
    const rows full = scored(cache_type::f32);
    CHECK(same_bits(full, scored(cache_type::own)));
    CHECK(weights.cache_name() == "f32");
    for (const auto& [cache, bound] : {std::pair{cache_type::bf16, 0.02}, {cache_type::q8, 0.04}}) {
        const rows less = scored(cache);
        double squares = 0;
        for (std::size_t i = 0; i < full.size(); ++i)
            for (std::size_t j = 0; j < full[i].size(); ++j)
                squares += std::pow(double{full[i][j]} - double{less[i][j]}, 2);
        const double off = std::sqrt(squares / static_cast<double>(full.size() * full[0].size()));
        CAPTURE(name(cache));
        CHECK(off < bound);
        CHECK(off > 1e-4);
    }
}

TEST_CASE("contexts share a team where they are told to, and may use it at the same time") {
    transformer a = load_transformer(SPECDEC_SOURCE_DIR "/models/docs-target",
                                     {.context = {.threads = 3, .capacity = 64}});
    transformer b = a.another_context({.threads = 7, .capacity = 64, .team = a.team()});
    CHECK(b.team() == a.team());
    CHECK(b.threads() == 3);
    CHECK(a.another_context({.threads = 2, .capacity = 8}).team() != a.team());
    rows of_a, of_b;
    std::thread other([&] { of_b = score_in_groups(b, some_ids(40), 3); });
    of_a = score_in_groups(a, some_ids(40), 2);
    other.join();
    CHECK(same_bits(of_a, of_b));
}

TEST_CASE("the bf16 format stays near f32") {
    const std::vector<std::int32_t> ids = some_ids(30);
    transformer full = make(precision::f32, {});
    transformer rounded = make(precision::bf16, {});
    const rows a = score_in_groups(full, ids, 30);
    const rows b = score_in_groups(rounded, ids, 30);
    for (std::size_t i = 0; i < a.size(); ++i)
        for (std::size_t j = 0; j < a[i].size(); ++j)
            CHECK(a[i][j] == Approx(b[i][j]).margin(0.1));
}

/// docs-target's matrices in types of a quantised file, its embedding in Q8_0 as files have it.
const toy::quantised_checkpoint& quantised_docs(dtype type) {
    static std::map<dtype, toy::quantised_checkpoint> made;
    return made
        .try_emplace(type, open_checkpoint(SPECDEC_SOURCE_DIR "/models/docs-target"),
                     [type](const std::string& name) {
                         return name.find("embed") != std::string::npos ? dtype::q8_0 : type;
                     })
        .first->second;
}

TEST_CASE("native: logits and perplexity stay near those of the same weights in f32",
          "[computes]") {
    std::vector<std::int32_t> ids; // some of the model's own text
    {
        transformer writer =
            load_transformer(SPECDEC_SOURCE_DIR "/models/docs-target", {precision::f32, {}, {}});
        std::minstd_rand bits(3);
        for (std::int32_t id = 40; ids.size() < 200;) {
            ids.push_back(id);
            writer.score({&id, 1});
            const float* const row = &writer.logits()(0, 0);
            const auto n = static_cast<std::ptrdiff_t>(writer.vocabulary_size());
            id = bits() / 7 % 4 == 0
                     ? static_cast<std::int32_t>(bits() / 7 % 4000)
                     : static_cast<std::int32_t>(std::max_element(row, row + n) - row);
        }
    }
    const auto nats = [&](const rows& scored) { // a token
        double sum = 0;
        for (std::size_t i = 0; i + 1 < ids.size(); ++i) {
            double all = 0;
            for (const float v : scored[i])
                all += std::exp(double{v});
            sum += std::log(all) - double{scored[i][static_cast<std::size_t>(ids[i + 1])]};
        }
        return sum / static_cast<double>(ids.size() - 1);
    };
    for (const dtype type : {dtype::q8_0, dtype::q4_0, dtype::q4_1}) {
        CAPTURE(name(type));
        const checkpoint& files = quantised_docs(type).files;
        transformer full = make_transformer(files, {precision::f32, {.threads = 1}, {}});
        transformer native = make_transformer(files, {precision::native, {.threads = 2}, {}});
        CHECK(native.weights_name() == name(type));
        CHECK(native.number_format() == precision::native);
        CHECK(native.forward_bytes() < full.forward_bytes() / 3);
        const rows a = score_in_groups(full, ids, 50), b = score_in_groups(native, ids, 50);
        double squares = 0, worst = 0;
        for (std::size_t i = 0; i < a.size(); ++i)
            for (std::size_t j = 0; j < a[i].size(); ++j) {
                const double off = std::abs(double{a[i][j]} - double{b[i][j]});
                squares += off * off;
                worst = std::max(worst, off);
            }
        CHECK(std::sqrt(squares / static_cast<double>(a.size() * a[0].size())) < 0.05);
        CHECK(worst < 0.5);
        CHECK(std::exp(nats(b) - nats(a)) == Approx(1.0).margin(0.01));
    }
}

TEST_CASE("native: neither grouping, threads nor the file's types change a bit of a row",
          "[computes]") {
    const std::vector<std::int32_t> ids = some_ids(57);
    for (const dtype type : {dtype::q8_0, dtype::q4_0, dtype::q4_1}) {
        const checkpoint& files = quantised_docs(type).files;
        load_options options{precision::native, {.threads = 1, .capacity = 64}, {}};
        transformer one = make_transformer(files, options);
        CHECK(one.kernel_name() == quantised_kernels_for(best_isa()).name);
        const rows expected = score_in_groups(one, ids, 57);
        for (const std::size_t threads : {1U, 3U}) {
            transformer t = one.another_context({.threads = threads, .capacity = 64});
            for (const std::size_t group : {1U, 5U, 16U, 17U}) {
                CAPTURE(name(type), threads, group);
                t.truncate(0);
                REQUIRE(same_bits(score_in_groups(t, ids, group), expected));
            }
        }
    }
}

TEST_CASE("what does not fit leaves the context as it was") {
    transformer t = make(precision::f32, {.capacity = 10});
    CHECK(t.capacity() == 10);
    t.append(some_ids(8));
    CHECK_THROWS_WITH(t.score(some_ids(3)), Contains("prompt: length: expected at most 10"));
    CHECK_THROWS_WITH(t.append(some_ids(3)), Contains("prompt: length"));
    const std::vector<std::int32_t> unknown = {1, 77};
    CHECK_THROWS_WITH(t.score(unknown), Contains("prompt: token 77"));
    const std::vector<std::int32_t> none = {-1};
    CHECK_THROWS_WITH(t.append(none), Contains("prompt: token -1"));
    CHECK(t.size() == 8);
    t.score(some_ids(2));
    CHECK(t.size() == 10);
}

TEST_CASE("a window hides what lies before it, and a longer one nothing") {
    const std::vector<std::int32_t> ids = some_ids(60);
    const auto scored = [&](const nlohmann::json& window, std::size_t from) {
        nlohmann::json mistral{{"architectures", {"MistralForCausalLM"}}};
        mistral["sliding_window"] = window;
        mistral["num_hidden_layers"] = 1;
        toy::checkpoint one(1, false, 1);
        const toy::temporary_folder folder;
        nlohmann::json config = one.config();
        config.update(mistral);
        folder.write("config.json", config.dump());
        folder.write("model.safetensors", one.safetensors());
        transformer t = load_transformer(folder.path(), {precision::f32, {.threads = 1}, {}});
        return score_in_groups(t, {ids.begin() + static_cast<std::ptrdiff_t>(from), ids.end()}, 60);
    };
    const rows all = scored(nullptr, 0);
    CHECK(same_bits(scored(60, 0), all));
    const rows windowed = scored(9, 0);
    for (std::size_t i = 0; i < 60; ++i)
        CHECK((windowed[i] == all[i]) == (i < 9));
    // Of one layer: the last token sees the eight before it, at other positions that turn alike.
    const rows late = scored(nullptr, 51);
    for (std::size_t j = 0; j < 77; ++j)
        CHECK(windowed.back()[j] == Approx(late.back()[j]).margin(1e-5));
}

TEST_CASE("the logical vocabulary is the caller's, and at most the head's rows") {
    CHECK(make(precision::f32, {.vocabulary_size = 70}).vocabulary_size() == 70);
    CHECK(make(precision::f32, {}).vocabulary_size() == 77);
    CHECK_THROWS_WITH(make(precision::f32, {.vocabulary_size = 78}),
                      Contains("vocabulary: ") && Contains("77") && Contains("78"));
}

TEST_CASE("scoring up to `rows` positions keeps the memory of the rows") {
    transformer t = make(precision::bf16, {.rows = 6});
    const float* where = t.logits().data();
    for (int i = 0; i < 5; ++i)
        t.score(some_ids(6));
    CHECK(t.logits().data() == where);
    t.score(some_ids(20));
    CHECK(t.logits().shape(0) == 20);
}

TEST_CASE("contexts that share weights are independent") {
    transformer a = make(precision::bf16, {});
    a.append(some_ids(5));
    transformer b = a.another_context({.threads = 1});
    CHECK(b.size() == 0);
    CHECK(b.weight_bytes().data() == a.weight_bytes().data());
    b.append(some_ids(5));
    CHECK(same_bits(score_in_groups(a, {3, 4}, 2), score_in_groups(b, {3, 4}, 1)));
}

TEST_CASE("what statistics ask for") {
    transformer t = make(precision::bf16, {.threads = 2});
    CHECK(t.number_format() == precision::bf16);
    CHECK(t.weights_name() == "bf16");
    CHECK(make(precision::q8, {}).weights_name() == "Q8_0");
    CHECK(make(precision::native, {}).weights_name() == "f32"); // as the file is
    CHECK(t.kernel_name() == panel_kernels_for<bf16_bits>(best_isa()).name);
    CHECK(t.threads() == 2);
    const std::size_t block = 36 * 36 + 2 * 18 * 36 + 36 * 36 + 3 * 36 * 50 + 2 * 36;
    CHECK(t.parameters() == 2 * block + 36 + 2 * 77 * 36);
    CHECK(t.forward_bytes() < t.weight_bytes().size()); // the embedding is looked up, not read
}
