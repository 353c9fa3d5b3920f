// SPDX-License-Identifier: MIT
#include <specdec_engine/load.hpp>

#include <cmath>
#include <fstream>
#include <vector>

#include <catch2/catch.hpp>

#include "support/quantised_rows.hpp"
#include "support/scores.hpp"
#include "support/toy_checkpoint.hpp"

using namespace specdec::engine;
using Catch::Contains;

namespace {

const load_options full = {precision::f32, {}, {}};

std::filesystem::path write_folder(const toy::temporary_folder& folder,
                                   const nlohmann::json& config, const std::string& weights) {
    folder.write("config.json", config.dump());
    folder.write("model.safetensors", weights);
    return folder.path();
}

std::vector<float> read_floats(const std::string& path, std::size_t n) {
    std::vector<float> values(n);
    std::ifstream file(path, std::ios::binary);
    file.read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(4 * n));
    REQUIRE(file);
    return values;
}

const std::vector<std::int32_t> ids = {1, 5, 9, 33, 76, 0, 12};

} // namespace

TEST_CASE("Transformers' logits of small checkpoints") {
    const std::string golden = SPECDEC_SOURCE_DIR "/tests/golden/";
    for (const std::string name : {"llama", "llama-bf16", "llama-f16-sharded", "llama3", "mistral",
                                   "mistral-window", "qwen2", "qwen3", "gemma3", "smollm3"}) {
        CAPTURE(name);
        std::ifstream file(golden + name + "/ids.json");
        const auto given = nlohmann::json::parse(file).get<std::vector<std::int32_t>>();
        for (const isa set : {isa::portable, isa::avx2, isa::avx512}) {
            if (set > best_isa())
                continue;
            load_options options = full;
            options.context.instructions = set;
            transformer t = load_transformer(golden + name, options);
            const std::vector<float> found = scores(t, given);
            const std::vector<float> expected =
                read_floats(golden + name + "/logits.f32", found.size());
            float worst = 0.0F;
            for (std::size_t i = 0; i < found.size(); ++i)
                worst = std::max(worst, std::abs(found[i] - expected[i]));
            CHECK(worst < 1e-4F);
        }
    }
}

TEST_CASE("stories260k: golden logits and greedy ids") {
    const std::string folder = std::string(SPECDEC_SHARED_DIR) + "/models/stories260k/";
    if (!std::filesystem::exists(folder + "stories260K.bin")) {
        WARN("skipped: no ../shared/models/stories260k");
        return;
    }
    transformer t = load_transformer(folder + "stories260K.bin", full);
    CHECK(t.parameters() == 260032);
    std::vector<std::int32_t> golden;
    std::ifstream file(folder + "greedy.ids.txt");
    for (std::int32_t id = 0; file >> id;)
        golden.push_back(id);
    REQUIRE(golden.size() == 258);

    const std::vector<float> expected = read_floats(folder + "logits.first16.f32", 16 * 512);
    const std::vector<float> found = scores(t, {golden.begin(), golden.begin() + 16});
    for (std::size_t i = 0; i < found.size(); ++i)
        REQUIRE(found[i] == Approx(expected[i]).epsilon(0).margin(1e-4));

    t.truncate(0);
    std::vector<std::int32_t> greedy = {1};
    while (greedy.size() < golden.size()) {
        const std::vector<float> row = scores(t, {greedy.back()});
        greedy.push_back(
            static_cast<std::int32_t>(std::max_element(row.begin(), row.end()) - row.begin()));
    }
    CHECK(greedy == golden);
}

TEST_CASE("the same weights from three formats give the same bits") {
    const toy::temporary_folder folder;
    for (const bool tied : {false, true}) {
        const toy::checkpoint toy_model(3, tied);
        transformer hf = load_transformer(
            write_folder(folder, toy_model.config(), toy_model.safetensors()), full);
        transformer gguf = load_transformer(folder.write("m.gguf", toy_model.gguf()), full);
        transformer llama2c = load_transformer(folder.write("m.bin", toy_model.llama2c()), full);
        const std::vector<float> expected = scores(hf, ids);
        CHECK(scores(gguf, ids) == expected);
        CHECK(scores(llama2c, ids) == expected);
    }
}

