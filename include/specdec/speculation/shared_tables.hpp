// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <optional>
#include <utility>

#include <specdec/draft/counted/successor_table.hpp>
#include <specdec/draft/lookup/lookup_memory.hpp>
#include <specdec/sampling/coin/text_keys.hpp>
#include <specdec/speculation/any/any_ngram_cache.hpp>
#include <specdec/speculation/any/any_tokenizer.hpp>
#include <specdec/speculation/any/ngram_cache_files.hpp>
#include <specdec/vocab/encoding/safe_cuts.hpp>
#include <specdec/vocab/spelling/canonical_spellings.hpp>
#include <specdec/vocab/spelling/pieces.hpp>
#include <specdec/vocab/spelling/split_tokens.hpp>
#include <specdec/vocab/table/byte_order.hpp>
#include <specdec/vocab/table/id_map.hpp>

namespace specdec {

/// The tables of both vocabularies, each built when a rule first needs it and shared by all texts.
/// Borrows tokenizers and map. Not for several threads at a time.
class shared_tables {
public:
    using target_tokenizer = any_tokenizer<target_id>;
    using draft_tokenizer = any_tokenizer<draft_id>;

    /// draft and map: null without a drafter.
    shared_tables(const target_tokenizer& target, const draft_tokenizer* draft, const id_map* map,
                  cache_settings cache)
        : target_(target), draft_(draft), map_(map), cache_settings_(std::move(cache)) {
        validate(cache_settings_);
        if (draft_ != nullptr && !cache_settings_.file.empty())
            make_cache(); // what is wrong with the file is said before anything is decoded
    }

    [[nodiscard]] const text_keys& keys() {
        return made(keys_, [&] {
            return draft_ != nullptr ? text_keys(target_, *map_) : text_keys(target_);
        });
    }
    [[nodiscard]] const byte_order<target_id>& word_order() {
        return made(word_order_, [&] { return byte_order<target_id>(target_); });
    }
    /// Of all texts; those that use it keep it.
    [[nodiscard]] std::shared_ptr<lookup_memory> lookups() {
        if (lookups_ == nullptr)
            lookups_ = std::make_shared<lookup_memory>();
        return lookups_;
    }
    /// The same of rule recycling.
    [[nodiscard]] std::shared_ptr<successor_table> successors() {
        if (successors_ == nullptr)
            successors_ = new_successors();
        return successors_;
    }
    [[nodiscard]] std::shared_ptr<successor_table> new_successors() const {
        return std::make_shared<successor_table>(target_.vocabulary_size());
    }
    void forget_lookups() {
        lookups_.reset();
        successors_.reset();
    }
    // Of a pair:
    [[nodiscard]] const byte_order<draft_id>& order() {
        return made(order_, [&] { return byte_order<draft_id>(*draft_); });
    }
    [[nodiscard]] const safe_cuts& edges() {
        return made(edges_, [&] { return safe_cuts(target_); });
    }
    [[nodiscard]] const token_pieces& pieces() {
        return made(pieces_, [&] { return split_tokens(target_, *draft_, *map_); });
    }
    [[nodiscard]] const canonical_spellings& spellings() {
        return made(spellings_, [&] { return canonical_spellings(target_, *draft_, *map_); });
    }
    /// One for all texts side by side: a batch decides all of a round before any text learns.
    [[nodiscard]] any_ngram_cache& ngrams() {
        if (!cache_)
            make_cache();
        uses_cache_ = true;
        return *cache_;
    }
    /// As it was before any text.
    [[nodiscard]] std::unique_ptr<any_ngram_cache> new_ngrams() const {
        return std::make_unique<any_ngram_cache>(opened());
    }
    /// What texts have taught it is gone. No text is using it.
    void forget_ngrams() {
        cache_.reset();
        uses_cache_ = false;
    }
    /// Null before ngrams() was asked for.
    [[nodiscard]] const any_ngram_cache* cache() const { return uses_cache_ ? &*cache_ : nullptr; }

private:
    template <class Table, class Make>
    static Table& made(std::optional<Table>& table, const Make& make) {
        if (!table)
            table.emplace(make());
        return *table;
    }
    void make_cache() { cache_.emplace(opened()); }
    [[nodiscard]] any_ngram_cache opened() const {
        return open_ngram_cache(cache_settings_, draft_->fingerprint(), target_.fingerprint());
    }

    const target_tokenizer& target_;
    const draft_tokenizer* draft_;
    const id_map* map_;
    cache_settings cache_settings_;
    std::optional<byte_order<target_id>> word_order_;
    std::optional<byte_order<draft_id>> order_;
    std::optional<safe_cuts> edges_;
    std::optional<token_pieces> pieces_;
    std::optional<canonical_spellings> spellings_;
    std::optional<text_keys> keys_;
    std::shared_ptr<lookup_memory> lookups_;
    std::shared_ptr<successor_table> successors_;
    std::optional<any_ngram_cache> cache_;
    bool uses_cache_ = false;
};

} // namespace specdec
