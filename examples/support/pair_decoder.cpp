// SPDX-License-Identifier: MIT
#include "support/pair_decoder.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "support/grouping_check.hpp"
#include "support/interrupt.hpp"
#include "support/steady_seconds.hpp"
#include <specdec/decode/measure_costs.hpp>
#include <specdec/decode/outcome_of.hpp>
#include <specdec/draft/length_rule.hpp>
#include <specdec/specdec.hpp>
#include <specdec/vocab/split_tokens.hpp>

namespace specdec::examples {

namespace {

using target_tokenizer = any_tokenizer<target_id>;
using draft_tokenizer = any_tokenizer<draft_id>;

/// A drafter of one of the texts side by side, which may grow longer than its context.
struct sequence_drafter {
    using model_type = one_sequence<draft_id, any_batch_model<draft_id>>;
    model_type model;
    model_drafter<model_type> full;
    windowed_drafter<model_drafter<model_type>> drafter;

    sequence_drafter(any_batch_model<draft_id>& models, std::size_t sequence)
        : model(models, sequence), full(model), drafter(full) {}
    sequence_drafter(const sequence_drafter&) = delete;
};

/// What a text leaves behind, and who reads it meanwhile.
template <class B>
struct text_collector {
    decode_result& result;
    listener* next;
    const B& bridge;
    const target_tokenizer& target;
    const draft_tokenizer* draft; // null without a drafter
    length_rule& lengths;
    bool bytes(std::string_view text, token_origin origin) {
        result.text += text;
        return next == nullptr || next->bytes(text, origin);
    }
    bool round(const round_result& r) {
        if constexpr (requires { bridge.extra_forwards(); }) {
            result.extra_forwards.push_back(bridge.extra_forwards());
        }
        if constexpr (requires { bridge.first_row_known(); }) {
            result.first_rows_known += bridge.first_row_known() ? 1U : 0U;
        }
        for (std::size_t i = 0; i < r.log_probabilities.of_tokens.size(); ++i) {
            const auto likeliest = r.log_probabilities.likeliest(i);
            result.log_probabilities.push_back({{r.tokens[i], r.log_probabilities.of_tokens[i]},
                                                {likeliest.begin(), likeliest.end()}});
        }
        if (draft != nullptr)
            lengths.learn(outcome_of(r, target, *draft, extra_forwards()));
        return interrupted() == 0 && (next == nullptr || next->round(r));
    }
    [[nodiscard]] std::size_t extra_forwards() const {
        if constexpr (requires { bridge.extra_forwards(); })
            return bridge.extra_forwards();
        else
            return 0;
    }
};

/// One text and all that belongs to it alone.
template <class B, class V, Drafter D, Coin C>
struct text_seat {
    const text_request& request;
    decode_result& result;
    session<B, V> decoding;
    D& drafter;
    length_rule lengths;
    C coin;
    text_collector<B> reader;
    using run_type = text_run<session<B, V>, D, length_rule, C, target_tokenizer, text_collector<B>,
                              steady_seconds>;
    run_type run;

    text_seat(const text_request& asked, decode_result& out, B bridge, V verifier,
              session_settings settings, D& drafts, length_rule when, C random,
              const target_tokenizer& words, const draft_tokenizer* draft_words,
              const generation_limits& limits)
        : request(asked), result(out), decoding(std::move(bridge), verifier, std::move(settings)),
          drafter(drafts), lengths(std::move(when)), coin(std::move(random)),
          reader{out, asked.reader, decoding.bridge(), words, draft_words, lengths},
          run(decoding, drafter, lengths, coin, words, limits, reader, steady_seconds{}) {}

    void finish() {
        const auto produced = decoding.tokens().subspan(request.prompt.size());
        result.tokens.assign(produced.begin(), produced.end());
        if (result.log_probabilities.size() > produced.size()) // of tokens behind the end
            result.log_probabilities.resize(produced.size());
        result.counts = decoding.counts();
        result.finish = *run.finish();
    }
};

class pair_decoder final : public decoder {
public:
    pair_decoder(side<target_id> target, std::unique_ptr<draft_side> draft, cache_settings cache)
        : target_(std::move(target)), draft_(std::move(draft)), cache_settings_(std::move(cache)) {
        facts_.target = target_.facts;
        facts_.computing = target_.computing;
        if (draft_) {
            facts_.drafter = draft_->facts;
            facts_.shared = draft_->map.shared();
            facts_.equal_vocabularies =
                draft_->map.draft_fingerprint() == draft_->map.target_fingerprint();
            if (!cache_settings_.file.empty())
                make_cache(); // what is wrong with the file is said before anything is decoded
        }
    }