TEST_CASE("a file of 5 bits or of K-quants is computed in its own numbers, in BF16 or in Q8_0") {
    struct kind {
        dtype type;
        std::uint32_t number; ///< in GGUF
        std::vector<std::size_t> factors;
    };
    const toy::temporary_folder folder;
    std::minstd_rand random(5);
    for (const kind& k :
         {kind{dtype::q5_0, 6, {0}}, kind{dtype::q5_1, 7, {0, 2}}, kind{dtype::q2_k, 10, {80, 82}},
          kind{dtype::q3_k, 11, {108}}, kind{dtype::q4_k, 12, {0, 2}},
          kind{dtype::q5_k, 13, {0, 2}}, kind{dtype::q6_k, 14, {208}}}) {
        CAPTURE(name(k.type));
        toy::checkpoint stored(4, false, 2, 256, 512);
        for (auto& [name, w] : stored.tensors) { // q and k have their rows in another order
            if (w.shape.size() != 2 || w.shape[1] % 256 != 0 || name.find("q_proj") != name.npos ||
                name.find("k_proj") != name.npos)
                continue;
            for (std::size_t r = 0; r < w.shape[0]; ++r) {
                const std::vector<std::byte> row =
                    toy::random_blocks(k.type, w.shape[1], k.factors, random);
                w.bytes.append(reinterpret_cast<const char*>(row.data()), row.size());
                read_row({"", name, k.type, "", {w.shape[1]}, row}, 0,
                         std::span(w.values).subspan(r * w.shape[1], w.shape[1]));
            }
            w.type = k.number;
        }
        const auto path = folder.write("k.gguf", stored.gguf());
        transformer own = load_transformer(path, full);
        transformer rounded = load_transformer(path, {precision::bf16, {}, {}});
        transformer made = load_transformer(path, {precision::native, {}, {}});
        transformer chosen = load_transformer(path, {precision::automatic, {}, {}});
        for (auto& [name, w] : stored.tensors)
            w.type = 0, w.bytes.clear();
        transformer plain = load_transformer(folder.write("f.gguf", stored.gguf()), full);
        const std::vector<float> expected = scores(plain, ids);
        CHECK(scores(own, ids) == expected);
        CHECK(made.weights_name() == "Q8_0");
        CHECK(rounded.weights_name() == "bf16");
        CHECK(chosen.weights_name() == (best_isa() == isa::portable ? "bf16" : "Q8_0"));
        double size = 0;
        for (const float x : expected)
            size += double{x} * double{x};
        size = std::sqrt(size / static_cast<double>(expected.size()));
        for (transformer* near : {&rounded, &made}) {
            const std::vector<float> found = scores(*near, ids);
            double off = 0;
            for (std::size_t i = 0; i < found.size(); ++i)
                off += std::pow(double{found[i]} - double{expected[i]}, 2);
            CHECK(std::sqrt(off / static_cast<double>(found.size())) < 0.05 * size);
        }
    }
}

TEST_CASE("tensors that disagree with the configuration are named") {
    const toy::temporary_folder folder;
    const toy::checkpoint good;
    const auto fails = [&](const nlohmann::json& config, const std::string& weights,
                           const std::string& expected) {
        CHECK_THROWS_WITH(load_transformer(write_folder(folder, config, weights)),
                          Contains("model.safetensors: ") && Contains(expected));
    };
    const auto without = [&](const char* name) {
        toy::checkpoint c;
        c.tensors.erase(name);
        return c.safetensors();
    };
    CHECK_THROWS_WITH(
        load_transformer(write_folder(folder, good.config(), without("model.norm.weight"))),
        Contains("tensor model.norm.weight: ") && Contains("missing"));
    CHECK_THROWS_WITH(load_transformer(write_folder(folder, good.config(),
                                                    without("model.layers.1.mlp.up_proj.weight"))),
                      Contains("model.layers.1.mlp.up_proj.weight"));
    nlohmann::json config = good.config();
    config["intermediate_size"] = 51;
    fails(config, good.safetensors(), "mlp.gate_proj.weight: expected shape [51, 36]");
    config = good.config();
    config["vocab_size"] = 1 << 23; // checked before memory is taken
    fails(config, good.safetensors(), "embed_tokens.weight: expected shape");
    config = good.config();
    config["num_hidden_layers"] = 3;
    CHECK_THROWS_WITH(load_transformer(write_folder(folder, config, good.safetensors())),
                      Contains("model.layers.2."));
    const std::string integers =
        good.safetensors([](nlohmann::json& h) { h["model.norm.weight"]["dtype"] = "I32"; });
    fails(good.config(), integers, "model.norm.weight: expected F32");
}

