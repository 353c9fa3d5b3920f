// SPDX-License-Identifier: MIT
// Trees in one llama_batch: each branch a sequence.
#include <specdec/interop/llama_cpp_tree_model.hpp>

#include <catch2/catch.hpp>

#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "tiny_model.hpp"
#include <specdec/core/model/one_sequence.hpp>
#include <specdec/interop/llama_cpp.hpp>
#include <specdec/specdec.hpp>
#include <specdec/testing/contract/tree_contract.hpp>

using namespace specdec;
using namespace specdec::tiny;

namespace tree_model_tests {

template <class Id>
using trees = llama_cpp_tree_model<Id>;
static_assert(BatchTreeModelOf<trees<target_id>, target_id>);
static_assert(TreeModelOf<one_sequence<target_id, trees<target_id>>, target_id>);

llama_context_ptr context_of(const loaded_model& engine, std::uint32_t sequences) {
    llama_context_params p = loaded_model::parameters();
    p.n_seq_max = sequences;
    p.kv_unified = true;
    p.swa_full = true;
    return engine.context(p);
}

/// One text, with its context.
template <class Id>
struct owned {
    owned(const loaded_model& engine, llama_cpp_scoring scoring, std::uint32_t sequences = 64)
        : context(context_of(engine, sequences)), model(context.get(), 1, scoring) {}
    owned(const owned&) = delete; // the view borrows
    owned& operator=(const owned&) = delete;

    [[nodiscard]] std::size_t size() const { return view.size(); }
    [[nodiscard]] std::size_t capacity() const { return view.capacity(); }
    [[nodiscard]] std::size_t vocabulary_size() const { return view.vocabulary_size(); }
    void append(std::span<const Id> ids) { view.append(ids); }
    [[nodiscard]] logits_rows<Id> score(std::span<const Id> ids) { return view.score(ids); }
    void truncate(std::size_t n) { view.truncate(n); }
    [[nodiscard]] logits_rows<Id> score_tree(std::span<const Id> ids,
                                             std::span<const std::size_t> parents) {
        return view.score_tree(ids, parents);
    }
    void keep_path(std::span<const std::size_t> nodes) { view.keep_path(nodes); }

    llama_context_ptr context;
    trees<Id> model;
    one_sequence<Id, trees<Id>> view{model, 0};
};

using nodes = std::vector<std::size_t>;
constexpr std::size_t root = tree_root;

} // namespace tree_model_tests

using namespace tree_model_tests;

TEST_CASE("llama.cpp scores trees as the contract says") {
    for (const architecture kind : {architecture::llama, architecture::gemma3}) {
        const model_file file(kind, sentencepiece(), 5);
        const loaded_model engine(file);
        for (const auto scoring : {llama_cpp_scoring::together, llama_cpp_scoring::alone}) {
            CAPTURE(static_cast<int>(kind), static_cast<int>(scoring));
            const contract_report report = check_tree_model<target_id>(
                [&] { return owned<target_id>(engine, scoring); }, {.tolerance = 1e-3});
            CHECK(report.text() == "");
            CHECK(report.unchecked.empty());
        }
    }
}

TEST_CASE("scored alone, a node's row is that of its path, but for where its cells lie") {
    const model_file file;
    const loaded_model engine(file);
    owned<target_id> tree(engine, llama_cpp_scoring::alone),
        chain(engine, llama_cpp_scoring::alone);
    tree.append(text(5));
    chain.append(text(5));
    //      0 - 1 - 2        5 - 6
    //          1 - 3 - 4
    const std::vector<target_id> ids = text(7, 60);
    const nodes parents{root, 0, 1, 1, 3, root, 5};
    const logits_rows<target_id> rows = tree.score_tree(ids, parents);
    for (const nodes& path : {nodes{0, 1, 2}, nodes{0, 1, 3, 4}, nodes{5, 6}}) {
        std::vector<target_id> tokens;
        for (const std::size_t node : path)
            tokens.push_back(ids[node]);
        const logits_rows<target_id> expected = chain.score(tokens);
        for (std::size_t i = 0; i < path.size(); ++i)
            for (std::size_t k = 0; k < expected.vocabulary(); ++k)
                REQUIRE(std::abs(rows[path[i]].values[k] - expected[i].values[k]) < 1e-5F);
        chain.truncate(5);
    }
}

