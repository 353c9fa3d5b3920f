// SPDX-License-Identifier: MIT
// How to use specdec with an engine of your own (here a toy): two tokenizers, two models, one loop.
#include <iostream>
#include <specdec/specdec.hpp>
#include <specdec/vocab/intersection.hpp>
using namespace specdec;

// 1. A tokenizer. Id is target_id or draft_id, two types, so that vocabularies never get mixed.
template <class Id>
struct my_tokenizer {
    vocabulary table; // longer words last; for step 4
    my_tokenizer(std::initializer_list<const char*> words) {
        for (const char* word : words)
            table.add(word, token_kind::normal);
    }
    std::size_t vocabulary_size() const { return table.size(); }
    std::string_view bytes(Id id) const { return table.text(id.index()); }
    void encode(std::string_view text, text_position, std::vector<Id>& out) const {
        for (std::size_t w; !text.empty(); text.remove_prefix(table.text(w).size())) {
            for (w = table.size() - 1; !text.starts_with(table.text(w));)
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

// 3. A loop: any bridge (how draft tokens become target tokens) with any verifier.
std::string write(auto bridge, auto& target, auto&& drafter, const my_tokenizer<target_id>& words) {
    session text(std::move(bridge), exact_match{}, session_settings{});
    text.start(std::vector{target_id{8}}); // " the"
    philox_coin coin(7);
    std::string written;
    auto take = [&](std::string_view bytes, token_origin) { return written += bytes, true; };
    generate(text, target, drafter, fixed_length{6}, coin, words, {60, {}}, text_reader(take));
    std::cout << written << "\n" << text.counts().tokens_per_target_call() << " tokens a call\n";
    return written;
}

int main() {
    const my_tokenizer<target_id> words{"t", "h", "e", "a", "c", "r", " ", "at", " the", " that"};
    const my_tokenizer<draft_id> pieces{" ", "a", "c", "e", "h", "r", "t", "ate", "at ", "the "};
    my_model target(words);
    my_model draft(pieces);
    const id_map map = intersect(pieces.table, words.table); // 4. What both vocabularies have.
    auto a = write(no_bridge{}, target, no_drafter{}, words);
    auto b = write(slem_bridge(words, pieces, map, 1000, 6), target, model_drafter(draft), words);
    std::cout << (a == b ? "The same text.\n" : "Different texts!\n") << std::flush;
    return std::cout ? 0 : (std::cerr << "standard output: cannot be written\n", 1);
}
