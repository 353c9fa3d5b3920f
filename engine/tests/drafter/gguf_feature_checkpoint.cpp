// SPDX-License-Identifier: MIT
#include <specdec_engine/drafter/gguf_feature_checkpoint.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "drafter_forms.hpp"
#include <specdec_engine/drafter/feature_body.hpp>
#include <specdec_engine/model.hpp>

namespace gguf_feature_checkpoint_tests {

using namespace specdec;
using namespace specdec::engine;
using namespace drafter_forms;
using Catch::Contains;

constexpr auto three = feature_kind::low_mid_high;

/// EAGLE-3's form as a GGUF file of the eagle3 architecture.
struct eagle3_gguf {
    drafter_files files{three};
    std::vector<std::int64_t> ids{0, 7, 8, 30, 76}; ///< d2t
    std::vector<std::size_t> layers{0, 1, 0};
    std::string architecture = "eagle3", layers_key = "target_layers";
    feature_norms norms;
    bool fc_norm = false;
    std::size_t target_width = 36;

    static void put_bool(std::string& out, const std::string& key, bool value) {
        toy::put_string(out, key);
        toy::put<std::uint32_t>(out, 7);
        out += value ? '\1' : '\0';
    }
    static std::string name_of(std::string name) {
        if (name == "norm.weight")
            return "output_norm.weight";
        if (name == "input_norm.weight")
            return "enc.output_norm.weight";
        if (name == "midlayer.hidden_norm.weight")
            return "blk.0.attn_norm_2.weight";
        if (name == "embed_tokens.weight")
            return "token_embd.weight";
        if (name.starts_with("midlayer."))
            name = "model.layers.0." + name.substr(9);
        return toy::gguf_name(name);
    }
    [[nodiscard]] std::string bytes() const {
        std::string out = "GGUF";
        toy::put<std::uint32_t>(out, 3);
        toy::put<std::uint64_t>(out, files.of.tensors.size() + 1);
        toy::put<std::uint64_t>(out, 16);
        toy::put_string(out, "general.architecture");
        toy::put<std::uint32_t>(out, 8);
        toy::put_string(out, architecture);
        for (const auto& [key, value] : std::vector<std::pair<std::string, std::size_t>>{
                 {"embedding_length", 36},
                 {"block_count", 1},
                 {"attention.head_count", 6},
                 {"attention.head_count_kv", 3},
                 {"attention.key_length", 6},
                 {"feed_forward_length", files.of.hidden},
                 {"context_length", 64},
                 {"vocab_size", 77},
                 {"target_hidden_size", target_width}})
            toy::put_u32(out, "eagle3." + key, value);
        toy::put_f32(out, "eagle3.attention.layer_norm_rms_epsilon", 1e-5F);
        put_bool(out, "eagle3.norm_before_residual", norms.before_residual);
        put_bool(out, "eagle3.norm_before_fc", norms.before_fc == fuse_norm::whole);
        put_bool(out, "eagle3.fc_norm", fc_norm);
        put_bool(out, "eagle3.norm_output", norms.output);
        toy::put_string(out, "eagle3." + layers_key);
        toy::put<std::uint32_t>(out, 9);
        toy::put<std::uint32_t>(out, 5);
        toy::put<std::uint64_t>(out, layers.size());
        for (const std::size_t layer : layers)
            toy::put(out, static_cast<std::int32_t>(layer));
        std::string data;
        const auto entry = [&](const std::string& name, std::vector<std::size_t> shape,
                               std::uint32_t type) {
            toy::put_string(out, name);
            toy::put(out, static_cast<std::uint32_t>(shape.size()));
            for (std::size_t a = shape.size(); a-- > 0;)
                toy::put<std::uint64_t>(out, shape[a]);
            toy::put(out, type);
            data.resize((data.size() + 31) / 32 * 32);
            toy::put<std::uint64_t>(out, data.size());
        };
        for (const auto& [name, w] : files.of.tensors) {
            entry(name_of(name), w.shape, 0);
            const bool turned =
                name.find("q_proj") != name.npos || name.find("k_proj") != name.npos;
            for (const float v : turned ? files.of.interleaved(w) : w.values)
                toy::put(data, v);
        }
        entry("d2t", {ids.size()}, 27);
        for (const std::int64_t id : ids)
            toy::put(data, id);
        out.resize((out.size() + 31) / 32 * 32);
        return out + data;
    }
    [[nodiscard]] std::filesystem::path write(const toy::temporary_folder& folder) const {
        folder.write("drafter.gguf", bytes());
        return folder.path() / "drafter.gguf";
    }
};

/// What a body says of three places and of one with its own feature, and its head's tokens.
struct answers {
    std::vector<doubles> rows;
    std::vector<draft_id> kept;
};
answers ask(const std::filesystem::path& path) {
    model<target_id> target(make_target(three, precision::f32));
    target.append(std::vector{target_id{3}, target_id{70}, target_id{12}, target_id{40}});
    feature_body body = load_feature_body(path, target.engine());
    const std::vector<draft_id> ids{draft_id{70}, draft_id{12}, draft_id{40}};
    answers found;
    const body_output first = body.read(0, ids, {target.features().middle(0, 3), false});
    const doubles own = numbers(first.own[2]);
    for (std::size_t i = 0; i < 3; ++i)
        found.rows.push_back(numbers(first.states[i]));
    const std::vector<float> fed(own.begin(), own.end());
    const draft_id next{55};
    found.rows.push_back(
        numbers(body.read(0, {&next, 1}, {{fed.data(), 1, 36, 36}, true}).states[0]));
    REQUIRE(body.kept() != nullptr);
    found.kept.assign(body.kept()->ids().begin(), body.kept()->ids().end());
    return found;
}

TEST_CASE("speculators' folder and llama.cpp's file are the drafter that EAGLE's folder is") {
    const toy::temporary_folder eagle, speculators, gguf;
    drafter_files(three).write(eagle);
    speculators_files().write(speculators);
    const std::filesystem::path file = eagle3_gguf().write(gguf);
    CHECK(is_feature_drafter(eagle.path()));
    CHECK(is_feature_drafter(speculators.path()));
    CHECK(is_feature_drafter(file));
    const answers expected = ask(eagle.path());
    for (const std::filesystem::path& path : {speculators.path(), file}) {
        const answers found = ask(path);
        CHECK(found.kept == expected.kept);
        for (std::size_t i = 0; i < 4; ++i)
            check_near(found.rows[i], expected.rows[i], 1e-5);
    }
    drafter_files embedding(three);
    embedding.add_embedding();
    embedding.write(eagle);
    speculators_files own;
    own.config["embed_requires_grad"] = true;
    own.files.add_embedding();
    own.write(speculators);
    eagle3_gguf own_file;
    own_file.files.add_embedding();
    const answers others = ask(eagle.path());
    CHECK(others.rows[0] != expected.rows[0]);
    for (const std::filesystem::path& path : {speculators.path(), own_file.write(gguf)})
        for (std::size_t i = 0; i < 4; ++i)
            check_near(ask(path).rows[i], others.rows[i], 1e-5);
    eagle3_gguf older;
    older.layers_key = "extract_layers";
    CHECK(ask(older.write(gguf)).kept == expected.kept);
}

TEST_CASE("the block adds to the normed feature where the file says so") {
    const toy::checkpoint target_files;
    drafter_files files(three);
    files.set({.before_residual = true});
    model<target_id> target(make_target(three, precision::f32));
    target.append(std::vector{target_id{3}, target_id{70}, target_id{12}, target_id{40}});
    std::vector<place> places;
    for (std::size_t i = 0; i < 3; ++i)
        places.push_back({std::vector{70, 12, 40}[i], numbers(target.features()[i]), false});
    const auto [state, own] = oracle(files, target_files, places);
    places.push_back({55, own, true});
    const auto [later, unused] = oracle(files, target_files, places);

    const toy::temporary_folder speculators, gguf;
    speculators_files({.before_residual = true}).write(speculators);
    eagle3_gguf normed;
    normed.norms.before_residual = true;
    for (const std::filesystem::path& path : {speculators.path(), normed.write(gguf)}) {
        const answers found = ask(path);
        check_near(found.rows[2], state, 2e-5);
        check_near(found.rows[3], later, 1e-4);
    }
    const toy::temporary_folder other;
    speculators_files().write(other);
    CHECK(ask(other.path()).rows[2] != ask(speculators.path()).rows[2]);
}

TEST_CASE("EAGLE 3.1's norms are read from speculators' folder and llama.cpp's file") {
    const toy::temporary_folder eagle, speculators, gguf;
    for (const fuse_norm before_fc : {fuse_norm::whole, fuse_norm::each})
        for (const bool output : {false, true}) {
            const feature_norms norms{before_fc, true, output};
            drafter_files files(three);
            files.set(norms);
            files.write(eagle);
            const answers expected = ask(eagle.path());
            speculators_files(norms).write(speculators);
            std::vector<std::filesystem::path> paths{speculators.path()};
            if (before_fc == fuse_norm::whole) {
                eagle3_gguf file;
                file.files = files;
                file.norms = norms;
                paths.push_back(file.write(gguf));
            }
            for (const std::filesystem::path& path : paths)
                for (std::size_t i = 0; i < 4; ++i)
                    check_near(ask(path).rows[i], expected.rows[i], 1e-5);
        }
}

TEST_CASE(
    "what a file of the eagle3 architecture asks for and is not computed is refused by name") {
    const transformer target = make_target(three, precision::f32);
    const toy::temporary_folder folder;
    const auto refused = [&](const std::function<void(eagle3_gguf&)>& edit,
                             const std::string& field, const std::string& expected) {
        eagle3_gguf file;
        edit(file);
        CHECK_THROWS_WITH(load_feature_body(file.write(folder), target),
                          Contains("drafter.gguf: ") && Contains(field) && Contains(expected));
    };
    refused([](auto& f) { f.norms.before_fc = fuse_norm::whole; }, "tensor enc.output_norm.weight",
            "missing");
    refused([](auto& f) { f.files.set({.before_fc = fuse_norm::whole}); },
            "tensor enc.output_norm.weight", "expected no tensor beyond");
    refused([](auto& f) { f.fc_norm = true; }, "eagle3.fc_norm",
            "expected false: the format has no tensors for it");
    refused([](auto& f) { f.target_width = 72; }, "eagle3.target_hidden_size",
            "expected the drafter's 36");
    refused(
        [](auto& f) {
            f.layers = {0, 1};
        },
        "eagle3.target_layers", "expected 3 layers, found 2");
    refused(
        [](auto& f) {
            f.layers = {0, 1, 1};
        },
        "layers whose input is read", "[0, 1, 0], found [0, 1, 1]");
    refused([](auto& f) { f.layers_key = "other_layers"; }, "eagle3.target_layers",
            "it is missing");
    refused([](auto& f) { f.ids = {0, 7, 8, 30, 77}; }, "tensor d2t", "below 77, found 77");
    refused([](auto& f) { f.ids = {0, 7, 7, 30, 76}; }, "", "ascend");
    refused([](auto& f) { f.ids = {0, 7, 8}; }, "tensor output.weight", "expected shape [3, 36]");
    refused([](auto& f) { f.files.of.tensors.erase("lm_head.weight"); }, "tensor output.weight",
            "the target's head is not supported");
    for (const auto& [name, w] : drafter_files(three).of.tensors)
        if (name != "lm_head.weight")
            refused([&](auto& f) { f.files.of.tensors.erase(name); },
                    "tensor " + eagle3_gguf::name_of(name) + ": ", "missing");
    refused(
        [](auto& f) {
            f.files.of.tensors["embed_tokens.weight"] = {{77, 35}, std::vector<float>(77 * 35)};
        },
        "tensor token_embd.weight", "expected shape [77, 36]");
    refused(
        [](auto& f) {
            f.files.of.tensors["fc.bias"] = {{36}, std::vector<float>(36)};
        },
        "tensor fc.bias", "of the eagle3 architecture");
    eagle3_gguf llama;
    llama.architecture = "llamas";
    CHECK_FALSE(is_feature_drafter(llama.write(folder)));
    CHECK_THROWS_WITH(open_feature_drafter(llama.write(folder)), Contains("expected eagle3"));
    CHECK_FALSE(is_feature_drafter(folder.path() / "none.gguf"));
    std::string cut = eagle3_gguf().bytes();
    cut.resize(cut.size() - 8);
    folder.write("cut.gguf", cut);
    CHECK_THROWS_WITH(open_feature_drafter(folder.path() / "cut.gguf"),
                      Contains("tensor d2t") && Contains("does not fit"));
}

} // namespace gguf_feature_checkpoint_tests
