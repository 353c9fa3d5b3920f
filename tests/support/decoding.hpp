// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <specdec/bridge/identity.hpp>
#include <specdec/bridge/no_bridge.hpp>
#include <specdec/decode/generate.hpp>
#include <specdec/decode/session.hpp>
#include <specdec/draft/model_drafter.hpp>
#include <specdec/draft/no_drafter.hpp>
#include <specdec/draft/stop_rule.hpp>
#include <specdec/sampling/coin/philox_coin.hpp>
#include <specdec/verify/block_verification.hpp>
#include <specdec/verify/exact_match.hpp>
#include <specdec/verify/token_rejection.hpp>

#include "toy_model.hpp"
#include "toy_pair.hpp"

namespace specdec::testing {

using target_text_model = text_model<target_id>;
using draft_text_model = text_model<draft_id>;

/// The toy pair with models of it, and all a decode needs.
struct toy_world {
    toy_pair two{};
    std::vector<target_id> prompt = two.encode("ab c a");
    std::vector<draft_id> prefix{toy_pair::bos};
    double agreement = 0.8;
    double control = -40;
    std::size_t capacity = 512; ///< of the models

    [[nodiscard]] target_text_model target_model() const {
        return {two.target.table(),
                {.seed = 1, .agreement = agreement, .control = control, .capacity = capacity}};
    }
    [[nodiscard]] draft_text_model draft_model() const {
        return {two.draft.table(),
                {.seed = 2, .agreement = agreement, .control = control, .capacity = capacity}};
    }
    [[nodiscard]] session_settings settings(float temperature, std::size_t most = 200) const {
        return {.target = {.temperature = temperature},
                .draft = {.temperature = temperature},
                .capacity = most,
                .end_ids = {toy_pair::end}};
    }
};

/// A text of the world under a bridge and a rule, which has begun, and all that its rounds take.
template <class B, class V>
struct begun_text {
    target_text_model target;
    draft_text_model draft;
    model_drafter<draft_text_model> drafter{draft};
    philox_coin coin;
    session<B, V> decoder;

    begun_text(const toy_world& world, B bridge, V rule, const session_settings& settings,
               std::uint64_t seed = 7)
        : target(world.target_model()), draft(world.draft_model()), coin(seed),
          decoder(std::move(bridge), rule, settings) {
        decoder.start(world.prompt, world.prefix);
    }
};

/// A model that knows a text by heart and says `end` behind it. Its next token is the first of the
/// next `bytes` bytes.
template <class Id>
toy_model<Id> knowing(const tiny_tokenizer<Id>& words, const std::string& text, Id end,
                      std::size_t bytes = std::string::npos) {
    return toy_model<Id>(words.vocabulary_size(), [=, &words](const std::vector<Id>& context) {
        const std::string so_far = text_of(words, context);
        std::vector<float> row(words.vocabulary_size());
        std::vector<Id> next{end};
        if (so_far.size() < text.size()) {
            next.clear();
            words.encode(text.substr(so_far.size(), bytes), encode_mode::continuation, next);
        }
        row[next[0].index()] = 50;
        return row;
    });
}

/// The committed tokens behind the prompt of `rounds` full rounds.
template <class Session, class Target, class D, class Stop, class C>
std::vector<target_id> play(Session& decoder, Target& target, D& drafter, const Stop& stop, C& coin,
                            std::size_t tokens) {
    const std::size_t begin = decoder.tokens().size();
    while (decoder.tokens().size() - begin < tokens) {
        const round_result r =
            decoder.round(target, drafter, stop, coin, tokens - (decoder.tokens().size() - begin));
        decoder.commit(r.tokens.size());
    }
    const auto all = decoder.tokens();
    return {all.begin() + static_cast<std::ptrdiff_t>(begin), all.end()};
}

/// The tokens of the target alone: a plain loop over its rows, nothing of the library but law and
/// coin.
template <class C>
std::vector<target_id> target_alone(const toy_world& world, float temperature, C coin,
                                    std::size_t tokens) {
    target_text_model model = world.target_model();
    std::vector<target_id> context = world.prompt;
    for (std::size_t i = 0; i < tokens; ++i) {
        model.truncate(0);
        const logits_rows<target_id> rows = model.score(context);
        const auto p = make_law(rows[rows.size() - 1], {.temperature = temperature});
        context.push_back(coin.pick({context.size(), purpose::target}, p));
    }
    return {context.begin() + static_cast<std::ptrdiff_t>(world.prompt.size()), context.end()};
}

/// Calls f(name, bridge) for every bridge of the toy pair.
template <class F>
void for_every_bridge(const toy_world& world, std::size_t max_draft, F&& f) {
    f("tli", world.two.tli(max_draft, world.capacity));
    f("union", world.two.union_of(max_draft, world.capacity));
    f("nested tli", world.two.nested(max_draft, world.capacity));
    f("slrs", world.two.slrs(max_draft, world.capacity));
    f("slem", world.two.slem(max_draft, world.capacity));
    f("spelling", world.two.spelling(max_draft, world.capacity));
}

/// Calls f(name, rule) for every lossless rule.
template <class F>
void for_every_rule(F&& f) {
    f("exact match", exact_match{});
    f("token rejection", token_rejection{});
    f("block verification", block_verification{});
}

/// A reader that keeps everything, and cancels where it is told to.
struct recorder {
    std::string text{};
    std::vector<token_origin> origins{}; ///< one a byte
    std::size_t rounds = 0;
    std::size_t cancel_after_bytes = ~std::size_t{0};
    std::size_t cancel_after_rounds = ~std::size_t{0};

    bool bytes(std::string_view bytes, token_origin origin) {
        text += bytes;
        origins.resize(text.size(), origin);
        return text.size() < cancel_after_bytes;
    }
    bool round(const round_result&) { return ++rounds < cancel_after_rounds; }
};

} // namespace specdec::testing
