// SPDX-License-Identifier: MIT
#include <specdec_engine/attention/rotary.hpp>

#include <vector>

#include <catch2/catch.hpp>

using namespace specdec::engine;

TEST_CASE("frequencies follow theta^(-2i/d)") {
    const std::vector<float> f =
        rotary_frequencies({.theta = 10000.0, .llama3 = {}, .factors = {}}, 8);
    REQUIRE(f.size() == 4);
    CHECK(f[0] == 1.0F);
    CHECK(f[1] == Approx(0.1));
    CHECK(f[3] == Approx(0.001));
}

TEST_CASE("Llama 3 keeps high frequencies, divides low ones and blends between") {
    rotary_config c;
    c.theta = 500000.0;
    const std::vector<float> plain = rotary_frequencies(c, 128);
    c.scaled = true;
    c.llama3 = {8.0, 1.0, 4.0, 8192.0};
    const std::vector<float> scaled = rotary_frequencies(c, 128);
    for (std::size_t i = 0; i < scaled.size(); ++i) {
        const double wavelength = 2.0 * 3.14159265358979 / static_cast<double>(plain[i]);
        if (wavelength < 8192.0 / 4.0)
            CHECK(scaled[i] == plain[i]);
        else if (wavelength > 8192.0)
            CHECK(scaled[i] == Approx(plain[i] / 8.0F));
        else {
            CHECK(scaled[i] < plain[i]);
            CHECK(scaled[i] > plain[i] / 8.0F);
        }
    }
}

TEST_CASE("factors of a GGUF file divide the frequencies") {
    rotary_config c;
    const std::vector<float> plain = rotary_frequencies(c, 4);
    c.factors = {1.0F, 32.0F};
    const std::vector<float> divided = rotary_frequencies(c, 4);
    CHECK(divided[0] == plain[0]);
    CHECK(divided[1] == Approx(plain[1] / 32.0F));
    CHECK_THROWS_WITH(check(c, 8, "x.gguf"), Catch::Contains("x.gguf: rope_freqs"));
}

TEST_CASE("turning keeps lengths, and scores depend on the distance alone") {
    const rotary_table table(rotary_config{}, 6, 32);
    const std::vector<float> q = {0.3F, -1.0F, 0.5F, 2.0F, 0.1F, -0.7F};
    const std::vector<float> k = {1.0F, 0.2F, -0.4F, 0.6F, -0.9F, 0.8F};
    const auto score = [&](std::size_t m, std::size_t n) {
        std::vector<float> a(6);
        std::vector<float> b(6);
        table.turn(q.data(), m, a.data());
        table.turn(k.data(), n, b.data());
        float sum = 0.0F;
        for (std::size_t i = 0; i < 6; ++i)
            sum += a[i] * b[i];
        return sum;
    };
    CHECK(score(9, 4) == Approx(score(25, 20)).epsilon(1e-4));
    CHECK(score(0, 0) == Approx(score(31, 31)).epsilon(1e-4));
    CHECK(score(9, 4) != Approx(score(9, 8)).epsilon(1e-4));
}

TEST_CASE("interleaved pairs become half-split ones") {
    CHECK(half_split_row(0, 6) == 0);
    CHECK(half_split_row(1, 6) == 3);
    CHECK(half_split_row(2, 6) == 1);
    CHECK(half_split_row(5, 6) == 5);
}
