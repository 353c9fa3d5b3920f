// SPDX-License-Identifier: MIT
#include "support/pair_decoder.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/grouping_check.hpp"
#include "support/steady_seconds.hpp"
#include <specdec/specdec.hpp>
#include <specdec/vocab/split_tokens.hpp>

namespace specdec::examples {

namespace {

using target_tokenizer = any_tokenizer<target_id>;
using draft_tokenizer = any_tokenizer<draft_id>;

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

    [[nodiscard]] decode_result run(std::span<const target_id> prompt, const decode_settings& s,
                                    listener& reader) override {
        if (!applies(s.how, facts_))
            throw error("rule", std::string(rules[static_cast<std::size_t>(s.how)].name),
                        draft_ ? "expected equal vocabularies" : "expected a drafter");
        const philox_coin coin(s.seed, s.sequence);
        if (s.how == rule::autoregressive) {
            no_drafter nobody;
            if (s.shared_noise)
                return decode(no_bridge{}, coupled_match(keys()), nobody,
                              coupled_coin(keys(), s.seed, s.sequence), prompt, s, reader);
            return decode(no_bridge{}, exact_match{}, nobody, coin, prompt, s, reader);
        }
        const std::size_t capacity = target_.model.capacity(), most = s.draft_length;
        model_drafter drafter(draft_->model);
        const auto with = [&](auto bridge, auto verifier) {
            return decode(std::move(bridge), verifier, drafter, coin, prompt, s, reader);
        };
        const auto coupled = [&](auto bridge) {
            return decode(std::move(bridge), coupled_match(keys()), drafter,
                          coupled_coin(keys(), s.seed, s.sequence), prompt, s, reader);
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
        const pushforward_limits limits{draft_tokens(s.how, s.draft_length), 0};
        switch (s.how) {
        case rule::identity:
            return with(make_identity_bridge(draft_->model.vocabulary_size(),
                                             target_.model.vocabulary_size(), capacity, most),
                        token_rejection{});
        case rule::union_of_both:
            return with(union_bridge<target_tokenizer, draft_tokenizer>(union_map(draft_->map),
                                                                        context(), most),
                        token_rejection{});
        case rule::tli:
            return with(tli(), token_rejection{});
        case rule::tli_exact:
            return with(tli(), exact_match{});
        case rule::tli_block:
            return with(tli(), block_verification{});
        case rule::nested:
            return with(nested(), token_rejection{});
        case rule::nested_block:
            return with(nested(), block_verification{});
        case rule::slrs:
            return with(make_slrs_bridge(target_.tokenizer, draft_->tokenizer, draft_->map, order(),
                                         edges(), capacity, limits),
                        token_rejection{});
        case rule::merge:
            return with(make_ngram_merge_bridge(ngrams(), target_.tokenizer, draft_->tokenizer,
                                                draft_->map, order(), capacity, limits),
                        token_rejection{});
        case rule::merge_paper:
            return with(lossy::paper_merge_bridge(merging(ngrams(), target_.tokenizer,
                                                          draft_->tokenizer, draft_->map, order()),
                                                  draft_->map, context(), most),
                        token_rejection{});
        case rule::coupled:
            return coupled(tli());
        case rule::coupled_slem:
            return coupled(slem());
        default:
            return with(slem(), exact_match{});
        }
    }

    [[nodiscard]] const any_cache* cache() const override { return cache_ ? &*cache_ : nullptr; }

    [[nodiscard]] double surprise(std::span<const target_id> prompt,
                                  std::span<const target_id> text,
                                  const sampling_parameters& sampling) override {
        constexpr std::size_t rows_a_pass = 16;
        std::vector<target_id> fed(prompt.begin(), prompt.end());
        fed.insert(fed.end(), text.begin(), text.end());
        const std::size_t known = prompt.size() - 1; // the last of the prompt gives the first row
        target_.model.truncate(0);
        if (known > 0)
            target_.model.append({fed.data(), known});
        double sum = 0;
        for (std::size_t done = 0; done < text.size();) {
            const std::size_t left = text.size() - done;
            const std::size_t n = left < rows_a_pass ? left : rows_a_pass;
            const logits_rows<target_id> rows = target_.model.score({fed.data() + known + done, n});
            for (std::size_t i = 0; i < n; ++i)
                sum -= make_law(rows[i], sampling).log_probability(text[done + i]);
            done += n;
        }
        return sum;
    }

private:
    [[nodiscard]] retokenised_context<target_tokenizer, draft_tokenizer> context() const {
        return retokenised_context(target_.tokenizer, draft_->tokenizer, draft_->map,
                                   target_.model.capacity());
    }

    /// One text by one bridge and verifier.
    template <class B, class V, Drafter D, Coin C>
    decode_result decode(B bridge, V verifier, D& drafter, C coin,
                         std::span<const target_id> prompt, const decode_settings& s,
                         listener& reader) {
        session_settings settings;
        settings.target = settings.draft = s.sampling;
        settings.capacity = target_.model.capacity();
        // By target tokens: a draft that ends by itself would cost a residual.
        if (by_target_tokens(s.how) || s.draft_length > settings.max_proposals)
            settings.max_proposals = s.draft_length;
        settings.end_ids = target_.ends;
        specdec::session<B, V> session(std::move(bridge), verifier, std::move(settings));
        const confidence stop{s.stop_confidence, draft_tokens(s.how, s.draft_length)};
        decode_result result;
        struct collector {
            decode_result& result;
            listener& next;
            const B& bridge;
            bool bytes(std::string_view text, token_origin origin) {
                result.text += text;
                return next.bytes(text, origin);
            }
            bool round(const round_result& r) {
                if constexpr (requires { bridge.extra_forwards(); })
                    result.extra_forwards.push_back(bridge.extra_forwards());
                return next.round(r);
            }
        };
        target_.model.truncate(0); // what an earlier text left there must not help
        grouping_check target(target_.model, s.check_grouping, result.grouping);
        const steady_seconds clock;
        const double begin = clock();
        session.start(prompt, draft_prefix(prompt));
        result.finish = generate(session, target, drafter, stop, coin, target_.tokenizer, s.limits,
                                 collector{result, reader, session.bridge()}, clock);
        result.seconds = clock() - begin;
        const auto produced = session.tokens().subspan(prompt.size());
        result.tokens.assign(produced.begin(), produced.end());
        result.counts = session.counts();
        return result;
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
    const text_keys& keys() {
        return made(keys_, [&] {
            return draft_ ? text_keys(target_.tokenizer, draft_->map)
                          : text_keys(target_.tokenizer);
        });
    }
    any_cache& ngrams() {
        return made(cache_, [&] {
            return any_cache(cache_settings_, draft_->table.fingerprint(),
                             target_.table.fingerprint());
        });
    }

    side<target_id> target_;
    std::unique_ptr<draft_side> draft_;
    pair_facts facts_;
    cache_settings cache_settings_;
    std::optional<byte_order<draft_id>> order_;
    std::optional<seams> edges_;
    std::optional<token_pieces> pieces_;
    std::optional<text_keys> keys_;
    std::optional<any_cache> cache_;
};

} // namespace

std::unique_ptr<decoder>
make_pair_decoder(side<target_id> target, std::unique_ptr<draft_side> draft, cache_settings cache) {
    return std::make_unique<pair_decoder>(std::move(target), std::move(draft), std::move(cache));
}

} // namespace specdec::examples
