// SPDX-License-Identifier: MIT
#include <specdec/core/concepts.hpp>

#include <string>

#include <catch2/catch.hpp>

#include "support/archetypes.hpp"
#include "support/text_model.hpp"
#include "support/tiny_tokenizer.hpp"
#include "support/whole_model.hpp"

using namespace specdec;
using namespace specdec::testing;

// The wrong side is no model and no tokenizer.
static_assert(!ModelOf<model_archetype<draft_id>, target_id>);
static_assert(!ModelOf<model_archetype<target_id>, draft_id>);
static_assert(!TokenizerOf<tokenizer_archetype<draft_id>, target_id>);

namespace {

/// Every way to miss a model by one.
struct no_model_size : whole_model {
    void size() const {}
};
struct no_capacity : whole_model {
    std::size_t capacity() const = delete;
};
struct no_vocabulary_size : whole_model {
    std::size_t vocabulary_size() const = delete;
};
struct no_append : whole_model {
    void append(std::span<const target_id>) = delete;
};
struct no_score : whole_model {
    logits_rows<target_id> score(std::span<const target_id>) = delete;
};
struct one_row : whole_model {
    logits_row<target_id> score(std::span<const target_id>) { return {}; }
};
struct rows_of_the_other_side : whole_model {
    logits_rows<draft_id> score(std::span<const target_id>) { return {}; }
};
struct changes_its_input : whole_model {
    void append(std::span<target_id>) {}
};
struct no_truncate : whole_model {
    void truncate(std::size_t) = delete;
};

struct no_bytes : whole_tokenizer {
    std::string_view bytes(target_id) const = delete;
};
struct bytes_that_dangle : whole_tokenizer {
    std::string bytes(target_id) const { return {}; }
};
struct no_position : whole_tokenizer {
    void encode(std::string_view, std::vector<target_id>&) const {}
};
struct encodes_the_other_side : whole_tokenizer {
    void encode(std::string_view, encode_mode, std::vector<draft_id>&) const {}
};
struct encode_not_const : whole_tokenizer {
    void encode(std::string_view, encode_mode, std::vector<target_id>&) {}
};
struct no_tokenizer_size : whole_tokenizer {
    std::size_t vocabulary_size() const = delete;
};

} // namespace

static_assert(ModelOf<whole_model, target_id>);
static_assert(!ModelOf<int, target_id>);
static_assert(!ModelOf<no_model_size, target_id>);
static_assert(!ModelOf<no_capacity, target_id>);
static_assert(!ModelOf<no_vocabulary_size, target_id>);
static_assert(!ModelOf<no_append, target_id>);
static_assert(!ModelOf<no_score, target_id>);
static_assert(!ModelOf<one_row, target_id>);
static_assert(!ModelOf<rows_of_the_other_side, target_id>);
static_assert(!ModelOf<changes_its_input, target_id>);
static_assert(!ModelOf<no_truncate, target_id>);

static_assert(TokenizerOf<whole_tokenizer, target_id>);
static_assert(!TokenizerOf<int, target_id>);
static_assert(!TokenizerOf<no_bytes, target_id>);
static_assert(!TokenizerOf<bytes_that_dangle, target_id>);
static_assert(!TokenizerOf<no_position, target_id>);
static_assert(!TokenizerOf<encodes_the_other_side, target_id>);
static_assert(!TokenizerOf<encode_not_const, target_id>);
static_assert(!TokenizerOf<no_tokenizer_size, target_id>);

TEST_CASE("the toy text model keeps the semantics that ModelOf states") {
    const tiny_tokenizer<target_id> words{{"a", "b", "c", "ab"}};
    text_model<target_id> at_once(words.table()), apart(words.table());
    const std::vector<target_id> ids{target_id{0}, target_id{3}, target_id{1}, target_id{2}};
    const std::span<const target_id> all(ids);
    const auto copy = [](logits_row<target_id> row) {
        return std::vector<float>(row.values.begin(), row.values.end());
    };
    const logits_rows<target_id> rows = at_once.score(all);
    REQUIRE(rows.size() == 4);
    apart.append(all.first(1));
    (void)apart.score(all.subspan(2)); // another way that is truncated again
    apart.truncate(1);
    CHECK(copy(apart.score(all.subspan(1, 1))[0]) == copy(rows[1]));
    apart.append(all.subspan(2, 1));
    CHECK(copy(apart.score(all.subspan(3))[0]) == copy(rows[3]));
    CHECK(apart.held() == at_once.held());
}
