// SPDX-License-Identifier: MIT
// Question: a drafter's head computes n of 49,152 logits. What does a draft token cost beside these
// products, and what does deciding about it cost, where it writes a row over the vocabulary and
// where it lists what it computed? Microseconds a token and their ratio, minima of one run; the
// products are copied from memory, and the target's laws are made before.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
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

#include "take_turns.hpp"

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
    way(Bridge b, D& d) : bridge(std::move(b)), drafter(d) {}

    Bridge bridge;
    D& drafter;
    philox_coin coin{1};
    std::uint64_t position = 0;

    auto draft() {
        ++position;
        return bridge.propose(drafter, fixed_length{gamma}, coin, {position, gamma, {}, {}});
    }
    void draft_several() {
        for (std::size_t i = 0; i < drafts; ++i)
            (void)draft();
    }
    template <class Rule>
    void decide(const Rule& rule, const auto& proposals,
                std::span<const softmax_law<target_id>> laws) {
        for (std::size_t i = 0; i < drafts; ++i) {
            ++position;
            const auto law_at = [&](std::size_t place) {
                return laws[(position + place) % contexts];
            };
            sink += rule(law_at, proposals, coin, position).accepted;
        }
    }
    std::size_t sink = 0;
};

void print(const char* what, const bench::timed_case& rows, const bench::timed_case& lists) {
    const double tokens = static_cast<double>(gamma * drafts) * 1e-6;
    std::printf("  %-34s %8.2f us %8.2f us   %5.1f\n", what, rows.seconds / tokens,
                lists.seconds / tokens, rows.seconds / lists.seconds);
}

void measure(std::size_t n, const std::vector<float>& rows,
             std::span<const softmax_law<target_id>> laws) {
    std::vector<draft_id> ids;
    for (std::size_t v = 0; v < vocabulary; v += vocabulary / n)
        ids.push_back(id_at<draft_id>(v));
    known_head head{{}, n};
    for (std::size_t r = 0; r < contexts; ++r)
        for (const draft_id d : ids)
            head.products.push_back(rows[r * vocabulary + d.index()]);

    trimmed_head few(head, token_list<draft_id>(std::move(ids), vocabulary));
    counting_model one, two;
    headed_model whole(one, few);
    listing_model listing(two, few);
    model_drafter dense(whole);
    model_drafter sparse(listing);
    way in_rows{make_identity_bridge(vocabulary, vocabulary, 64, gamma), dense};
    way in_lists{make_identity_bridge<draft_list_store>(vocabulary, vocabulary, 64, gamma, n),
                 sparse};
    const std::vector<draft_id> prefix{draft_id{0}};
    in_rows.bridge.start(prefix);
    in_lists.bridge.start(prefix);

    std::vector<bench::timed_case> cases{
        {"", [&] { in_rows.draft_several(); }},
        {"", [&] { in_lists.draft_several(); }},
    };
    bench::take_turns(cases, 25);
    std::printf("%zu of %zu computed: %36s %11s   ratio\n", n, vocabulary, "rows", "lists");
    print("a draft token: row or list, and draw", cases[0], cases[1]);

    const auto rows_draft = in_rows.draft().proposals;
    const auto lists_draft = in_lists.draft().proposals;
    const auto decide = [&](const char* name, const auto& rule) {
        std::vector<bench::timed_case> decisions{
            {"", [&] { in_rows.decide(rule, rows_draft, laws); }},
            {"", [&] { in_lists.decide(rule, lists_draft, laws); }},
        };
        bench::take_turns(decisions, 25);
        print(name, decisions[0], decisions[1]);
    };
    decide("deciding, token rejection", token_rejection{});
    decide("deciding, block verification", block_verification{});
    decide("deciding by sums, token rejection", token_rejection{.thinning = {0, 0}});
}

} // namespace

int main() {
    const std::vector<float> rows = make_rows(contexts);
    std::vector<softmax_law<target_id>> laws;
    for (std::size_t r = 0; r < contexts; ++r)
        laws.emplace_back(
            logits_row<target_id>{std::span(rows).subspan(r * vocabulary, vocabulary)});
    for (const std::size_t n : {4096UL, 12288UL})
        measure(n, rows, laws);
}