    [[nodiscard]] const pair_facts& facts() const override { return facts_; }
    [[nodiscard]] const vocabulary& target_table() const override { return target_.table; }
    [[nodiscard]] const vocabulary* draft_table() const override {
        return draft_ ? &draft_->table : nullptr;
    }
    [[nodiscard]] std::optional<target_id> begin_token() const override {
        return target_.begins_with_bos ? target_.bos : std::nullopt;
    }
    void encode(std::string_view text, text_position where,
                std::vector<target_id>& out) const override {
        target_.tokenizer.encode(text, where, out);
    }

    [[nodiscard]] std::size_t sequences() const override { return target_.models.sequences(); }

    [[nodiscard]] decode_results run(std::span<const text_request> texts,
                                     const decode_settings& s) override {
        if (!applies(s.how, facts_))
            throw error("rule", std::string(rules[static_cast<std::size_t>(s.how)].name),
                        draft_ ? "expected equal vocabularies" : "expected a drafter");
        const auto own_coin = [&](std::uint64_t sequence) { return philox_coin(s.seed, sequence); };
        const auto shared_coin = [&](std::uint64_t sequence) {
            return coupled_coin(keys(), s.seed, sequence);
        };
        if (s.how == rule::autoregressive) {
            no_drafter nobody;
            const auto drafter = [&](std::size_t) -> no_drafter& { return nobody; };
            const auto bridge = [] { return no_bridge{}; };
            if (s.shared_noise)
                return decode(texts, s, bridge, coupled_match(keys()), drafter, shared_coin);
            return decode(texts, s, bridge, exact_match{}, drafter, own_coin);
        }
        const std::size_t capacity = target_.models.capacity(), most = s.lengths.length;
        std::vector<std::optional<sequence_drafter>> drafters(sequences()); // one a text
        const auto drafter = [&](std::size_t i) -> auto& {
            return drafters[i].emplace(draft_->models, i).drafter;
        };
        const auto with = [&](const auto& bridge, auto verifier) {
            return decode(texts, s, bridge, verifier, drafter, own_coin);
        };
        const auto coupled = [&](const auto& bridge) {
            return decode(texts, s, bridge, coupled_match(keys()), drafter, shared_coin);
        };
        const auto tli = [&] {
            return tli_bridge<target_tokenizer, draft_tokenizer>(tli_map(draft_->map), context(),
                                                                 most);
        };
        const auto nested = [&] {
            return nested_tli_bridge<target_tokenizer, draft_tokenizer>(pieces(), context(), most);
        };
        const auto slem = [&] {
            return slem_bridge(target_.tokenizer, draft_->tokenizer, draft_->map, capacity, most);
        };
        const pushforward_limits limits{draft_tokens(s.how, s.lengths.length), s.lightest_draft};
        switch (s.how) {
        case rule::identity:
            return with(
                [&] {
                    return make_identity_bridge(draft_->models.vocabulary_size(),
                                                target_.models.vocabulary_size(), capacity, most);
                },
                token_rejection{});
        case rule::union_of_both:
            return with(
                [&] {
                    return union_bridge<target_tokenizer, draft_tokenizer>(union_map(draft_->map),
                                                                           context(), most);
                },
                token_rejection{});
        case rule::tli:
            return with(tli, token_rejection{});
        case rule::tli_exact:
            return with(tli, exact_match{});
        case rule::tli_block:
            return with(tli, block_verification{});
        case rule::nested:
            return with(nested, token_rejection{});
        case rule::nested_block:
            return with(nested, block_verification{});
        case rule::slrs:
            return with(
                [&] {
                    return make_slrs_bridge(target_.tokenizer, draft_->tokenizer, draft_->map,
                                            order(), edges(), capacity, limits);
                },
                token_rejection{});
        case rule::merge:
            return with(
                [&] {
                    return make_ngram_merge_bridge(ngrams(), target_.tokenizer, draft_->tokenizer,
                                                   draft_->map, order(), capacity, limits);
                },
                token_rejection{});
        case rule::merge_paper:
            return with(
                [&] {
                    return lossy::paper_merge_bridge(merging(ngrams(), target_.tokenizer,
                                                             draft_->tokenizer, draft_->map,
                                                             order()),
                                                     draft_->map, context(), most);
                },
                token_rejection{});
        case rule::coupled:
            return coupled(tli);
        case rule::coupled_slem:
            return coupled(slem);
        case rule::coupled_spelling:
            return coupled([&] {
                return spelling_bridge(spellings(), context(), 2 * capacity,
                                       {.max_draft = s.lengths.length});
            });
        default:
            return with(slem, exact_match{});
        }
    }

