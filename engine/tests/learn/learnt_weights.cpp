// SPDX-License-Identifier: MIT
#include <specdec_engine/learn/learnt_weights.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "features/feature_samples.hpp"
#include "taught.hpp"
#include "toys.hpp"
#include <specdec_engine/learn/drafter_learner.hpp>
#include <specdec_engine/learn/features/feature_learner.hpp>

namespace learnt_weights_tests {

using namespace specdec;
using namespace specdec::engine;
using Catch::Contains;

learner_settings anchored(double anchor, bool low_rank = false) {
    learner_settings s{.loss = {.direct = direct_loss::forward_kl, .ngram = ngram_loss::none},
                       .rate = 3e-3,
                       .anchor = anchor,
                       .sequences = 2,
                       .length = 40};
    if (low_rank)
        s.adapters = lora_settings{.rank = 4};
    return s;
}

/// A learner and what teaches it.
struct text_pupil {
    id_map map = learning_toys::toy_map();
    distillation_sample one = learning_toys::toy_text(map, 30, 1);
    drafter_learner learner;

    explicit text_pupil(const learner_settings& s, unsigned seed = 1)
        : learner(read_parameters(learning_toys::open_toy(learning_toys::form::tied, seed).open()),
                  map, s) {}
    void learn() {
        const distillation_sample* const text = &one;
        CHECK(learner.learn({&text, 1}).applied);
    }
};
struct feature_pupil {
    feature_sample one = feature_toys::some_sample(30, 1);
    feature_learner learner;

    explicit feature_pupil(const learner_settings& s, unsigned seed = 5)
        : learner(feature_toys::some_body<float>(false, seed), feature_toys::some_ends(), s,
                  {.depth = 3}) {}
    void learn() {
        const feature_sample* const sample = &one;
        CHECK(learner.learn({&sample, 1}).applied);
    }
};

template <class Pupil>
std::vector<float> values_of(Pupil& p) {
    return {p.learner.values().begin(), p.learner.values().end()};
}
double distance(const std::vector<float>& a, const std::vector<float>& b) {
    double squares = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
        squares += std::pow(static_cast<double>(a[i]) - static_cast<double>(b[i]), 2);
    return std::sqrt(squares);
}

TEMPLATE_TEST_CASE("an anchor holds weights near those they began with", "", text_pupil,
                   feature_pupil) {
    for (const bool low_rank : {false, true}) {
        std::vector<double> went;
        for (const double strength : {0.0, 13.0, 130.0, 1e9}) {
            TestType pupil(anchored(strength, low_rank));
            const std::vector<float> began = values_of(pupil);
            for (int i = 0; i < 12; ++i)
                pupil.learn();
            went.push_back(distance(values_of(pupil), began));
        }
        CHECK(went[0] > 1.1 * went[1]);
        CHECK(went[1] > 1.3 * went[2]);
        CHECK(went[2] > 0);
        CHECK(went[3] == 0); // pulled back all the way behind every step
    }
}

TEMPLATE_TEST_CASE("learning with an anchor goes on where it was saved, bit for bit", "",
                   text_pupil, feature_pupil) {
    const toy::temporary_folder folder;
    const std::string path = (folder.path() / "state.safetensors").string();
    for (const bool low_rank : {false, true}) {
        TestType one(anchored(40, low_rank)), two(anchored(40, low_rank), 9);
        for (int i = 0; i < 4; ++i)
            one.learn();
        one.learner.save(path, "here");
        CHECK(two.learner.resume(path) == "here");
        CHECK(std::ranges::equal(two.learner.anchor().began(), one.learner.anchor().began()));
        if (low_rank)
            continue; // what adapters stand on is the caller's (the note's)
        for (int i = 0; i < 4; ++i) {
            one.learn();
            two.learn();
        }
        CHECK(values_of(one) == values_of(two));
    }
}

TEST_CASE("a state with an anchor is no state without one, and the other way round") {
    const toy::temporary_folder folder;
    const std::string with = (folder.path() / "with.safetensors").string(),
                      without = (folder.path() / "without.safetensors").string();
    feature_pupil held(anchored(40)), loose(anchored(0));
    held.learner.save(with);
    loose.learner.save(without);
    held.learn();
    loose.learn();
    const std::vector<float> before_held = values_of(held), before_loose = values_of(loose);
    CHECK_THROWS_WITH(held.learner.resume(without), Contains("without.safetensors: anchor: "));
    CHECK_THROWS_WITH(loose.learner.resume(with), Contains("with.safetensors: anchor: "));
    CHECK(values_of(held) == before_held);
    CHECK(values_of(loose) == before_loose);
    std::string torn = read_file(with);
    torn[torn.size() - 9] = static_cast<char>(torn[torn.size() - 9] ^ 1); // w_0 are the last ones
    folder.write("with.safetensors", torn);
    CHECK_THROWS_WITH(held.learner.resume(with), Contains("checksum"));
    CHECK_THROWS_WITH(feature_pupil(anchored(-1)), Contains("learner settings: anchor: "));
    CHECK_THROWS_WITH(feature_pupil(anchored(std::numeric_limits<double>::infinity())),
                      Contains("anchor"));
}

} // namespace learnt_weights_tests
