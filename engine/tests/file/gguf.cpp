// SPDX-License-Identifier: MIT
#include <specdec_engine/file/gguf.hpp>

#include <cstring>

#include <catch2/catch.hpp>

#include "support/toy_checkpoint.hpp"

using namespace specdec::engine;
using Catch::Contains;

namespace {

/// A file with one metadata pair of the given type and payload and no tensors.
std::string one_pair(std::uint32_t type, const std::string& payload, std::uint64_t pairs = 1) {
    std::string out = "GGUF";
    toy::put<std::uint32_t>(out, 3);
    toy::put<std::uint64_t>(out, 0);
    toy::put(out, pairs);
    toy::put_string(out, "key");
    toy::put(out, type);
    return out + payload;
}

template <class... T>
std::string packed(T... values) {
    std::string out;
    (toy::put(out, values), ...);
    return out;
}

/// One tensor entry behind no metadata.
std::string one_tensor(std::vector<std::uint64_t> shape, std::uint32_t type, std::uint64_t offset,
                       std::size_t data) {
    std::string out = "GGUF";
    toy::put<std::uint32_t>(out, 3);
    toy::put<std::uint64_t>(out, 1);
    toy::put<std::uint64_t>(out, 0);
    toy::put_string(out, "t");
    toy::put(out, static_cast<std::uint32_t>(shape.size()));
    for (const std::uint64_t n : shape)
        toy::put(out, n);
    toy::put(out, type);
    toy::put(out, offset);
    out.resize((out.size() + 31) / 32 * 32);
    return out + std::string(data, '\0');
}

gguf_file read(const std::string& text) {
    return {toy::bytes(text), "f.gguf"};
}

} // namespace

TEST_CASE("metadata values have their types") {
    const std::string text = one_pair(10, packed(std::uint64_t{7}));
    const gguf_file file = read(text);
    CHECK(file.at("key").integer() == 7);
    CHECK(file.at("key").number() == 7.0);
    CHECK_THROWS_WITH(file.at("key").string(), Contains("f.gguf: key: expected a string"));
    CHECK_THROWS_WITH(file.at("key").boolean(), Contains("f.gguf: key"));
    CHECK_THROWS_WITH(file.at("key").strings(), Contains("f.gguf: key"));
    CHECK_THROWS_WITH(file.at("key").floats(), Contains("f.gguf: key"));
    CHECK(file.find("other") == nullptr);
    CHECK_THROWS_WITH(file.at("other"), Contains("f.gguf: other: "));

    const std::string f32 = one_pair(6, packed(0.5F));
    CHECK(read(f32).at("key").number() == 0.5);
    CHECK_THROWS_AS(read(f32).at("key").integer(), specdec::error);
    const std::string yes = one_pair(7, packed(std::uint8_t{1}));
    CHECK(read(yes).at("key").boolean());
    const std::string negative = one_pair(1, packed(std::int8_t{-3}));
    CHECK(read(negative).at("key").integer() == -3);
    const std::string huge = one_pair(10, packed(~std::uint64_t{0}));
    CHECK_THROWS_AS(read(huge).at("key").integer(), specdec::error);
}

TEST_CASE("arrays of strings and numbers") {
    std::string payload = packed(std::uint32_t{8}, std::uint64_t{3});
    for (const char* s : {"one", "", "three"})
        toy::put_string(payload, s);
    const std::string strings = one_pair(9, payload);
    const gguf_file file = read(strings);
    CHECK(file.at("key").size() == 3);
    CHECK(file.at("key").strings() == std::vector<std::string_view>{"one", "", "three"});
    CHECK_THROWS_AS(file.at("key").floats(), specdec::error);

    const std::string none = one_pair(9, packed(std::uint32_t{8}, std::uint64_t{0}));
    CHECK(read(none).at("key").strings().empty());
    const std::string floats = one_pair(9, packed(std::uint32_t{6}, std::uint64_t{2}, 1.5F, -2.0F));
    CHECK(read(floats).at("key").floats() == std::vector<float>{1.5F, -2.0F});
    const std::string ints = one_pair(9, packed(std::uint32_t{5}, std::uint64_t{2}, 4, -5));
    CHECK(read(ints).at("key").integers() == std::vector<std::int64_t>{4, -5});
}

TEST_CASE("counts, lengths and types are checked before use") {
    CHECK_THROWS_WITH(read("GGUX"), Contains("f.gguf: magic"));
    CHECK_THROWS_WITH(read(""), Contains("f.gguf: magic"));
    CHECK_THROWS_WITH(read(std::string("GGUF\1\0\0\0", 8)), Contains("f.gguf: version"));
    CHECK_THROWS_WITH(read(one_pair(4, packed(1), 1ULL << 60)), Contains("f.gguf: metadata count"));
    CHECK_THROWS_WITH(read(one_pair(4, packed(1), 2)), Contains("f.gguf: "));
    CHECK_THROWS_WITH(read(one_pair(13, packed(1))), Contains("f.gguf: key"));
    CHECK_THROWS_WITH(read(one_pair(8, packed(~std::uint64_t{0}))), Contains("f.gguf: key"));
    CHECK_THROWS_WITH(read(one_pair(9, packed(std::uint32_t{6}, 1ULL << 62))),
                      Contains("f.gguf: key"));
    CHECK_THROWS_WITH(read(one_pair(9, packed(std::uint32_t{8}, 1ULL << 61))),
                      Contains("f.gguf: key"));
    CHECK_THROWS_WITH(read(one_pair(9, packed(std::uint32_t{9}, std::uint64_t{0}))),
                      Contains("not of arrays"));
}