    [[nodiscard]] const cost_table* costs() override {
        if (!draft_)
            return nullptr;
        if (!costs_) {
            one_sequence<target_id, any_batch_model<target_id>> target(target_.models, 0);
            one_sequence<draft_id, any_batch_model<draft_id>> drafter(draft_->models, 0);
            costs_ = measure_costs(target, drafter, steady_seconds{});
        }
        return &*costs_;
    }

    [[nodiscard]] const any_cache* cache() const override {
        return uses_cache_ ? &*cache_ : nullptr;
    }

    [[nodiscard]] double surprise(std::span<const target_id> prompt,
                                  std::span<const target_id> text,
                                  const sampling_parameters& sampling) override {
        constexpr std::size_t rows_a_pass = 64;
        one_sequence<target_id, any_batch_model<target_id>> model(target_.models, 0);
        std::vector<target_id> fed(prompt.begin(), prompt.end());
        fed.insert(fed.end(), text.begin(), text.end());
        const std::size_t known = prompt.size() - 1; // the last of the prompt gives the first row
        model.truncate(0);
        if (known > 0)
            model.append({fed.data(), known});
        double sum = 0;
        for (std::size_t done = 0; done < text.size();) {
            const std::size_t left = text.size() - done;
            const std::size_t n = left < rows_a_pass ? left : rows_a_pass;
            const logits_rows<target_id> rows = model.score({fed.data() + known + done, n});
            for (std::size_t i = 0; i < n; ++i)
                sum -= make_law(rows[i], sampling).log_probability(text[done + i]);
            done += n;
        }
        return sum;
    }

private:
    [[nodiscard]] retokenised_context<target_tokenizer, draft_tokenizer> context() const {
        return retokenised_context(target_.tokenizer, draft_->tokenizer, draft_->map,
                                   target_.models.capacity());
    }

    /// What texts of one rule and temperature have taught about lengths, from text to text.
    struct learned_lengths {
        acceptance_table table;
        std::optional<length_rule> rule; // of the text that ended last
    };
    length_rule lengths_of(const decode_settings& s, learned_lengths& learned) {
        const std::size_t longest = draft_tokens(s.how, s.lengths.length);
        if (!draft_ || s.how == rule::autoregressive)
            return fixed_length{0};
        switch (s.lengths.kind) {
        case length_kind::fixed:
            return fixed_length{longest};
        case length_kind::confidence:
            return confidence{s.lengths.threshold, longest};
        case length_kind::entropy:
            return entropy_bound{.threshold = s.lengths.threshold, .length = longest};
        case length_kind::heuristic:
            return learned.rule ? *learned.rule
                                : heuristic_length(longest < 5 ? longest : 5, longest);
        case length_kind::predicted:
            return predicted_end(learned.table, s.lengths.threshold, longest);
        default:
            if (!s.lengths.costs.empty())
                costs_ = costs_of(s.lengths.costs);
            return learned.rule ? *learned.rule
                                : cost_aware(learned.table, *costs(), {.longest = longest});
        }
    }

