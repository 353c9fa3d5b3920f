// SPDX-License-Identifier: MIT
// Question: what does the map of two vocabularies of 150,000 ids cost, in milliseconds and in
// hashings of both vocabularies?  bench_vocab_intersection [REPETITIONS]
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "take_turns.hpp"
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

} // namespace

int main(int argc, char** argv) {
    const int repetitions = argc > 1 ? std::atoi(argv[1]) : 40;
    constexpr std::size_t size = 150'000, common = 100'000;
    specdec::vocabulary draft, target;
    fill(draft, target, size, common);

    volatile std::size_t sink = 0;
    std::vector<bench::timed_case> cases;
    cases.push_back({"hash both", [&] {
                         const boost::hash<std::string_view> hash;
                         std::size_t sum = 0;
                         for (std::size_t i = 0; i < size; ++i)
                             sum += hash(draft.text(i)) ^ hash(target.text(i));
                         sink = sum;
                     }});
    cases.push_back({"fingerprints", [&] { sink = draft.fingerprint() ^ target.fingerprint(); }});
    cases.push_back({"intersect", [&] { sink = specdec::intersect(draft, target).shared(); }});
    bench::take_turns(cases, repetitions);

    std::printf("%zu x %zu ids, %zu shared\n", size, size, std::size_t{sink});
    std::printf("%-14s %8s %8s\n", "", "ms", "/ hash");
    for (const bench::timed_case& c : cases)
        std::printf("%-14s %8.2f %8.2f\n", c.name.c_str(), 1e3 * c.seconds,
                    c.seconds / cases[0].seconds);
}
