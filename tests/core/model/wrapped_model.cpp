// SPDX-License-Identifier: MIT
#include <specdec/core/model/wrapped_model.hpp>

#include <vector>

#include <catch2/catch.hpp>

#include <specdec/core/model/one_sequence.hpp>

#include "support/batch_of.hpp"
#include "support/ids.hpp"
#include "support/toy_model.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace wrapped_model_tests {

/// A model that wants to know everything, and tells everything.
struct told_model : toy_model<draft_id> {
    told_model()
        : toy_model(3, [](const std::vector<draft_id>& c) {
              return std::vector<float>(3, static_cast<float>(c.size()));
          }) {}
    static constexpr model_traits traits{.begin_draft_round = true,
                                         .reads_features = true,
                                         .lazy_append = true,
                                         .trained_context = true};
    [[nodiscard]] std::size_t trained_context() const { return 11; }
    std::size_t round = 0;
    bool learnt = true;
    void begin_draft_round(std::size_t n) { round = n; }
    void forget_learnt() { learnt = false; }
    [[nodiscard]] bool reads_features() const { return true; }
    [[nodiscard]] bool lazy_append() const { return true; }
    [[nodiscard]] law_version version() const { return 7 + round; }
};
using several_models = batch_of<draft_id, told_model>;
struct told_batch : several_models {
    using several_models::several_models;
    static constexpr model_traits traits{.begin_draft_round = true};
    void begin_draft_round(std::size_t s, std::size_t n) { models[s].round = n; }
    [[nodiscard]] std::span<const draft_id> held(std::size_t s) const { return models[s].held(); }
    [[nodiscard]] law_version version(std::size_t s) const { return models[s].version(); }
};

/// Counts what it is asked for, with a sequence's number only.
template <class M>
class counted : public wrapped_model<counted<M>, draft_id, M> {
    using base = wrapped_model<counted<M>, draft_id, M>;

public:
    explicit counted(M& model) : base(model) {}
    using base::append, base::score, base::truncate, base::begin_draft_round, base::version;
    void append(std::size_t s, std::span<const draft_id> ids) {
        ++calls;
        base::append(s, ids);
    }
    [[nodiscard]] auto score(std::span<const sequence_tokens<draft_id>> parts) {
        ++calls;
        return this->rows_of_model(parts);
    }
    void truncate(std::size_t s, std::size_t n) {
        ++calls;
        base::truncate(s, n);
    }
    void begin_draft_round(std::size_t s, std::size_t n) {
        ++calls;
        base::begin_draft_round(s, n);
    }
    [[nodiscard]] law_version version(std::size_t s) const { return 100 + base::version(s); }
    int calls = 0;
};

// Of one sequence: both. Of several: no call without a number. Of one again: both again.
static_assert(ModelOf<counted<told_model>, draft_id>);
static_assert(BatchModelOf<counted<told_model>, draft_id>);
static_assert(BatchModelOf<counted<told_batch>, draft_id>);
static_assert(!ContextOf<counted<told_batch>, draft_id>);
static_assert(!TellsHeld<counted<told_batch>, draft_id>);
static_assert(ModelOf<counted<counted<told_model>>, draft_id>);
static_assert(ModelOf<counted<one_sequence<draft_id, told_batch>>, draft_id>);
static_assert(TellsHeld<counted<told_model>, draft_id>);
static_assert(TellsHeldBatch<counted<told_model>, draft_id>);
static_assert(!TellsHeldBatch<counted<several_models>, draft_id>);
static_assert(LearnsFromTexts<counted<told_model>>);
static_assert(!LearnsFromTexts<counted<told_batch>>);

TEST_CASE("what wraps a model of one sequence, written for several, is a model of one") {
    told_model model;
    counted once(model);
    counted<counted<told_model>> twice(once);
    const auto ids = ids_of({0, 1, 2});
    CHECK(twice.sequences() == 1);
    twice.append(ids);
    CHECK(twice.score(ids).size() == 3);
    CHECK(twice.score(std::span(ids).first(2))[1].values[0] == 8);
    CHECK(twice.size() == 8);
    CHECK(twice.held().size() == 8);
    twice.truncate(2);
    CHECK(model.size() == 2);
    CHECK(twice.held(0).size() == twice.size(0));
    twice.begin_draft_round(2);
    CHECK(model.round == 2);
    CHECK(twice.version() == 209);
    CHECK(twice.reads_features());
    CHECK(twice.lazy_append());
    CHECK(twice.trained_context() == 11);
    CHECK(twice.capacity() == model.capacity());
    CHECK(twice.vocabulary_size() == 3);
    twice.forget_learnt();
    CHECK(!model.learnt);
    CHECK(once.calls == 5); // each of them, through what it changes
    CHECK(twice.calls == 5);
}

TEST_CASE("what wraps a model of several sequences serves each of them") {
    told_batch model(2, told_model());
    counted all(model);
    one_sequence<draft_id, counted<told_batch>> last(all, 1);
    const auto ids = ids_of({0, 1, 2});
    CHECK(all.sequences() == 2);
    last.append(ids);
    CHECK(last.score(ids)[2].values[0] == 6);
    CHECK(last.held().size() == 6);
    last.truncate(1);
    last.begin_draft_round(1);
    CHECK(model.models[1].round == 1);
    CHECK(last.version() == 108);
    CHECK(all.version(0) == 107);
    CHECK(all.size(0) == 0);
    CHECK(all.size(1) == 1);
    CHECK(all.calls == 4);
    const std::vector<sequence_tokens<draft_id>> parts{{1, ids}, {0, ids}};
    const logits_rows<draft_id> rows = all.score(parts);
    CHECK(rows[0].values[0] == 2);
    CHECK(rows[3].values[0] == 1);
}

TEST_CASE("a model as it is, with the calls of several") {
    told_model one;
    lifted_model<draft_id, told_model> lifted(one);
    const auto ids = ids_of({0, 1});
    const sequence_tokens<draft_id> part{0, ids};
    CHECK(lifted.sequences() == 1);
    CHECK(lifted.score(std::span(&part, 1)).size() == 2);
    CHECK(lifted.size(0) == 2);
    CHECK(lifted.version(0) == 7);
}

} // namespace wrapped_model_tests
