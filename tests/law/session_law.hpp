// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include <specdec/decode/generate.hpp>
#include <specdec/draft/model_drafter.hpp>
#include <specdec/draft/stop_rule.hpp>

#include "rule_law.hpp"
#include "support/ids.hpp"
#include "support/toy_model.hpp"

namespace specdec::testing {

/// Toy models over row trees, which ignore the first `before` tokens of every context: a prompt.
template <class Id, class Model = toy_model<Id>>
Model model_behind(row_tree& rows, std::size_t before) {
    return Model(rows({}).size(), [&rows, before](std::span<const Id> context) -> const auto& {
        return rows(context.subspan(before < context.size() ? before : context.size()));
    });
}
template <class Id, class Model = toy_model<Id>>
Model model_of(row_tree& rows) {
    return model_behind<Id, Model>(rows, 1);
}

/// The models of a path, which are functions of rows. As every world: use(target, drafter).
struct toy_models {
    row_tree& p;
    row_tree& q;

    template <Coin C, class Use>
    void operator()(C&, const Use& use) const {
        auto target = model_of<target_id>(p);
        auto draft = model_of<draft_id>(q);
        model_drafter drafter(draft);
        use(target, drafter);
    }
};

/// How a session of a law test is made and begins.
struct session_start {
    session_settings settings{.capacity = 16};
    std::size_t max_draft = 2; ///< of the bridge
    std::vector<target_id> prompt{target_id{0}};
    std::vector<draft_id> prefix{draft_id{0}};
};

/// A session on one path, with all that its rounds need.
template <class Session, class Target, class D, class C>
struct session_player {
    Session& decoder;
    Target& target;
    D& drafter;
    C& coin;

    round_result round(const auto& stop, std::size_t room = 8) {
        return decoder.round(target, drafter, stop, coin, room);
    }
    /// The first `length` tokens that it commits: make(i) makes round i, and commits what it likes
    /// of it.
    template <class Round>
    sequence play(std::size_t length, const Round& make) {
        const std::size_t begin = decoder.tokens().size();
        for (std::size_t i = 0; decoder.tokens().size() < begin + length; ++i)
            make(i);
        return values_of(decoder.tokens().subspan(begin, length));
    }
};

/// use(player) of a new session of a world's models. with_bridge(draft tokens, f) calls f(bridge).
template <class World, class WithBridge, class Rule, Coin C, class Use, class Laws = softmax_rows>
void with_session(World&& world, const WithBridge& with_bridge, const Rule& rule,
                  const session_start& how, C& coin, const Use& use, const Laws& laws = {}) {
    world(coin, [&](auto& target, auto& drafter) {
        with_bridge(how.max_draft, [&](auto bridge) {
            session decoder(std::move(bridge), rule, how.settings, laws);
            decoder.start(how.prompt, how.prefix);
            use(session_player<decltype(decoder), std::remove_reference_t<decltype(target)>,
                               std::remove_reference_t<decltype(drafter)>, C>{decoder, target,
                                                                              drafter, coin});
        });
    });
}

/// A maker of bridges of one bridge.
template <class Bridge>
auto always(const Bridge& bridge) {
    return [&bridge](std::size_t, const auto& use) { use(bridge); };
}

struct law_case {
    row_tree& p;
    row_tree& q;
    std::size_t gamma;                ///< draft tokens
    std::size_t length;               ///< tokens of the joint law
    sampling_parameters parameters{}; ///< of both sides
    double threshold = 0;             ///< of the confidence stop rule

