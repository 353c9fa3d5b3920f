// SPDX-License-Identifier: MIT
#include <specdec/learn/replay_buffer.hpp>

#include <cstddef>
#include <map>
#include <memory>
#include <vector>

#include <catch2/catch.hpp>

#include <specdec/core/error.hpp>

using namespace specdec;

namespace replay_buffer_tests {

distillation_sample text_of(std::size_t tokens, int name) {
    distillation_sample text;
    text.tokens.assign(tokens, draft_id{name});
    text.rows.push_back({0, 0, 1});
    text.entries.push_back({target_id{name}, 1.0F});
    return text;
}

std::vector<int> names(const replay_buffer& buffer) {
    std::vector<int> all;
    for (std::size_t i = 0; i < buffer.size(); ++i)
        all.push_back(buffer[i].tokens[0].value);
    return all;
}

TEST_CASE("a buffer holds the last texts that fit, whatever their lengths") {
    replay_buffer buffer(10);
    CHECK(buffer.size() == 0);
    for (int i = 0; i < 30; ++i) {
        buffer.add(text_of(1 + static_cast<std::size_t>(i % 4), i));
        std::vector<int> wanted; // the newest with at most 10 tokens together
        std::size_t tokens = 0;
        for (int k = i; k >= 0 && tokens + 1 + static_cast<std::size_t>(k % 4) <= 10; --k) {
            wanted.insert(wanted.begin(), k);
            tokens += 1 + static_cast<std::size_t>(k % 4);
        }
        CHECK(names(buffer) == wanted);
        CHECK(buffer.tokens() == tokens);
    }
    CHECK(buffer[0].entries[0].id.value == names(buffer)[0]);
    buffer.add(text_of(10, 99));
    CHECK(names(buffer) == std::vector{99});
    CHECK_THROWS_AS(buffer.add(text_of(11, 1)), error);
    CHECK(names(buffer) == std::vector{99});
    distillation_sample nothing = text_of(3, 5);
    nothing.rows.clear();
    buffer.add(nothing);
    CHECK(names(buffer) == std::vector{99});
}

TEST_CASE("more and more short texts") {
    replay_buffer buffer(100);
    for (int i = 0; i < 250; ++i)
        buffer.add(text_of(i < 20 ? 7 : 1, i));
    REQUIRE(buffer.size() == 100);
    for (int i = 0; i < 100; ++i)
        CHECK(buffer[static_cast<std::size_t>(i)].tokens[0].value == 150 + i);
}

/// Memory of the texts' tokens.
std::size_t held = 0;
template <class T>
struct counted : std::allocator<T> {
    using value_type = T;
    counted() = default;
    template <class U>
    counted(const counted<U>&) {}
    template <class U>
    struct rebind {
        using other = counted<U>;
    };
    T* allocate(std::size_t n) {
        held += n;
        return std::allocator<T>::allocate(n);
    }
    void deallocate(T* p, std::size_t n) {
        held -= n;
        std::allocator<T>::deallocate(p, n);
    }
};
struct counted_text {
    std::vector<int, counted<int>> tokens;
    std::vector<int> rows;
};

TEST_CASE("what is held bounds the memory, however many shorter texts there were") {
    basic_replay_buffer<counted_text> buffer(1000);
    for (const std::size_t length : {1U, 100U, 1U, 100U}) {
        const counted_text text{std::vector<int, counted<int>>(length), {0}};
        for (int i = 0; i < 3000; ++i)
            buffer.add(text);
        CHECK(buffer.tokens() == 1000);
        CHECK(held <= 2 * 1000 + length);
    }
}

TEST_CASE("the newest, and any") {
    replay_buffer buffer(5);
    for (int i = 0; i < 7; ++i)
        buffer.add(text_of(1, i));
    std::vector<const distillation_sample*> chosen;
    buffer.newest(2, chosen);
    buffer.newest(9, chosen);
    REQUIRE(chosen.size() == 7);
    CHECK(chosen[0] == &buffer[3]);
    CHECK(chosen[1] == &buffer[4]);
    CHECK(chosen[2] == &buffer[0]);

    // Every pair of five equally likely, by every number that tells: 4 and 5 parts of [0, 1).
    std::map<std::pair<int, int>, int> times;
    for (int a = 0; a < 4; ++a)
        for (int b = 0; b < 5; ++b) {
            std::vector<double> numbers{(b + 0.5) / 5, (a + 0.5) / 4};
            chosen.clear();
            buffer.draw(
                [&] {
                    const double u = numbers.back();
                    numbers.pop_back();
                    return u;
                },
                2, chosen);
            REQUIRE(chosen.size() == 2);
            const int x = chosen[0]->tokens[0].value, y = chosen[1]->tokens[0].value;
            ++times[{x < y ? x : y, x < y ? y : x}];
        }
    CHECK(times.size() == 10);
    for (const auto& [which, n] : times)
        CHECK(n == 2);
    chosen.clear();
    buffer.draw([] { return 0.999; }, 9, chosen);
    CHECK(chosen.size() == 5);
}

} // namespace replay_buffer_tests
