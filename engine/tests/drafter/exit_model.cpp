// SPDX-License-Identifier: MIT
#include <specdec_engine/drafter/exit_model.hpp>

#include <random>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "support/toy_checkpoint.hpp"
#include <specdec/head/exits/exit_model.hpp>
#include <specdec/testing/contract/exit_contract.hpp>
#include <specdec_engine/model.hpp>

namespace exit_model_tests {

using namespace specdec;
using namespace specdec::engine;
using Catch::Contains;

static_assert(ExitModelOf<exit_model<draft_id>, draft_id>);

const std::vector<std::size_t> depths{1, 3, 4};

/// A model of four layers with exits, with norms of their own or without.
toy::checkpoint with_exits(bool norms) {
    toy::checkpoint c(3, true, 4);
    for (std::size_t e = 0; norms && e < 2; ++e) {
        toy::weights norm{{c.dimension}, std::vector<float>(c.dimension)};
        for (std::size_t i = 0; i < c.dimension; ++i)
            norm.values[i] = 0.5F + 0.02F * static_cast<float>(i + e);
        c.tensors["exits." + std::to_string(e) + ".norm.weight"] = norm;
    }
    return c;
}
void write(const toy::temporary_folder& folder, const toy::checkpoint& c, nlohmann::json config) {
    folder.write("config.json", config.dump());
    folder.write("model.safetensors", c.safetensors());
}
nlohmann::json config_of(const toy::checkpoint& c) {
    nlohmann::json config = c.config();
    config["specdec_exits"] = depths;
    return config;
}
/// The model of an exit's layers alone, as a checkpoint of its own.
toy::checkpoint alone(toy::checkpoint c, std::size_t exit) {
    const std::string norm = "exits." + std::to_string(exit) + ".norm.weight";
    if (c.tensors.count(norm) != 0)
        c.tensors["model.norm.weight"] = c.tensors[norm];
    c.layers = depths[exit];
    std::erase_if(c.tensors, [&](const auto& named) {
        const std::string& name = named.first;
        return name.starts_with("exits.") || (name.starts_with("model.layers.") &&
                                              name >= "model.layers." + std::to_string(c.layers));
    });
    return c;
}

struct loaded {
    toy::temporary_folder folders[4];
    std::vector<model<draft_id>> of_exit;
    std::unique_ptr<exit_model<draft_id>> all;