    [[nodiscard]] confidence stop() const { return {threshold, gamma}; }
    [[nodiscard]] session_start start(std::vector<target_id> ends = {}) const {
        return {.settings = {.target = parameters,
                             .draft = parameters,
                             .capacity = 16,
                             .end_ids = std::move(ends)}};
    }
};

/// The law of the first `length` tokens: the first round through the session (bridge, verifier,
/// loop: production code), the rest from the target alone. C: interval_coin, for the decisions that
/// ship; enumerating_coin, for the probabilities that laws say they have.
template <class C = interval_coin, class Bridge, class Rule>
joint_law session_law(const Bridge& bridge, const Rule& rule, const law_case& c) {
    const session_start start = c.start();
    const joint_law rounds = on_every_path<C>([&](C& coin) {
        sequence text;
        with_session(toy_models{c.p, c.q}, always(bridge), rule, start, coin,
                     [&](auto x) { text = values_of(x.round(c.stop(), c.length).tokens); });
        return text;
    });
    return continued_with_target(rounds, c.p, c.length, c.parameters);
}

/// The mean of how many proposals the first round keeps.
template <class Bridge, class Rule>
double mean_kept(const Bridge& bridge, const Rule& rule, const law_case& c) {
    return mean_of(on_every_path<enumerating_coin>([&](enumerating_coin& coin) {
        std::size_t kept = 0;
        with_session(toy_models{c.p, c.q}, always(bridge), rule, c.start(), coin,
                     [&](auto x) { kept = x.round(c.stop(), c.length).accepted; });
        return kept;
    }));
}

/// A text as bytes, and its law when the target decodes `tokens` tokens through the whole loop.
using text_law = std::map<std::string, double>;

/// The same from the target alone, by recursion over its laws: what every decode must match.
template <class Tokenizer>
void add_target_text(text_law& law, const sequence& prefix, const std::string& text,
                     double probability, const Tokenizer& tokenizer, const law_case& c) {
    if (prefix.size() == c.length) {
        law[text] += probability;
        return;
    }
    const auto row = target_law_at(c.p, prefix, c.parameters);
    for (std::size_t v = 0; v < row.size(); ++v) {
        const double step = probability * row.probability(id_at<target_id>(v));
        if (step == 0)
            continue;
        if (v + 1 == row.size()) {
            law[text + "<end>"] += step;
            continue;
        }
        sequence longer = prefix;
        longer.push_back(static_cast<int>(v));
        add_target_text(law, longer, text + std::string(tokenizer.bytes(id_at<target_id>(v))), step,
                        tokenizer, c);
    }
}

template <class C = interval_coin, class Bridge, class Rule, class Tokenizer>
text_law decoded_text_law(const Bridge& bridge, const Rule& rule, const Tokenizer& tokenizer,
                          const law_case& c) {
    struct text_reader : silent_reader {
        std::string text;
        bool bytes(std::string_view b, token_origin) {
            text += b;
            return true;
        }
    };
    return on_every_path<C>([&](C& coin) {
        text_reader reader;
        const session_start start = c.start({id_at<target_id>(tokenizer.vocabulary_size() - 1)});
        with_session(toy_models{c.p, c.q}, always(bridge), rule, start, coin, [&](auto x) {
            const finish_reason why = generate(x.decoder, x.target, x.drafter, c.stop(), coin,
                                               tokenizer, {.max_tokens = c.length}, reader);
            if (why == finish_reason::end_token)
                reader.text += "<end>";
        });
        return reader.text;
    });
}

/// Whole decodes on rows of several kinds: use(same), where same(bridge, rule) requires the law of
/// the text to be the target's.
template <class Tokenizer, class Use>
void for_decoded_texts(const Tokenizer& tokenizer, std::uint64_t seed, const Use& use) {
    const std::size_t n = tokenizer.vocabulary_size();
    for (const row_kind p_kind : {row_kind::random, row_kind::zeros, row_kind::ties})
        for (const row_kind q_kind : {row_kind::random, row_kind::peaked}) {
            row_tree p(toy_rows(p_kind, n, ++seed)), q(toy_rows(q_kind, n, ++seed));
            const law_case c{p, q, 2, 3};
            text_law expected;
            add_target_text(expected, {}, "", 1.0, tokenizer, c);
            use([&](const auto& bridge, const auto& rule) {
                REQUIRE(total_variation(decoded_text_law(bridge, rule, tokenizer, c), expected) <
                        exact);
            });
        }
}

} // namespace specdec::testing
