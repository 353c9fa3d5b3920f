// SPDX-License-Identifier: MIT
// Question: a drafter's head computes n of 49,152 logits. What does a draft token cost beside these
// products, and what does deciding about it cost, where it writes a row over the vocabulary and
// where it lists what it computed? Times are those of a token; the products are copied from
// memory, and the target's laws are made before.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <specdec/bridge/identity.hpp>
#include <specdec/draft/model_drafter.hpp>
#include <specdec/draft/stop_rule.hpp>
#include <specdec/head/headed_model.hpp>
#include <specdec/head/listing_model.hpp>
#include <specdec/head/trimmed_head.hpp>
#include <specdec/sampling/coin/philox_coin.hpp>
#include <specdec/verify/block_verification.hpp>
#include <specdec/verify/token_rejection.hpp>

#include "question.hpp"

using namespace specdec;

namespace {

constexpr std::size_t vocabulary = 49152, gamma = 8, contexts = 64, drafts = 20;

/// Rows of logits as language models give them: a bulk, and a few peaks.
std::vector<float> make_rows(std::size_t rows) {
    std::mt19937 random(1);
    std::normal_distribution<float> normal;
    std::vector<float> all(rows * vocabulary);
    for (float& logit : all)
        logit = 2.5F * normal(random);
    for (std::size_t r = 0; r < rows; ++r)
        for (int peak = 0; peak < 6; ++peak)
            all[r * vocabulary + random() % (vocabulary / 12) * 12] = 11 + 1.5F * normal(random);
    return all;
}

/// A head whose products are known: the hidden state says of which context.
struct known_head {
    std::vector<float> products; // [contexts, n]
    std::size_t n;
    [[nodiscard]] static std::size_t vocabulary_size() { return vocabulary; }
    [[nodiscard]] static std::size_t width() { return 1; }
    void multiply(const hidden_states&, scores_out) {}
    void multiply(const hidden_states&, std::size_t, std::size_t, scores_out) {}
    void multiply(const hidden_states& x, std::span<const draft_id>, scores_out out) const {
        for (std::size_t i = 0; i < x.size(); ++i)
            std::memcpy(out.data + i * out.stride,
                        &products[static_cast<std::size_t>(x[i].values[0]) * n], n * sizeof(float));
    }
};

/// Its states count the tokens fed.
struct counting_model {
    std::size_t held = 0, fed = 0;
    float states[gamma + 1] = {};
    [[nodiscard]] std::size_t size() const { return held; }
    [[nodiscard]] static std::size_t capacity() { return 64; }
    [[nodiscard]] static std::size_t vocabulary_size() { return vocabulary; }
    void append(std::span<const draft_id> ids) { held += ids.size(); }
    void truncate(std::size_t n) { held = n; }
    hidden_states hidden(std::span<const draft_id> ids) {
        append(ids);
        for (std::size_t i = 0; i < ids.size(); ++i)
            states[i] = static_cast<float>(fed++ % contexts);
        return {states, ids.size(), 1, 1};
    }
};

/// One way to draft: its draft is made again and again, and decided on.
template <class Bridge, class D>
struct way {
    way(Bridge b, D& d) : bridge(std::move(b)), drafter(d) {
        const std::vector<draft_id> prefix{draft_id{0}};
        bridge.start(prefix);
    }

    Bridge bridge;
    D& drafter;
    philox_coin coin{1};
    std::uint64_t position = 0;

    auto draft() {
        ++position;
        return bridge.propose(drafter, fixed_length{gamma}, coin, {position, gamma, {}, {}});
    }
    /// Returns the tokens that it drafted.
    std::size_t draft_several() {
        for (std::size_t i = 0; i < drafts; ++i)
            (void)draft();
        return gamma * drafts;
    }
    template <class Rule>
    std::size_t decide(const Rule& rule, const auto& proposals,
                       std::span<const softmax_law<target_id>> laws) {
        for (std::size_t i = 0; i < drafts; ++i) {
            ++position;
            const auto law_at = [&](std::size_t place) {
                return laws[(position + place) % contexts];
            };
            benchmark::DoNotOptimize(rule(law_at, proposals, coin, position).accepted);
        }
        return gamma * drafts;
    }
};

/// The drafts of the model's two ways, with n of the logits computed.
struct scene {
    using few_tokens = trimmed_head<draft_id, known_head>;
    using whole_model = headed_model<counting_model, few_tokens>;
    using listing = listing_model<counting_model, few_tokens>;
    using rows_way = way<identity_bridge, model_drafter<whole_model>>;
    using lists_way = way<decltype(make_identity_bridge<draft_list_store>(0, 0, 0, 0, 0)),
                          model_drafter<listing>>;

    explicit scene(std::size_t n) : head{{}, n} {
        const std::vector<float> rows = make_rows(contexts);
        for (std::size_t r = 0; r < contexts; ++r)
            laws.emplace_back(
                logits_row<target_id>{std::span(rows).subspan(r * vocabulary, vocabulary)});
        std::vector<draft_id> ids;
        for (std::size_t v = 0; v < vocabulary; v += vocabulary / n)
            ids.push_back(id_at<draft_id>(v));
        for (std::size_t r = 0; r < contexts; ++r)
            for (const draft_id d : ids)
                head.products.push_back(rows[r * vocabulary + d.index()]);
        few.emplace(head, token_list<draft_id>(std::move(ids), vocabulary));
        dense.emplace(whole.emplace(one, *few));
        sparse.emplace(listed.emplace(two, *few));
        in_rows.emplace(make_identity_bridge(vocabulary, vocabulary, 64, gamma), *dense);
        in_lists.emplace(
            make_identity_bridge<draft_list_store>(vocabulary, vocabulary, 64, gamma, n), *sparse);
    }
    scene(const scene&) = delete;
    scene& operator=(const scene&) = delete;

    std::vector<softmax_law<target_id>> laws;
    known_head head;
    counting_model one, two;
    std::optional<few_tokens> few;
    std::optional<whole_model> whole;
    std::optional<listing> listed;
    std::optional<model_drafter<whole_model>> dense;
    std::optional<model_drafter<listing>> sparse;
    std::optional<rows_way> in_rows;
    std::optional<lists_way> in_lists;
};

/// With a draft that all verifications verify.
struct drafted_scene : scene {
    using scene::scene;

    decltype(in_rows->draft().proposals) rows_draft = in_rows->draft().proposals;
    decltype(in_lists->draft().proposals) lists_draft = in_lists->draft().proposals;
};

void add_questions(std::size_t n) {
    const std::string name = "lists/computed:" + std::to_string(n) + "/";
    bench::question<scene> drafting(name + "draft", {.repetitions = 25}, n);
    drafting.add("rows", [](scene& s) { return s.in_rows->draft_several(); });
    drafting.add("lists", [](scene& s) { return s.in_lists->draft_several(); });

    const auto decide = [&](const std::string& what, const auto& rule) {
        bench::question<drafted_scene> deciding(
            name + what, {.repetitions = 25, .unit = benchmark::kNanosecond}, n);
        deciding.add("rows", [rule](drafted_scene& s) {
            return s.in_rows->decide(rule, s.rows_draft, s.laws);
        });
        deciding.add("lists", [rule](drafted_scene& s) {
            return s.in_lists->decide(rule, s.lists_draft, s.laws);
        });
    };
    decide("token_rejection", token_rejection{});
    decide("block_verification", block_verification{});
    decide("token_rejection_by_sums", token_rejection{.thinning = {0, 0}});
}

const bench::registration here([] {
    for (const std::size_t n : {4096UL, 12288UL})
        add_questions(n);
});

} // namespace