    loaded(precision number_format, bool norms, std::size_t sequences = 1) {
        const load_options options{
            .number_format = number_format, .context = {.threads = 1}, .progress = {}};
        const toy::checkpoint c = with_exits(norms);
        for (std::size_t e = 0; e < depths.size(); ++e) {
            const toy::checkpoint part = alone(c, e);
            write(folders[e], part, part.config());
            of_exit.emplace_back(load_transformer(folders[e].path(), options));
        }
        write(folders[3], c, config_of(c));
        all = std::make_unique<exit_model<draft_id>>(
            load_exit_model<draft_id>(folders[3].path(), options, {.sequences = sequences}));
    }
    /// The row from scratch.
    std::vector<float> wanted(std::size_t exit, const std::vector<draft_id>& text) {
        model<draft_id>& m = of_exit[exit];
        m.truncate(0);
        const auto rows = m.score(text);
        const auto row = rows[text.size() - 1].values;
        return {row.begin(), row.end()};
    }
};

std::vector<float> row_of(const logits_rows<draft_id>& rows, std::size_t i) {
    return {rows[i].values.begin(), rows[i].values.end()};
}

TEST_CASE("rows of an exit are those of a model of its layers alone, whatever was asked before") {
    for (const precision p : {precision::f32, precision::bf16, precision::q8})
        for (const bool norms : {false, true}) {
            loaded l(p, norms, 2);
            exit_model<draft_id>& m = *l.all;
            CHECK(m.exits() == 3);
            CHECK(m.row_bytes(0) < m.row_bytes(1));
            std::minstd_rand bits(norms ? 5 : 6);
            std::vector<draft_id> texts[2];
            for (std::size_t step = 0; step < 120; ++step) {
                const std::size_t s = bits() / 7 % 2;
                std::vector<draft_id>& text = texts[s];
                if (bits() / 7 % 4 == 0 || text.size() > 50) {
                    text.resize(text.empty() ? 0 : bits() / 7 % text.size());
                    m.truncate(s, text.size());
                }
                std::vector<draft_id> more;
                for (std::size_t n = 1 + bits() / 7 % 4; n > 0; --n)
                    more.emplace_back(static_cast<std::int32_t>(bits() / 7 % 77));
                m.append(s, more);
                text.insert(text.end(), more.begin(), more.end());
                REQUIRE(m.size(s) == text.size());
                // Most often behind the last token, going deeper; now and then anywhere.
                const bool anywhere = bits() / 7 % 5 == 0;
                const std::size_t first =
                    anywhere ? bits() / 7 % text.size() : text.size() - more.size();
                std::size_t e = bits() / 7 % 3;
                do {
                    const auto rows = m.exit_rows(s, e, first, text.size() - first);
                    REQUIRE(rows.size() == text.size() - first);
                    for (const std::size_t i : {first, text.size() - 1}) {
                        const auto end = text.begin() + static_cast<std::ptrdiff_t>(i + 1);
                        CAPTURE(step, e, i, first, text.size());
                        REQUIRE(row_of(rows, i - first) == l.wanted(e, {text.begin(), end}));
                    }
                } while (bits() / 7 % 2 == 0 && ++e < 3);
            }
        }
}

TEST_CASE("a long prompt whose deeper layers are filled in later, in several passes") {
    toy::checkpoint c = with_exits(false);
    c.context = 256;
    const toy::temporary_folder folder;
    write(folder, c, config_of(c));
    exit_model<draft_id> m = load_exit_model<draft_id>(folder.path());
    model<draft_id> whole(load_transformer(folder.path()));
    std::vector<draft_id> text;
    for (int i = 0; i < 200; ++i)
        text.emplace_back(i * 31 % 77);
    m.append(0, text);
    (void)m.exit_rows(0, 0, 199, 1);
    const auto wanted = whole.score(text);
    CHECK(row_of(m.exit_rows(0, 2, 199, 1), 0) == row_of(wanted, 199));
    const auto rows = m.exit_rows(0, 2, 100, 100); // more than a pass holds
    for (const std::size_t i : {100U, 163U, 199U})
        CHECK(row_of(rows, i - 100) == row_of(wanted, i));
}

TEST_CASE("the contract of models with exits, bit for bit") {
    const toy::checkpoint c = with_exits(true);
    const toy::temporary_folder folder;
    write(folder, c, config_of(c));
    const contract_report report =
        check_exits<draft_id>([&] { return load_exit_model<draft_id>(folder.path()); });
    CHECK(report.text().empty());
    CHECK(report.kept.size() == 5);
}

TEST_CASE("exits that are none of the model's are refused, by name") {
    const toy::checkpoint c = with_exits(false);
    const auto refused = [&](const nlohmann::json& exits, const char* why) {
        const toy::temporary_folder folder;
        nlohmann::json config = c.config();
        config["specdec_exits"] = exits;
        write(folder, c, config);
        CHECK_THROWS_WITH(load_exit_model<draft_id>(folder.path()), Contains(why));
    };
    refused({2, 1, 4}, "rise");
    refused({0, 4}, "rise");
    refused({1, 5}, "rise");
    refused({1, 3}, "after all 4");
    refused("all", "array");
    refused(nullptr, "config.json");
    const toy::temporary_folder folder;
    toy::checkpoint half = with_exits(true);
    half.tensors.erase("exits.1.norm.weight");
    write(folder, half, config_of(half));
    CHECK_THROWS_WITH(load_exit_model<draft_id>(folder.path()), Contains("exits.1.norm.weight"));
    const toy::temporary_folder with_norms;
    write(with_norms, with_exits(true), config_of(with_exits(true)));
    nlohmann::json window = config_of(c);
    window["architectures"] = {"MistralForCausalLM"};
    window["sliding_window"] = 64;
    write(folder, c, window);
    CHECK(load_exit_model<draft_id>(folder.path(), {}, {.capacity = 64}).capacity() == 64);
    CHECK_THROWS_WITH(load_exit_model<draft_id>(folder.path(), {}, {.capacity = 65}),
                      Contains("model with exits: capacity: expected at most the 64 tokens"));
    CHECK_THROWS_WITH(load_exit_model<draft_id>(with_norms.path(), {}, {.exits = {2, 4}}),
                      Contains("a norm for each"));
    const toy::temporary_folder good;
    write(good, c, c.config());
    exit_model<draft_id> m = load_exit_model<draft_id>(good.path(), {}, {.exits = {2, 4}});
    CHECK(m.exits() == 2);
    CHECK_THROWS_WITH(m.append(0, std::vector<draft_id>{draft_id{77}}), Contains("77"));
    CHECK_THROWS_WITH(m.append(0, std::vector<draft_id>(65, draft_id{0})), Contains("64"));
    CHECK_THROWS_WITH(m.append(1, std::vector<draft_id>{draft_id{7}}), Contains("sequence 1"));
    CHECK(m.size(0) == 0);
    CHECK_THROWS_AS(load_exit_model<draft_id>(good.path(), {}, {.exits = {2}}), specdec::error);
}

} // namespace exit_model_tests
