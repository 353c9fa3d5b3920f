// SPDX-License-Identifier: MIT
// How to use specdec with an engine of your own (here a toy): two tokenizers, two models, any rule.
#include <iostream>
#include <specdec/speculation/speculation.hpp>
using namespace specdec;

// 1. A tokenizer. Id is target_id or draft_id, two types, so that vocabularies never get mixed.
template <class Id>
struct my_tokenizer {
    std::vector<std::string> table; // longer words last
    my_tokenizer(std::initializer_list<std::string> words) : table(words) {}
    std::size_t vocabulary_size() const { return table.size(); }
    std::string_view bytes(Id id) const { return table[id.index()]; }
    void encode(std::string_view text, encode_mode, std::vector<Id>& out) const {
        for (std::size_t w; !text.empty(); text.remove_prefix(table[w].size())) {
            for (w = table.size() - 1; !text.starts_with(table[w]);)
                --w;
            out.push_back(id_at<Id>(w));
        }
    }
};

// 2. A model (your KV cache): append() feeds, score() also gives rows, truncate() takes back.
template <class Id>
struct my_model {
    std::size_t n;                    // vocabulary size
    std::vector<float> follows, rows; // [n, n] logits by the last token; what score() returned
    std::vector<Id> context;
    explicit my_model(const my_tokenizer<Id>& t) : n(t.vocabulary_size()), follows(n * n, -2) {
        t.encode("the cat that ate the rat that ate the tea at the heart ", {}, context); // reads
        for (std::size_t i = 1; i < context.size(); ++i)
            follows[context[i - 1].index() * n + context[i].index()] += 5;
        truncate(0);
    }
    std::size_t size() const { return context.size(); }
    std::size_t capacity() const { return 1000; }
    std::size_t vocabulary_size() const { return n; }
    void truncate(std::size_t length) { context.resize(length); }
    void append(std::span<const Id> ids) {
        if (ids.size() > capacity() - size())
            throw error("my_model", "context", "expected room for the tokens");
        context.insert(context.end(), ids.begin(), ids.end());
    }
    logits_rows<Id> score(std::span<const Id> ids) {
        append(ids);
        rows.clear();
        for (const Id id : ids)
            rows.insert(rows.end(), &follows[id.index() * n], &follows[id.index() * n] + n);
        return {rows.data(), ids.size(), n, n}; // the last: floats from row to row
    }
};

// 3. Any rule by its name; without one the usual rule. Drafts of 6 tokens: this toy costs nothing.
int main(int argc, char** argv) try {
    const my_tokenizer<target_id> words{"t", "h", "e", "a", "c", "r", " ", "at", " the", " that"};
    const my_tokenizer<draft_id> pieces{" ", "a", "c", "e", "h", "r", "t", "ate", "at ", "the "};
    my_model target(words);
    my_model draft(pieces);
    speculation pair({target, words}, {draft, pieces});
    decode_settings s{.sampling = {.temperature = 0},
                      .lengths = {.kind = length_kind::fixed, .length = 6},
                      .limits = {.max_tokens = 60}};
    const decode_result alone = pair.generate(
        " the", {.rule = rule::autoregressive, .sampling = s.sampling, .limits = s.limits});
    if (argc > 1)
        s.rule = rule_of(argv[1]).rule;
    const decode_result text = pair.generate(" the", s);
    std::cout << pair.explain(s) << text.text << "\n"
              << text.counts.tokens_per_target_call() << " tokens a call\n"
              << (text.text == alone.text ? "The same text.\n" : "Different texts!\n");
    return std::cout.flush() ? 0 : (std::cerr << "standard output: cannot be written\n", 1);
} catch (const specdec::error& e) {
    std::cerr << e.what() << "\n";
    return 1;
}
