// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <specdec/decode/generate.hpp>
#include <specdec/draft/model_drafter.hpp>
#include <specdec/draft/stop_rule.hpp>

#include "rule_law.hpp"
#include "support/toy_model.hpp"

namespace specdec::testing {

/// Toy models over row trees; the first token of every context is a prompt token that rows ignore.
template <class Id>
toy_model<Id> model_of(row_tree& rows, std::size_t vocabulary) {
    return toy_model<Id>(vocabulary, [&rows](const std::vector<Id>& context) {
        sequence prefix;
        for (std::size_t i = 1; i < context.size(); ++i)
            prefix.push_back(context[i].value);
        return rows(prefix);
    });
}

/// The first `length` tokens that a session commits: round(i) makes round i, and commits what it
/// likes of it.
template <class Session, class Round>
sequence play(Session& decoder, std::size_t length, const Round& round) {
    const std::size_t begin = decoder.tokens().size();
    for (std::size_t i = 0; decoder.tokens().size() < begin + length; ++i)
        round(i);
    sequence text;
    for (const target_id t : decoder.tokens().subspan(begin, length))
        text.push_back(t.value);
    return text;
}

/// Adds the coin's path of a new session to a law: round(session, i) as above.
template <class Session, Coin C, class Round>
void play(joint_law& law, Session decoder, C& coin, std::size_t length, const Round& round) {
    decoder.start(std::vector{target_id{0}}, std::vector{draft_id{0}});
    const sequence text = play(decoder, length, [&](std::size_t i) { round(decoder, i); });
    law[text] += coin.probability();
}

struct law_case {
    row_tree& p;
    row_tree& q;
    std::size_t target_size;
    std::size_t draft_size;
    std::size_t gamma;                ///< draft tokens
    std::size_t length;               ///< tokens of the joint law
    sampling_parameters parameters{}; ///< of both sides
    double threshold = 0;             ///< of the confidence stop rule
};

/// The law of the first `length` tokens: the first round through the session (bridge, verifier,
/// loop: production code), the rest from the target alone. CoinType: interval_coin, for the
/// decisions that ship; enumerating_coin, for the probabilities that laws say they have.
template <class CoinType = interval_coin, class Bridge, class Rule>
joint_law session_law(const Bridge& bridge, const Rule& rule, const law_case& c) {
    joint_law law;
    enumerate<CoinType>([&](CoinType& coin) {
        auto target = model_of<target_id>(c.p, c.target_size);
        auto draft = model_of<draft_id>(c.q, c.draft_size);
        model_drafter drafter(draft);
        session_settings settings;
        settings.target = settings.draft = c.parameters;
        settings.capacity = 16;
        session decoder(bridge, rule, settings);
        const std::vector prompt{target_id{0}};
        const std::vector prefix{draft_id{0}};
        decoder.start(prompt, prefix);
        const round_result round =
            decoder.round(target, drafter, confidence{c.threshold, c.gamma}, coin, c.length);
        sequence text;
        for (const target_id t : round.tokens)
            text.push_back(t.value);
        continue_with_target(law, text, coin.probability(), c.p, c.length, c.parameters);
    });
    return law;
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
        if (v + 1 == c.target_size) {
            law[text + "<end>"] += step;
            continue;
        }
        sequence longer = prefix;
        longer.push_back(static_cast<int>(v));
        add_target_text(law, longer, text + std::string(tokenizer.bytes(id_at<target_id>(v))), step,
                        tokenizer, c);
    }
}

template <class CoinType = interval_coin, class Bridge, class Rule, class Tokenizer>
text_law decoded_text_law(const Bridge& bridge, const Rule& rule, const Tokenizer& tokenizer,
                          const law_case& c) {
    text_law law;
    enumerate<CoinType>([&](CoinType& coin) {
        auto target = model_of<target_id>(c.p, c.target_size);
        auto draft = model_of<draft_id>(c.q, c.draft_size);
        model_drafter drafter(draft);
        session_settings settings;
        settings.target = settings.draft = c.parameters;
        settings.capacity = 16;
        settings.end_ids = {id_at<target_id>(c.target_size - 1)};
        session decoder(bridge, rule, settings);
        const std::vector prompt{target_id{0}};
        const std::vector prefix{draft_id{0}};
        decoder.start(prompt, prefix);
        struct : silent_reader {
            std::string text;
            bool bytes(std::string_view b, token_origin) {
                text += b;
                return true;
            }
        } reader;
        generation_limits limits;
        limits.max_tokens = c.length;
        const finish_reason why =
            generate(decoder, target, drafter, confidence{c.threshold, c.gamma}, coin, tokenizer,
                     limits, reader);
        if (why == finish_reason::end_token)
            reader.text += "<end>";
        law[reader.text] += coin.probability();
    });
    return law;
}

} // namespace specdec::testing