TEST_CASE("trees of several texts and new tokens of another in one decode") {
    const model_file file;
    const loaded_model engine(file);
    const llama_context_ptr context = context_of(engine, 12), other = context_of(engine, 1);
    trees<target_id> m(context.get(), 3);
    REQUIRE(m.sequences() == 3);
    llama_cpp_model<target_id> alone(other.get());
    m.append(0, text(4));
    m.append(1, text(6, 20));
    m.append(2, text(2, 40));
    const auto a = text(4, 60), b = text(3, 80), c = text(5, 90);
    const nodes of_a{root, 0, root, 2}, of_c{root, 0, 0, 0, root};
    const std::vector<sequence_nodes<target_id>> parts{{0, a, of_a}, {1, b, {}}, {2, c, of_c}};
    const logits_rows<target_id> rows = m.score_tree(parts);
    REQUIRE(rows.size() == 12);
    CHECK(m.size(0) == 4);
    CHECK(m.size(1) == 9);
    CHECK(m.size(2) == 2);
    const auto same = [&](std::size_t row, std::vector<target_id> all,
                          std::initializer_list<target_id> path) {
        all.insert(all.end(), path);
        alone.truncate(0);
        const logits_rows<target_id> expected = alone.score(all);
        for (std::size_t k = 0; k < rows.vocabulary(); ++k)
            if (!(std::abs(rows[row].values[k] - expected[all.size() - 1].values[k]) < 1e-3F))
                return false;
        return true;
    };
    CHECK(same(1, text(4), {a[0], a[1]}));
    CHECK(same(3, text(4), {a[2], a[3]}));
    CHECK(same(6, text(6, 20), {b[0], b[1], b[2]}));
    CHECK(same(9, text(2, 40), {c[0], c[2]}));
    CHECK(same(11, text(2, 40), {c[4]}));
    m.keep_path(2, nodes{0, 3});
    m.keep_path(0, nodes{2, 3});
    CHECK(m.size(0) == 6);
    CHECK(m.size(2) == 4);
    const auto next = text(2, 30);
    const nodes twins{root, root};
    const std::vector<sequence_nodes<target_id>> again{{2, next, twins}, {0, next, twins}};
    const logits_rows<target_id> later = m.score_tree(again);
    std::vector<float> second(later[1].values.begin(), later[1].values.end());
    std::vector<float> last(later[3].values.begin(), later[3].values.end());
    std::vector<target_id> kept = text(2, 40);
    kept.insert(kept.end(), {c[0], c[3], next[1]});
    alone.truncate(0);
    auto expected = alone.score(kept)[4].values;
    for (std::size_t k = 0; k < second.size(); ++k)
        REQUIRE(std::abs(second[k] - expected[k]) < 1e-3F);
    kept = text(4);
    kept.insert(kept.end(), {a[2], a[3], next[1]});
    alone.truncate(0);
    expected = alone.score(kept)[6].values;
    for (std::size_t k = 0; k < last.size(); ++k)
        REQUIRE(std::abs(last[k] - expected[k]) < 1e-3F);
}

TEST_CASE("trees need a shared memory, and a sequence for each branch") {
    const model_file file;
    const loaded_model engine(file);
    llama_context_params p = loaded_model::parameters(512);
    p.n_seq_max = 2;
    const llama_context_ptr apart = engine.context(p);
    CHECK_THROWS_WITH(trees<target_id>(apart.get()), Catch::Contains("kv_unified"));

    owned<target_id> m(engine, llama_cpp_scoring::together, 3);
    m.append(text(3));
    const auto four = text(4, 50), three = text(3, 50);
    CHECK_THROWS_WITH(m.score_tree(four, nodes(4, root)), Catch::Contains("n_seq_max"));
    CHECK(m.size() == 3);
    CHECK(m.score_tree(three, nodes(3, root)).size() == 3); // as many as ever
    CHECK_THROWS_WITH(m.score_tree(text(1), nodes{root}), Catch::Contains("n_seq_max"));
    CHECK(m.score_tree(text(1), nodes{2}).size() == 1); // a first child needs none
    m.keep_path(nodes{2, 3});
    CHECK(m.size() == 5);
    CHECK(m.score_tree(three, nodes(3, root)).size() == 3);
}

TEST_CASE("a decode that fails leaves text and tree as they were") {
    const model_file file;
    const loaded_model engine(file);
    for (const auto scoring : {llama_cpp_scoring::together, llama_cpp_scoring::alone}) {
        owned<target_id> m(engine, scoring, 8), other(engine, scoring, 8);
        for (auto* model : {&m, &other}) {
            model->append(text(4));
            (void)model->score_tree(text(3, 30), nodes{root, root, 0});
        }
        int countdown = 8;
        llama_set_abort_callback(
            m.context.get(), [](void* n) { return --*static_cast<int*>(n) == 0; }, &countdown);
        CHECK_THROWS_AS(m.score_tree(text(4, 50), nodes{0, 1, 2, root}), error);
        llama_set_abort_callback(m.context.get(), nullptr, nullptr);
        CHECK(m.size() == 4);
        const logits_rows<target_id> found = m.score_tree(text(4, 50), nodes{0, 1, 2, root});
        const logits_rows<target_id> expected = other.score_tree(text(4, 50), nodes{0, 1, 2, root});
        for (std::size_t i = 0; i < 4; ++i)
            for (std::size_t k = 0; k < found.vocabulary(); ++k)
                REQUIRE(std::abs(found[i].values[k] - expected[i].values[k]) < 1e-3F);
        m.keep_path(nodes{1, 4});
        CHECK(m.size() == 6);
    }
}