    /// Texts by one kind of bridge and verifier; drafter(i): of the i-th sequence.
    template <class MakeBridge, class V, class DrafterOf, class CoinOf>
    decode_results decode(std::span<const text_request> texts, const decode_settings& s,
                          const MakeBridge& bridge, const V& verifier, const DrafterOf& drafter,
                          const CoinOf& coin) {
        using seat_type =
            text_seat<decltype(bridge()), V, std::remove_reference_t<decltype(drafter(0))>,
                      decltype(coin(0))>;
        session_settings settings;
        settings.target = settings.draft = s.sampling;
        settings.capacity = target_.models.capacity();
        // By target tokens: a draft that ends by itself would cost a residual.
        if (by_target_tokens(s.how) || s.lengths.length > settings.max_proposals)
            settings.max_proposals = s.lengths.length;
        settings.end_ids = target_.ends;
        settings.log_probabilities = s.log_probabilities;
        learned_lengths& learned = learned_[{s.how, s.sampling.temperature, s.lengths.kind}];

        decode_results results;
        results.texts.resize(texts.size());
        grouping_check target(target_.models, s.check_grouping, results.grouping);
        std::vector<std::optional<seat_type>> seats(sequences());
        batch<decltype(target), typename seat_type::run_type, steady_seconds> together(target);
        const steady_seconds clock;
        const double begin = clock();
        std::size_t next = 0;
        const auto take_seats = [&] {
            for (std::size_t i = 0; i < seats.size(); ++i) {
                if (seats[i] && seats[i]->run.finish()) {
                    seats[i]->finish();
                    learned.rule = seats[i]->lengths;
                    seats[i]->result.seconds = clock() - begin;
                    seats[i].reset();
                }
                if (seats[i] || next == texts.size() || interrupted() != 0)
                    continue;
                const text_request& text = texts[next];
                seats[i].emplace(text, results.texts[next++], bridge(), verifier, settings,
                                 drafter(i), lengths_of(s, learned), coin(text.sequence),
                                 target_.tokenizer, draft_ ? &draft_->tokenizer : nullptr,
                                 s.limits);
                seats[i]->lengths.start(text.prompt.size(), seats.size());
                seats[i]->decoding.start(text.prompt, draft_prefix(text.prompt));
                together.join(seats[i]->run);
            }
        };
        try {
            do
                take_seats();
            while (together.round() || (next < texts.size() && interrupted() == 0));
            take_seats();
        } catch (const error& problem) { // of whose text it was
            for (const std::optional<seat_type>& x : seats)
                if (x && !x->request.where.empty() &&
                    (texts.size() == 1 || (!together.holds(x->run) && !x->run.finish())))
                    throw error(x->request.where + ": " + problem.what());
            throw;
        }
        results.seconds = clock() - begin;
        results.passes = together.counts();
        return results;
    }

    /// The drafter's own beginning of a text, unless the prompt brings it along.
    [[nodiscard]] std::span<const draft_id> draft_prefix(std::span<const target_id> prompt) const {
        if (!draft_ || !draft_->begins_with_bos || !draft_->bos || prompt.empty())
            return {};
        if (draft_->map.to_draft(prompt.front()) == *draft_->bos)
            return {};
        return {&*draft_->bos, 1};
    }

    // Tables of both vocabularies, built when a rule first needs them and shared by all texts.
    template <class Table, class Make>
    static Table& made(std::optional<Table>& table, const Make& make) {
        if (!table)
            table.emplace(make());
        return *table;
    }
    const byte_order<draft_id>& order() {
        return made(order_, [&] { return byte_order<draft_id>(draft_->tokenizer); });
    }
    const seams& edges() {
        return made(edges_, [&] { return seams(target_.tokenizer); });
    }
    const token_pieces& pieces() {
        return made(pieces_, [&] {
            return split_tokens(target_.tokenizer, draft_->tokenizer, draft_->map);
        });
    }
    const canonical_spellings& spellings() {
        return made(spellings_, [&] {
            return canonical_spellings(target_.tokenizer, draft_->tokenizer, draft_->map);
        });
    }
    const text_keys& keys() {
        return made(keys_, [&] {
            return draft_ ? text_keys(target_.tokenizer, draft_->map)
                          : text_keys(target_.tokenizer);
        });
    }
    void make_cache() {
        cache_.emplace(cache_settings_, draft_->table.fingerprint(), target_.table.fingerprint());
    }
    /// One for all texts side by side: a batch decides all of a round before any text learns.
    any_cache& ngrams() {
        if (!cache_)
            make_cache();
        uses_cache_ = true;
        return *cache_;
    }

    side<target_id> target_;
    std::unique_ptr<draft_side> draft_;
    pair_facts facts_;
    cache_settings cache_settings_;
    std::optional<byte_order<draft_id>> order_;
    std::optional<seams> edges_;
    std::optional<token_pieces> pieces_;
    std::optional<canonical_spellings> spellings_;
    std::optional<text_keys> keys_;
    std::optional<any_cache> cache_;
    bool uses_cache_ = false;
    std::optional<cost_table> costs_;
    std::map<std::tuple<rule, float, length_kind>, learned_lengths> learned_;
};

} // namespace

std::unique_ptr<decoder>
make_pair_decoder(side<target_id> target, std::unique_ptr<draft_side> draft, cache_settings cache) {
    return std::make_unique<pair_decoder>(std::move(target), std::move(draft), std::move(cache));
}

} // namespace specdec::examples