TEST_CASE("a tensor of shards is in the one that the index names, or both are named") {
    const toy::temporary_folder folder;
    const toy::checkpoint whole;
    const std::string shards[] = {"model-00001-of-00002.safetensors",
                                  "model-00002-of-00002.safetensors"};
    nlohmann::json index;
    toy::checkpoint parts[2];
    for (toy::checkpoint& part : parts)
        part.tensors.clear();
    std::size_t i = 0;
    for (const auto& [name, w] : whole.tensors) {
        parts[i % 2].tensors[name] = w;
        index["weight_map"][name] = shards[i++ % 2];
    }
    folder.write("config.json", whole.config().dump());
    for (std::size_t s = 0; s < 2; ++s)
        folder.write(shards[s], parts[s].safetensors());
    folder.write("model.safetensors.index.json", index.dump());
    transformer from_shards = load_transformer(folder.path(), full);
    const toy::temporary_folder other;
    transformer from_one =
        load_transformer(write_folder(other, whole.config(), whole.safetensors()), full);
    CHECK(scores(from_shards, ids) == scores(from_one, ids));
    for (const auto& [name, w] : whole.tensors) {
        const std::string shard = index["weight_map"][name];
        const std::string wrong = shard == shards[0] ? shards[1] : shards[0];
        index["weight_map"][name] = wrong;
        folder.write("model.safetensors.index.json", index.dump());
        CHECK_THROWS_WITH(
            open_checkpoint(folder.path()),
            Contains(shard + ": tensor " + name + ": expected in " + wrong + ", as ") &&
                Contains("model.safetensors.index.json says"));
        index["weight_map"][name] = shard;
    }
}

TEST_CASE("tensors beyond the configuration's are refused by file and tensor, in every format") {
    const toy::temporary_folder folder;
    const auto refused = [&](const toy::checkpoint& c, const std::string& name,
                             bool of_llama = true) {
        const std::string why = ": expected no tensor beyond those of the configuration, of 2 ";
        CHECK_THROWS_WITH(load_transformer(write_folder(folder, c.config(), c.safetensors())),
                          Contains("model.safetensors: tensor " + name + why));
        CHECK_THROWS_WITH(load_transformer(folder.write("m.gguf", c.gguf())),
                          Contains("m.gguf: tensor " + toy::gguf_name(name) +
                                   (of_llama ? why : ": expected a tensor of the llama")));
    };
    toy::checkpoint deeper(1, false, 32);
    deeper.layers = 2;
    refused(deeper, "model.layers.10.input_layernorm.weight"); // the first by name
    const auto with = [](const std::string& name) {
        toy::checkpoint c;
        c.tensors[name] = {{c.dimension}, std::vector<float>(c.dimension, 1)};
        return c;
    };
    for (const char* name :
         {"model.layers.2.self_attn.q_proj.weight", "model.layers.01.input_layernorm.weight"})
        refused(with(name), name);
    for (const char* name :
         {"model.layers.1.self_attn.o_proj.bias", "model.layers.1.self_attn.q_norm.weight",
          "model.layers.1.self_attn.k_proj.bias", "exits.0.norm.weight", "norm.weight",
          "lm_head.bias"})
        refused(with(name), name, std::string(name).ends_with("k_proj.bias")); // GGUF has such

    // What models compute by themselves, older files have, too; and the embedding twice.
    toy::checkpoint more(3, true);
    more.tensors["lm_head.weight"] = more.tensors.at("model.embed_tokens.weight");
    for (const char* name : {"model.layers.1.self_attn.rotary_emb.inv_freq",
                             "model.rotary_emb.inv_freq", "model.layers.0.self_attn.masked_bias"})
        more.tensors[name] = {{3}, {1, 2, 3}};
    transformer with_more =
        load_transformer(write_folder(folder, more.config(), more.safetensors()), full);
    const std::vector<float> found = scores(with_more, ids);
    const toy::checkpoint plain(3, true);
    transformer without =
        load_transformer(write_folder(folder, plain.config(), plain.safetensors()), full);
    CHECK(found == scores(without, ids));

    // A head that is another one is the model's, as Transformers has it.
    toy::checkpoint own(3);
    nlohmann::json config = own.config();
    transformer untied = load_transformer(write_folder(folder, config, own.safetensors()), full);
    config["tie_word_embeddings"] = true;
    transformer said = load_transformer(write_folder(folder, config, own.safetensors()), full);
    CHECK(scores(said, ids) == scores(untied, ids));
}

