// SPDX-License-Identifier: MIT
// Question: what does the map of two vocabularies of 150,000 ids cost, in milliseconds and in
// hashings of both vocabularies?
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "question.hpp"
#include <specdec/vocab/table/intersection.hpp>

namespace {

/// Random words of about seven bytes, `common` of them in both tables, in random orders.
void fill(specdec::vocabulary& a, specdec::vocabulary& b, std::size_t size, std::size_t common) {
    std::mt19937_64 bits(1);
    std::vector<std::string> words_a(size), words_b(size);
    const auto word = [&bits] {
        std::string w(3 + bits() % 9, ' ');
        for (char& c : w)
            c = static_cast<char>(bits());
        return w;
    };
    for (std::size_t i = 0; i < size; ++i) {
        words_a[i] = word();
        words_b[i] = i < common ? words_a[i] : word();
    }
    std::shuffle(words_a.begin(), words_a.end(), bits);
    std::shuffle(words_b.begin(), words_b.end(), bits);
    for (const std::string& w : words_a)
        a.add(w, specdec::token_kind::normal);
    for (const std::string& w : words_b)
        b.add(w, specdec::token_kind::normal);
}

struct scene {
    static constexpr std::size_t size = 150'000, common = 100'000;

    specdec::vocabulary draft, target;

    scene() { fill(draft, target, size, common); }
};

std::size_t hash_both(const scene& s) {
    const boost::hash<std::string_view> hash;
    std::size_t sum = 0;
    for (std::size_t i = 0; i < scene::size; ++i)
        sum += hash(s.draft.text(i)) ^ hash(s.target.text(i));
    return sum;
}

const bench::registration here([] {
    bench::question<scene> map("intersection",
                               {.repetitions = 40, .unit = benchmark::kMillisecond});
    map.add("hash_both", [](scene& s) { benchmark::DoNotOptimize(hash_both(s)); });
    map.add("fingerprints", [](scene& s) {
        benchmark::DoNotOptimize(s.draft.fingerprint() ^ s.target.fingerprint());
    });
    map.add("intersect", [](scene& s) {
        benchmark::DoNotOptimize(specdec::intersect(s.draft, s.target).shared());
    });
});

} // namespace
