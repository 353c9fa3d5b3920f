// Decodes a text with drafts of a model of another tokenizer, by the facade, and by its engine alone: the
// same text.
#include <cstddef>
#include <cstdio>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <specdec/speculation/speculation.hpp>

namespace {

/// Words, each of which may follow the others with a chance that depends on the last two.
template <class Id>
class small_model {
public:
    explicit small_model(std::size_t words) : words_(words), rows_(64 * words) {}
    [[nodiscard]] std::size_t size() const { return held_.size(); }
    [[nodiscard]] std::size_t capacity() const { return 256; }
    [[nodiscard]] std::size_t vocabulary_size() const { return words_; }
    void append(std::span<const Id> ids) { held_.insert(held_.end(), ids.begin(), ids.end()); }
    [[nodiscard]] specdec::logits_rows<Id> score(std::span<const Id> ids) {
        rows_.resize(ids.size() * words_);
        for (std::size_t i = 0; i < ids.size(); ++i) {
            held_.push_back(ids[i]);
            const std::size_t last = held_.size() > 1 ? held_[held_.size() - 2].index() : 0;
            for (std::size_t v = 0; v < words_; ++v)
                rows_[i * words_ + v] = static_cast<float>((7 * last + 3 * ids[i].index() + 5 * v) % 11);
        }
        return {rows_.data(), ids.size(), words_, words_};
    }
    void truncate(std::size_t n) { held_.resize(n); }

private:
    std::size_t words_;
    std::vector<Id> held_;
    std::vector<float> rows_;
};

/// One byte or two a token; the longer ones first.
template <class Id>
class small_tokenizer {
public:
    explicit small_tokenizer(std::vector<std::string> words) : words_(std::move(words)) {}
    [[nodiscard]] std::size_t vocabulary_size() const { return words_.size(); }
    [[nodiscard]] std::string_view bytes(Id id) const { return words_[id.index()]; }
    void encode(std::string_view text, specdec::encode_mode, std::vector<Id>& out) const {
        while (!text.empty()) {
            std::size_t best = 0;
            for (std::size_t w = 0; w < words_.size(); ++w)
                if (text.starts_with(words_[w]) && words_[w].size() > words_[best].size())
                    best = w;
            out.push_back(specdec::id_at<Id>(best));
            text.remove_prefix(words_[best].size());
        }
    }

private:
    std::vector<std::string> words_;
};

} // namespace

int main() {
    using namespace specdec;
    small_tokenizer<target_id> target_words({"a", "b", "ab"});
    small_tokenizer<draft_id> draft_words({"b", "a", "ba", "bb"});
    small_model<target_id> target(3);
    small_model<draft_id> draft(4);
    speculation pair(speculation_side<target_id>{.models = target, .tokenizer = target_words},
                     speculation_side<draft_id>{.models = draft, .tokenizer = draft_words});
    decode_settings settings{.sampling = {.temperature = 0}, .limits = {.max_tokens = 30}};
    settings.lengths = {.kind = length_kind::fixed, .length = 3};
    settings.rule = rule::slem;
    const decode_result drafted = pair.generate("ab", settings);
    settings.rule = rule::autoregressive;
    const decode_result alone = pair.generate("ab", settings);
    std::printf("%s\n%.2f tokens a target call\n", drafted.text.c_str(),
                drafted.counts.tokens_per_target_call());
    return drafted.text == alone.text && drafted.text.size() > 30 ? 0 : 1;
}