TEST_CASE("weights that are not finite are refused by file and tensor, in every format") {
    const toy::temporary_folder folder;
    const toy::checkpoint good;
    const auto fails = [&](const toy::checkpoint& broken, const std::string& name,
                           const load_options& options) {
        const auto named = [&](const std::string& file, const std::string& tensor) {
            return Contains(file + ": tensor " + tensor + ": expected finite numbers");
        };
        CHECK_THROWS_WITH(
            load_transformer(write_folder(folder, broken.config(), broken.safetensors()), options),
            named("model.safetensors", name));
        CHECK_THROWS_WITH(load_transformer(folder.write("m.gguf", broken.gguf()), options),
                          named("m.gguf", toy::gguf_name(name)));
        CHECK_THROWS_WITH(load_transformer(folder.write("m.bin", broken.llama2c()), options),
                          named("m.bin", name));
    };
    std::size_t turn = 0;
    for (const auto& [name, w] : good.tensors)
        for (const float bad : {std::nanf(""), -std::nanf(""), __builtin_inff()}) {
            toy::checkpoint broken;
            std::vector<float>& values = broken.tensors[name].values;
            values[turn++ * 7919 % values.size()] = bad;
            load_options options = turn % 2 == 0 ? full : load_options{};
            options.context.threads = 1 + turn / 2 % 2;
            fails(broken, name, options);
        }
    toy::checkpoint large; // finite, but not in BF16
    large.tensors["lm_head.weight"].values[5] = -3.4e38F;
    fails(large, "lm_head.weight", {});
    write_folder(folder, large.config(), large.safetensors());
    CHECK_NOTHROW(load_transformer(folder.path(), full));
    large.tensors["lm_head.weight"].values[5] = largest_in_bf16;
    write_folder(folder, large.config(), large.safetensors());
    CHECK_NOTHROW(load_transformer(folder.path()));
}

TEST_CASE("bit flips in a header give an error or a model, never a crash") {
    const toy::temporary_folder folder;
    const toy::checkpoint good;
    const std::string weights = good.safetensors();
    const std::string gguf = good.gguf();
    std::size_t refused = 0;
    for (std::size_t i = 0; i < 400; ++i) {
        std::string hf_text = weights;
        std::string gguf_text = gguf;
        hf_text[i * 5 % 1900] ^= static_cast<char>(1 << (i % 8));
        gguf_text[i * 3 % 1200] ^= static_cast<char>(1 << (i % 8));
        for (const auto& path :
             {write_folder(folder, good.config(), hf_text), folder.write("m.gguf", gguf_text)}) {
            try {
                load_options options = full;
                options.context.capacity = 8;
                options.context.threads = 1;
                transformer t = load_transformer(path, options);
                t.score(std::vector<std::int32_t>{1, 2});
            } catch (const specdec::error&) {
                ++refused;
            }
        }
    }
    CHECK(refused > 400);
}

TEST_CASE("paths that are no model") {
    const toy::temporary_folder folder;
    CHECK_THROWS_WITH(load_transformer(folder.path()), Contains("config.json"));
    CHECK_THROWS_WITH(load_transformer(folder.path() / "none.gguf"), Contains("none.gguf: file"));
    CHECK_THROWS_WITH(load_transformer(folder.write("a.txt", "text")),
                      Contains("a.txt: file: expected a Hugging Face folder"));
    folder.write("config.json", toy::checkpoint().config().dump());
    CHECK_THROWS_WITH(load_transformer(folder.path()), Contains("model.safetensors: file"));
}

TEST_CASE("progress goes from 0 to 1") {
    const toy::temporary_folder folder;
    load_options options;
    std::vector<double> seen;
    options.progress = [&](double fraction) { seen.push_back(fraction); };
    const transformer t =
        load_transformer(folder.write("m.gguf", toy::checkpoint().gguf()), options);
    REQUIRE(seen.size() > 2);
    CHECK(seen.front() == 0.0);
    CHECK(seen.back() == 1.0);
    CHECK(std::is_sorted(seen.begin(), seen.end()));
}
