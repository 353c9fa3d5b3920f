// SPDX-License-Identifier: MIT
#include <specdec_engine/learn/features/feature_training_pass.hpp>

#include <cmath>
#include <fstream>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "feature_toys.hpp"
#include "learn/finite_differences.hpp"
#include "support/count_allocations.hpp"
#include <specdec_engine/drafter/feature_body.hpp>
#include <specdec_engine/load.hpp>

namespace feature_training_pass_tests {

using namespace specdec;
using namespace feature_toys;
using Catch::Contains;
using finite_differences::worst_error;

constexpr feature_limits small{.sequences = 2, .length = 20, .cells = 20, .depth = 5};

const toy::checkpoint& target_files() {
    static const toy::checkpoint files;
    return files;
}
void embed(std::size_t token, std::span<float> out) {
    static const std::vector<float>& all =
        target_files().tensors.at("model.embed_tokens.weight").values;
    std::copy_n(&all[token * out.size()], out.size(), out.begin());
}

std::vector<double> sines(std::size_t n, double phase, double scale, double around = 0) {
    std::vector<double> out(n);
    for (std::size_t j = 0; j < n; ++j)
        out[j] = scale * std::sin(0.37 * static_cast<double>(j) + phase) + around;
    return out;
}

/// sum of w_i s_i + s_i^2 / 2 over all states; writes the gradient.
template <class Scalar>
double loss_of(constant_columns<Scalar> states, aligned_vector<Scalar>& gradient) {
    gradient.resize(static_cast<std::size_t>(states.size()));
    double sum = 0;
    std::size_t i = 0;
    for (Eigen::Index c = 0; c < states.cols(); ++c)
        for (Eigen::Index k = 0; k < states.rows(); ++k, ++i) {
            const double w = std::sin(static_cast<double>(3 * c + 5 * k)), s = states(k, c);
            sum += w * s + s * s / 2;
            gradient[i] = static_cast<Scalar>(w + s);
        }
    return sum;
}

TEST_CASE("a training pass over drafts gives the states that the body drafts with") {
    for (const bool bias : {false, true}) {
        const toy::temporary_folder target_folder, folder;
        target_folder.write("config.json", target_files().config().dump());
        target_folder.write("model.safetensors", target_files().safetensors());
        const auto parameters = some_body<float>(bias);
        write_body(folder, parameters);
        const transformer target =
            load_transformer(target_folder.path(), {precision::f32, {.threads = 1}, {}});
        feature_body body = load_feature_body(folder.path(), target);
        const std::vector<text> texts = some_texts();
        const auto sequences = views(texts);
        feature_training_pass<float> pass(parameters.layout(), small, embed);
        const auto states = pass.forward(parameters, sequences);
        REQUIRE(states.cols() == 15);

        double worst = 0;
        std::vector<std::size_t> column(5); // by chain, of its latest cell
        for (std::size_t depth = 0, cell = 0; depth < 5; ++depth)
            for (const text& t : texts)
                for (const feature_chain& chain : t.chains) {
                    if (depth > chain.drafted.size())
                        continue;
                    // The draft from scratch: the text's places, then its own features.
                    body.truncate(0, 0);
                    std::vector<draft_id> ids;
                    for (std::size_t i = 0; i <= chain.place; ++i)
                        ids.push_back(draft_id{t.ids[i + 1]});
                    body_output out = body.read(0, ids, {t.states().middle(0, ids.size()), false});
                    std::vector<float> own(out.own[ids.size() - 1].values.begin(),
                                           out.own[ids.size() - 1].values.end());
                    for (std::size_t k = 0; k < depth; ++k) {
                        const draft_id next{chain.drafted[k]};
                        out = body.read(0, {&next, 1}, {{own.data(), 1, 36, 36}, true});
                        own.assign(out.own[0].values.begin(), out.own[0].values.end());
                    }
                    for (std::size_t k = 0; k < 36; ++k)
                        worst = std::max(worst, std::abs(static_cast<double>(own[k]) -
                                                         static_cast<double>(
                                                             states(index_of(k), index_of(cell)))));
                    ++cell;
                }
        CHECK(worst < 1e-4);
    }
}

TEST_CASE("gradients through drafts of own features are those of finite differences") {
    const std::vector<text> texts = some_texts();
    const auto sequences = views(texts);
    aligned_vector<double> dstates;
    for (const bool bias : {false, true}) {
        auto parameters = some_body<double>(bias);
        feature_training_pass<double> pass(parameters.layout(), small, embed);
        const auto loss = [&] { return loss_of(pass.forward(parameters, sequences), dstates); };
        std::vector<double> gradient(parameters.values().size());
        (void)loss();
        pass.reverse(columns_of(std::as_const(dstates).data(), 36, 15), gradient);
        for (const parameter& p : parameters.layout().tensors().tensors()) {
            CAPTURE(p.name, bias);
            CHECK(worst_error(parameters.values().subspan(p.offset, p.size),
                              std::span(gradient).subspan(p.offset, p.size), loss) < 1e-6);
        }
    }
}

TEST_CASE("PyTorch's gradients of three steps of a draft at every place") {
    std::ifstream file(SPECDEC_SOURCE_DIR "/tests/golden/feature_gradients.json");
    const auto golden = nlohmann::json::parse(file);
    constexpr std::size_t places = 12;
    auto body = some_body<double>();
    double phase = 0; // in the order of names
    for (const auto& [name, unused] : golden["tensors"].items()) {
        const parameter& p = body.layout().tensors().at(name);
        const auto values =
            sines(p.size, phase++, p.is_matrix() ? 0.3 : 0.1, p.is_matrix() ? 0 : 1);
        std::copy(values.begin(), values.end(), body.values().begin() + index_of(p.offset));
    }
    text of(places + 1, 1);
    of.ids.clear();
    for (std::int32_t i = 0; i <= static_cast<std::int32_t>(places); ++i)
        of.ids.push_back(i); // token i + 1 is the one of place i
    const auto embedded = sines(places * 36, 20, 1), given = sines(places * 36, 30, 1);
    of.features.assign(given.begin(), given.end());
    for (std::int32_t i = 0; i < static_cast<std::int32_t>(places); ++i) {
        std::vector<std::int32_t> next;
        for (std::int32_t k = 1; k < 3 && i + k < static_cast<std::int32_t>(places); ++k)
            next.push_back(i + k + 1);
        of.draft(static_cast<std::size_t>(i), next);
    }
    feature_training_pass<double> pass(
        body.layout(), {.sequences = 1, .length = 20, .cells = 40, .depth = 3},
        [&](std::size_t token, std::span<float> out) {
            for (std::size_t k = 0; k < 36; ++k)
                out[k] = static_cast<float>(embedded[(token - 1) * 36 + k]);
        });
    const std::vector<feature_sequence> sequences{of.view()};
    const auto states = pass.forward(body, sequences);
    aligned_vector<double> dstates(static_cast<std::size_t>(states.size()));
    double loss = 0;
    for (std::size_t c = 0; c < pass.batch().cells().size(); ++c)
        for (std::size_t k = 0; k < 36; ++k) {
            const feature_batch::cell& cell = pass.batch().cells()[c];
            const double w = std::sin(static_cast<double>(3 * cell.position + 5 * cell.depth + k));
            const double s = states(index_of(k), index_of(c));
            loss += w * s + s * s / 2;
            dstates[c * 36 + k] = w + s;
        }
    CHECK(loss == Approx(golden["loss"].get<double>()).epsilon(1e-6));
    std::vector<double> gradient(body.values().size());
    pass.reverse(columns_of(std::as_const(dstates).data(), 36, pass.batch().cells().size()),
                 gradient);
    for (const auto& [name, expected] : golden["tensors"].items()) {
        CAPTURE(name);
        const parameter& p = body.layout().tensors().at(name);
        const auto found = std::span(gradient).subspan(p.offset, p.size);
        const auto values = expected["values"].get<std::vector<double>>();
        const auto stride = expected["stride"].get<std::size_t>();
        double squares = 0, off = 0, sampled = 0;
        for (const double g : found)
            squares += g * g;
        for (std::size_t i = 0; i < values.size(); ++i) {
            off += std::pow(found[i * stride] - values[i], 2);
            sampled += values[i] * values[i];
        }
        CHECK(std::sqrt(squares) == Approx(expected["norm"].get<double>()).epsilon(1e-5));
        CHECK(std::sqrt(off / sampled) < 1e-5);
    }
}

TEST_CASE("adapters of the body: their gradients are those of finite differences") {
    const std::vector<text> texts = some_texts();
    const auto sequences = views(texts);
    auto parameters = some_body<double>();
    lora<double> adapters(parameters.config(),
                          {.rank = 3, .targets = {all_projections.begin(), all_projections.end()}});
    std::minstd_rand bits(3);
    for (double& v : adapters.values())
        v = (static_cast<double>(bits() % 2001) - 1000) * 2e-5;
    feature_training_pass<double> pass(parameters.layout(), small, embed);
    aligned_vector<double> dstates;
    const auto loss = [&] {
        return loss_of(pass.forward(parameters, sequences, &adapters), dstates);
    };
    const double adapted = loss();
    std::vector<double> gradient(adapters.values().size());
    pass.reverse(columns_of(std::as_const(dstates).data(), 36, 15), {}, gradient);
    for (const parameter& p : adapters.tensors().tensors()) {
        CAPTURE(p.name);
        CHECK(worst_error(adapters.values().subspan(p.offset, p.size),
                          std::span(gradient).subspan(p.offset, p.size), loss) < 1e-6);
    }
    adapters.merge(parameters);
    CHECK(loss_of(pass.forward(parameters, sequences), dstates) == Approx(adapted).epsilon(1e-9));
}

std::vector<float> gradient_of(feature_training_pass<float>& pass,
                               const feature_parameters<float>& m, const std::vector<text>& of) {
    const auto sequences = views(of);
    aligned_vector<float> dstates;
    const auto states = pass.forward(m, sequences);
    (void)loss_of(states, dstates);
    std::vector<float> gradient(m.values().size());
    pass.reverse(
        columns_of(std::as_const(dstates).data(), 36, static_cast<std::size_t>(states.cols())),
        gradient);
    return gradient;
}

TEST_CASE("neither threads nor earlier passes change a bit of a body's gradient") {
    const auto m = some_body<float>();
    feature_training_pass<float> one(m.layout(), small, embed);
    const std::vector<float> expected = gradient_of(one, m, some_texts());
    CHECK(gradient_of(one, m, some_texts()) == expected);
    feature_training_pass<float> three(m.layout(), small, embed, std::make_shared<thread_pool>(3));
    std::vector<text> other = some_texts();
    other.pop_back();
    (void)gradient_of(three, m, other);
    CHECK(gradient_of(three, m, some_texts()) == expected);
}

TEST_CASE("a pass over drafts takes no memory of its own") {
    const auto m = some_body<float>();
    feature_training_pass<float> pass(m.layout(), small, embed);
    const std::vector<text> texts = some_texts();
    const auto sequences = views(texts);
    aligned_vector<float> dstates;
    std::vector<float> gradient(m.values().size());
    const auto step = [&] {
        (void)loss_of(pass.forward(m, sequences), dstates);
        pass.reverse(columns_of(std::as_const(dstates).data(), 36, 15), gradient);
    };
    step();
    const long before = specdec::testing::allocations;
    step();
    CHECK(specdec::testing::allocations == before);
}

TEST_CASE("a batch without chains has no cells, and what does not fit is refused") {
    const auto m = some_body<float>();
    feature_training_pass<float> pass(m.layout(), small, embed);
    std::vector<float> gradient(m.values().size());
    std::vector<text> none{text(5, 1)};
    CHECK(pass.forward(m, views(none)).cols() == 0);
    pass.reverse(columns_of(std::as_const(gradient).data(), 36, 0), gradient);
    CHECK(gradient == std::vector<float>(m.values().size()));

    const auto refused = [&](const auto& edit, const std::string& message) {
        std::vector<text> texts = some_texts();
        edit(texts);
        CHECK_THROWS_WITH(pass.forward(m, views(texts)), Contains("feature batch: " + message));
    };
    refused([](auto& t) { t.push_back(t[0]); }, "sequences: expected at most 2, found 3");
    refused([](auto& t) { t[0].draft(8, {}); }, "chain: expected a chain that begins");
    refused([](auto& t) { t[0].draft(0, {1, 2, 3, 4, 5}); }, "length of a chain");
    refused([](auto& t) { t[0].draft(0, {1, 77}); }, "token 77");
    refused([](auto& t) { t[1].ids[2] = -1; }, "token -1");
    refused(
        [](auto& t) {
            t[1].features.resize(5 * 30);
            t[1].width = 30;
        },
        "features: expected a width of 36, found 30");
    refused(
        [](auto& t) {
            t[0].draft(0, {1, 2, 3, 4});
            t[0].draft(0, {1, 2, 3, 4});
        },
        "cells: expected at most 20, found 25");
    std::vector<text> lengthy{text(30, 1)};
    lengthy[0].draft(19, {1});
    CHECK_THROWS_WITH(pass.forward(m, views(lengthy)), Contains("length of a sequence"));
}

} // namespace feature_training_pass_tests