TEST_CASE("tensors: shapes are reversed, places are checked") {
    const std::string good = one_tensor({32, 2}, 8, 0, 68);
    const gguf_file file = read(good);
    REQUIRE(file.tensors().size() == 1);
    CHECK(file.tensors()[0].shape == std::vector<std::size_t>{2, 32});
    CHECK(file.tensors()[0].type == dtype::q8_0);
    CHECK(file.tensors()[0].bytes.size() == 68);

    const auto fails = [](const std::string& text) {
        CHECK_THROWS_WITH(read(text), Contains("f.gguf: tensor t"));
    };
    fails(one_tensor({32, 2}, 8, 0, 67));
    fails(one_tensor({32, 2}, 8, 32, 68));
    fails(one_tensor({32, 2}, 8, 3, 100));
    fails(one_tensor({32, 2}, 8, ~std::uint64_t{31}, 100));
    fails(one_tensor({33, 2}, 8, 0, 1000));
    fails(one_tensor({128, 2}, 12, 0, 1000)); // half a block of Q4_K
    fails(one_tensor({256, 2}, 12, 0, 287));
    CHECK(read(one_tensor({256, 2}, 12, 0, 288)).tensors()[0].bytes.size() == 288);
    fails(one_tensor({1ULL << 39, 1ULL << 39}, 0, 0, 64));
    fails(one_tensor({0, 2}, 0, 0, 64));
    fails(one_tensor({}, 0, 0, 64));
    fails(one_tensor({1, 1, 1, 1, 1}, 0, 0, 64));
    std::string overlapping = toy::checkpoint().gguf();
    const std::string name = "blk.1.attn_q.weight"; // then the number of axes, two, a type
    overlapping.replace(overlapping.find(name) + name.size() + 4 + 2 * 8 + 4, 8, 8, '\0');
    CHECK_THROWS_WITH(read(overlapping),
                      Contains("expected bytes of its own, found those of tensor"));
}

TEST_CASE("quantisations that are not read are told by name where they are used") {
    const std::string text = one_tensor({256}, 16, 0, 200);
    const gguf_file file = read(text);
    CHECK(file.tensors()[0].type == dtype::other);
    const std::size_t shape[] = {256};
    CHECK_THROWS_WITH(require_shape(file.tensors()[0], shape),
                      Contains("f.gguf: tensor t: ") && Contains("found IQ2_XXS"));
}

TEST_CASE("version 2 is version 3 of little endian; versions 1 and 4 are none") {
    std::string text = toy::checkpoint().gguf();
    text[4] = 2;
    CHECK(read(text).tensors().size() == read(toy::checkpoint().gguf()).tensors().size());
    for (const char version : {'\0', '\1', '\4'}) {
        text[4] = version;
        CHECK_THROWS_WITH(read(text), Contains("f.gguf: version: expected 2 or 3, found "));
    }
}

TEST_CASE("data may be aligned to a power of two or a multiple of 8") {
    const auto aligned = [](std::uint32_t alignment, std::uint64_t offset) {
        std::string text = "GGUF";
        toy::put<std::uint32_t>(text, 3);
        toy::put<std::uint64_t>(text, 1);
        toy::put<std::uint64_t>(text, 1);
        toy::put_u32(text, "general.alignment", alignment);
        toy::put_string(text, "t");
        toy::put<std::uint32_t>(text, 1);
        toy::put<std::uint64_t>(text, 1);
        toy::put<std::uint32_t>(text, 0);
        toy::put(text, offset);
        if (alignment > 0 && alignment < 4096)
            text.resize((text.size() + alignment - 1) / alignment * alignment);
        text.resize(text.size() + offset, 'x');
        toy::put(text, 2.5F);
        return text;
    };
    for (const std::uint32_t alignment : {1U, 2U, 4U, 8U, 24U, 64U}) {
        CAPTURE(alignment);
        const std::string text = aligned(alignment, 3U * alignment);
        float value = 0;
        std::memcpy(&value, read(text).tensors()[0].bytes.data(), sizeof value);
        CHECK(value == 2.5F);
        if (alignment > 1)
            CHECK_THROWS_WITH(read(aligned(alignment, alignment + 1)),
                              Contains("f.gguf: tensor t: expected an aligned offset"));
    }
    for (const std::uint32_t alignment : {0U, 3U, 12U, 1U << 21})
        CHECK_THROWS_WITH(read(aligned(alignment, 0)),
                          Contains("f.gguf: general.alignment: expected a power of two or a "
                                   "multiple of 8, up to 2^20, found " +
                                   std::to_string(alignment)));
}

TEST_CASE("every truncation of a GGUF file is an error") {
    const std::string text = toy::checkpoint().gguf();
    for (std::size_t n = 0; n < text.size(); n += 97)
        CHECK_THROWS_AS(read(text.substr(0, n)), specdec::error);
}
