// SPDX-License-Identifier: MIT
#include <specdec_engine/file/safetensors.hpp>

#include <catch2/catch.hpp>

#include "support/toy_checkpoint.hpp"

using namespace specdec::engine;
using Catch::Contains;
using nlohmann::json;

namespace {

const toy::checkpoint& model() {
    static const toy::checkpoint c;
    return c;
}

template <class Edit>
void require_error(const Edit& edit, const std::string& expected) {
    const std::string text = model().safetensors(edit);
    CHECK_THROWS_WITH(read_safetensors(toy::bytes(text), "m.safetensors"),
                      Contains("m.safetensors: ") && Contains(expected));
}

std::string raw(const std::string& header, const std::string& data = "") {
    std::string out;
    toy::put<std::uint64_t>(out, header.size());
    return out + header + data;
}

} // namespace

TEST_CASE("tensors are views of the file") {
    const std::string text = model().safetensors();
    const std::vector<tensor> tensors = read_safetensors(toy::bytes(text), "m.safetensors");
    REQUIRE(tensors.size() == model().tensors.size());
    for (const tensor& t : tensors) {
        const toy::weights& w = model().tensors.at(t.name);
        CHECK(t.shape == w.shape);
        CHECK(t.type == dtype::f32);
        REQUIRE(t.bytes.size() == 4 * w.values.size());
        CHECK(std::memcmp(t.bytes.data(), w.values.data(), t.bytes.size()) == 0);
    }
}

TEST_CASE("a header that lies is an error that names file, tensor and field") {
    const char* name = "model.norm.weight";
    require_error([&](json& h) { h[name]["dtype"] = "F33"; }, "tensor model.norm.weight dtype");
    require_error([&](json& h) { h[name]["dtype"] = "F64"; }, "model.norm.weight data_offsets");
    require_error([&](json& h) { h[name].erase("dtype"); }, "model.norm.weight dtype");
    require_error([&](json& h) { h[name]["shape"] = {37}; }, "model.norm.weight data_offsets");
    require_error([&](json& h) { h[name]["shape"] = {-36}; }, "model.norm.weight shape");
    require_error([&](json& h) { h[name]["shape"] = "36"; }, "model.norm.weight shape");
    require_error([&](json& h) { h[name]["shape"] = {1ULL << 62, 16}; }, "model.norm.weight shape");
    require_error([&](json& h) { h[name]["data_offsets"] = {0, 1ULL << 60}; }, "data_offsets");
    require_error([&](json& h) { h[name]["data_offsets"] = {8, 4}; }, "data_offsets");
    require_error([&](json& h) { h[name]["data_offsets"] = {0}; }, "data_offsets");
    require_error(
        [&](json& h) {
            h[name]["data_offsets"] = {0, 144};
        },
        "expected bytes of its own, found those of tensor");
    require_error([&](json& h) { h = json::array(); }, "header: expected a JSON object");
    require_error([&](json& h) { h[name] = 1; }, "model.norm.weight");
}

TEST_CASE("bytes that are no safetensors file are errors") {
    const auto read = [](const std::string& text) {
        return read_safetensors(toy::bytes(text), "x");
    };
    CHECK_THROWS_WITH(read(""), Contains("x: header length"));
    CHECK_THROWS_WITH(read("1234567"), Contains("x: header length"));
    CHECK_THROWS_WITH(read(raw("{}").substr(0, 9)), Contains("x: header"));
    CHECK_THROWS_WITH(read(std::string(8, '\xFF')), Contains("x: header"));
    CHECK_THROWS_WITH(read(raw("{")), Contains("x: header: expected JSON"));
    CHECK_THROWS_WITH(read(raw(std::string(100000, '['))), Contains("x: header"));
    CHECK_THROWS_WITH(read(raw("{\"a\xff\": 1}")), Contains("x: header"));
    const std::string empty = R"({"dtype": "F32", "shape": [0], "data_offsets": [0, 0]})";
    CHECK_THROWS_WITH(
        read(raw(R"({"a": )" + empty + R"(, "b": )" + empty + R"(, "a": )" + empty + "}")),
        Contains("x: tensor a: expected it once in the header, found it twice"));
    CHECK(read(raw(R"({"a": )" + empty + R"(, "b": )" + empty + "}")).size() == 2);
    CHECK(read(raw("{}")).empty());
}

TEST_CASE("every truncation of a file is an error or the whole header") {
    const std::string text = model().safetensors();
    for (std::size_t n = 0; n < text.size(); n += 41)
        CHECK_THROWS_AS(read_safetensors(toy::bytes(text.substr(0, n)), "x"), specdec::error);
}

TEST_CASE("a header of 50,000 tensors is read in linear time") {
    std::string header = R"({"__metadata__": {"format": "pt"})";
    for (std::size_t i = 0; i < 50'000; ++i)
        header += ", \"model.layers." + std::to_string(i) +
                  R"(.weight": {"dtype": "F32", "shape": [0], "data_offsets": [0, 0]})";
    CHECK(read_safetensors(toy::bytes(raw(header + "}")), "x").size() == 50'000);
}

TEST_CASE("the index names the shard of each tensor, and only files beside it") {
    using shards = std::map<std::string, std::string>;
    CHECK(tensor_shards(R"({"weight_map": {"a": "2", "b": "1", "c": "2"}})", "i.json") ==
          shards{{"a", "2"}, {"b", "1"}, {"c", "2"}});
    CHECK_THROWS_WITH(tensor_shards(R"({"weight_map": {"a": "../x"}})", "i.json"),
                      Contains("i.json: weight_map.a"));
    CHECK_THROWS_WITH(tensor_shards(R"({"weight_map": {"a": 1}})", "i.json"),
                      Contains("i.json: weight_map.a"));
    CHECK_THROWS_WITH(tensor_shards("{}", "i.json"), Contains("i.json: weight_map"));
}
