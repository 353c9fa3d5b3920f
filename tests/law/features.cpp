// SPDX-License-Identifier: MIT
// Drafters that read the target's features, under any head: the law of whole sessions, enumerated,
// is the target's. What a round drafts is what it would from scratch, whatever was drafted before.
#include <specdec/head/features/feature_model.hpp>

#include <cstdio>
#include <span>
#include <vector>

#include <specdec/core/model/one_sequence.hpp>
#include <specdec/draft/hot_swapped_model.hpp>
#include <specdec/head/features/feature_recorder.hpp>
#include <specdec/head/full_head.hpp>
#include <specdec/head/headed_model.hpp>
#include <specdec/head/trimmed_head.hpp>

#include "support/toy_features.hpp"
#include "support/toy_head.hpp"
#include "toy_bridges.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace features_tests {

/// When a drafter's weights change.
enum class weights {
    stay,
    change_between,  ///< whoever drives the rounds gives them to the feature_model
    change_by_model, ///< a hot_swapped_model does
};

/// A drafter's model whose every row is compared with the one from scratch, with the weights of the
/// round. Features: the feature_model below it.
template <class Model, class Features>
struct checked_model {
    static constexpr model_traits traits{.begin_draft_round = true};
    Model& model;
    toy_body& body;
    Features& features;
    weights when = weights::stay;
    window_settings window{};
    sequence held{};
    std::size_t round = 0;
    std::uint64_t seen = 0; // of all that was fed, discarded tokens too

    /// Other weights, which depend on all that was seen.
    void change() { features.use((body.weights() + 1 + seen) % 3); }

    [[nodiscard]] std::size_t size() const { return model.size(); }
    [[nodiscard]] std::size_t capacity() const { return model.capacity(); }
    [[nodiscard]] std::size_t vocabulary_size() const { return model.vocabulary_size(); }
    void begin_draft_round(std::size_t n) {
        if (when == weights::change_between && n != round)
            change();
        model.begin_draft_round(n);
        held.resize(model.size());
        round = n;
    }
    void append(std::span<const draft_id> ids) {
        model.append(ids);
        take(ids);
    }
    [[nodiscard]] logits_rows<draft_id> score(std::span<const draft_id> ids) {
        const auto rows = model.score(ids);
        take(ids);
        return rows;
    }
    void truncate(std::size_t n) {
        model.truncate(n);
        held.resize(n);
    }
    void take(std::span<const draft_id> ids) {
        for (const draft_id id : ids) {
            held.push_back(id.value);
            seen += id.index();
        }
        if (body.places() !=
            toy_body::places_of(held, round, body.vocabulary_size(), body.weights(), window_of()))
            throw "places are not those from scratch";
    }
    [[nodiscard]] context_window window_of() const {
        return window.length > 0 ? context_window(window, 64, "test") : context_window();
    }
};

template <class Model, class Features>
checked_model(Model&, toy_body&, Features&, weights, window_settings)
    -> checked_model<Model, Features>;

/// A session behind a prompt of two tokens, whose drafter reads what the target found of them.
template <class MakeHead, class Rule>
played play_features(const toy_words& two, const auto& with_bridge, const MakeHead& make_head,
                     const Rule& rule, scenario s, weights when, std::uint64_t seed,
                     const window_settings& window) {
    const std::size_t vocabulary = two.target_size();
    row_tree p(toy_rows(row_kind::random, vocabulary, seed));
    s.start.prompt = {target_id{1}, target_id{0}};
    s.start.prefix = {};
    const auto make = [&](auto&, const auto& use) {
        auto plain = model_behind<target_id, toy_feature_target>(p, 2);
        feature_records records(1, plain.capacity(), plain.feature_width());
        feature_recorder target(plain, records);
        toy_body body(vocabulary);
        feature_model model(body, records, window);
        auto unit = toy_head<draft_id>::unit(vocabulary);
        auto head = make_head(unit);
        headed_model headed(model, head);
        one_sequence<draft_id, decltype(headed)> draft(headed, 0);
        checked_model checked{draft, body, model, when, window};
        hot_swapped_model changing(checked, [&]() -> decltype(&checked) {
            if (when != weights::change_by_model)
                return nullptr;
            checked.change();
            return &checked;
        });
        model_drafter drafter(changing);
        use(target, drafter);
    };
    return play(made_world{p, make}, with_bridge, rule, s);
}

template <class MakeHead>
void check_features(const char* name, const MakeHead& make_head, weights when = weights::stay,
                    const window_settings& window = {}) {
    static const toy_words two({"a", "b", "c"}, {"a", "b", "c"});
    law_ledger ledger;
    std::uint64_t seed = 500;
    const auto check = [&](const auto& with_bridge) {
        std::vector<scenario> all = every_scenario(target_id{2});
        if (window.length > 0) // asked again for what a longer draft has moved
            all.insert(all.begin(), {"not used, then redone",
                                     {{.gamma = 2, .what = then::nothing}, {.gamma = 1}}});
        check_under_rules(ledger, name, all, [&](const auto& rule, const scenario& s) {
            return play_features(two, with_bridge, make_head, rule, s, when, ++seed, window);
        });
    };
    check(two.identity());
    if (when == weights::stay)
        check(two.tli());
    std::printf("features, %-19s worst total variation %.1e\n", name, ledger.worst);
}

TEST_CASE("drafters that read features: the law of the target", "[law]") {
    check_features("full head",
                   [](auto& head) { return full_head<draft_id, toy_head<draft_id>>(head); });
    check_features("trimmed head", [](auto& head) {
        return trimmed_head(head, token_list<draft_id>({draft_id{0}, draft_id{2}}, 3));
    });
}

TEST_CASE("weights of drafters that read features change between rounds: the law of the target",
          "[law]") {
    const auto full = [](auto& head) { return full_head<draft_id, toy_head<draft_id>>(head); };
    check_features("other weights", full, weights::change_between);
    check_features("hot_swapped_model", full, weights::change_by_model);
}

TEST_CASE("windows of drafters that read features: the law of the target", "[law]") {
    const auto full = [](auto& head) { return full_head<draft_id, toy_head<draft_id>>(head); };
    // They move between rounds, and in the midst of drafts that are longer than their room.
    check_features("window 2", full, weights::stay, {.length = 2, .block = 1, .room = 0});
    check_features("window 3", full, weights::stay, {.length = 3, .block = 1, .room = 1});
    check_features("window 4, block 2", full, weights::stay, {.length = 4, .block = 2, .room = 0});
    check_features("window 4, 2 kept", full, weights::stay,
                   {.length = 4, .keep = 2, .block = 1, .room = 2});
    check_features("window 3, weights", full, weights::change_between,
                   {.length = 3, .block = 1, .room = 0});
}

} // namespace features_tests
