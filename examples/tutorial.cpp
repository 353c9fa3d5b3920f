// SPDX-License-Identifier: MIT
// The program of docs/tutorial.md: an engine of your own, checked, then with a drafter of another
// tokenizer. Each step prints what the tutorial shows.
#include <chrono>
#include <cmath>
#include <iostream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <specdec/speculation/speculation.hpp>
#include <specdec/testing/contract/engine_contract.hpp>

using namespace specdec;

// Step 1: a tokenizer.
template <class Id>
class my_tokenizer {
public:
    explicit my_tokenizer(std::vector<std::string> tokens) : tokens_(std::move(tokens)) {}

    std::size_t vocabulary_size() const { return tokens_.size(); }
    std::string_view bytes(Id id) const { return tokens_[id.index()]; }
    void encode(std::string_view text, encode_mode, std::vector<Id>& ids) const {
        while (!text.empty()) {
            std::size_t longest = 0, length = 0; // token that the text begins with
            for (std::size_t i = 0; i < tokens_.size(); ++i)
                if (tokens_[i].size() > length && text.starts_with(tokens_[i])) {
                    longest = i;
                    length = tokens_[i].size();
                }
            ids.push_back(id_at<Id>(longest));
            text.remove_prefix(length);
        }
    }

private:
    std::vector<std::string> tokens_;
};

// Step 2: a model. It has read a book, and continues a context as the book does: by what followed
// the context's last tokens there. A pass takes a fixed time, as on hardware that waits for memory.
template <class Id>
class my_model {
public:
    my_model(const my_tokenizer<Id>& words, std::string_view book, std::size_t order,
             std::chrono::milliseconds pass)
        : vocabulary_(words.vocabulary_size()), order_(order), pass_(pass) {
        words.encode(book, encode_mode::start, book_);
    }

    std::size_t size() const { return context_.size(); }
    std::size_t capacity() const { return 1000; }
    std::size_t vocabulary_size() const { return vocabulary_; }
    void truncate(std::size_t n) { context_.resize(n); }
    void append(std::span<const Id> ids) {
        if (ids.size() > capacity() - size())
            throw error("my model", "context", "expected room for the tokens");
        context_.insert(context_.end(), ids.begin(), ids.end());
    }
    logits_rows<Id> score(std::span<const Id> ids) {
        if (ids.size() > capacity() - size())
            throw error("my model", "context", "expected room for the tokens");
        std::this_thread::sleep_for(pass_); // the same for one position and for eight
        rows_.clear();
        for (const Id id : ids) {
            context_.push_back(id);
            add_row();
        }
        return {rows_.data(), ids.size(), vocabulary_, vocabulary_};
    }

private:
    void add_row() {
        std::vector<float> counts(vocabulary_, 0.01F);
        for (std::size_t i = 1; i < book_.size(); ++i) {
            std::size_t same = 0; // tokens before book_[i] that end the context, too
            while (same < order_ && same < i && same < size() &&
                   book_[i - 1 - same] == context_[size() - 1 - same])
                ++same;
            if (same > 0)
                counts[book_[i].index()] += std::pow(20.0F, static_cast<float>(same));
        }
        for (const float count : counts)
            rows_.push_back(std::log(count));
    }

    std::size_t vocabulary_, order_;
    std::chrono::milliseconds pass_;
    std::vector<Id> book_, context_;
    std::vector<float> rows_; // that score() returned last
};

// Any text has tokens if all single bytes are among them.
std::vector<std::string> with_all_bytes(std::vector<std::string> tokens) {
    for (int byte = 0; byte < 256; ++byte)
        tokens.push_back({static_cast<char>(byte)});
    return tokens;
}

// A model that forgets a token too few: what step 3 finds.
template <class Id>
struct broken_model : my_model<Id> {
    using my_model<Id>::my_model;
    void truncate(std::size_t n) { my_model<Id>::truncate(n < this->size() ? n + 1 : n); }
};

int main() {
    const std::string_view book =
        "a reader opens the file, reads the first line, and asks what it means.\n"
        "a writer opens the file, writes the first line, and asks who will read it.\n"
        "an editor closes the file, reads the last line, and asks what is missing.\n"
        "a reader who reads the last line first knows how the file ends.\n"
        "a writer who writes the last line first knows where the file goes.\n";
    const my_tokenizer<target_id> words(
        with_all_bytes({"the ", "file", " reads", " first ", "line", "asks ", "opens ", "writer"}));
    const my_tokenizer<draft_id> pieces(
        with_all_bytes({" the", "re", "er", "file ", "fir", "st", "li", "ne", "as", "ks"}));
    using std::chrono::milliseconds;

    std::cout << "Step 3: the checks\n";
    const contract_report wrong = check_engine<target_id>(
        [&] { return broken_model<target_id>(words, book, 4, milliseconds(0)); }, words);
    std::cout << wrong.text();
    const contract_report right = check_engine<target_id>(
        [&] { return my_model<target_id>(words, book, 4, milliseconds(0)); }, words);
    const contract_report draft_side = check_engine<draft_id>(
        [&] { return my_model<draft_id>(pieces, book, 2, milliseconds(0)); }, pieces);
    std::cout << right.text() << draft_side.text() << right.kept.size() << " and "
              << draft_side.kept.size() << " clauses hold\n";

    std::cout << "\nStep 4: the target alone\n";
    my_model<target_id> target(words, book, 4, milliseconds(10));
    decode_settings settings{.sampling = {.temperature = 0}, .limits = {.max_tokens = 80}};
    speculation alone({target, words});
    settings.rule = rule::autoregressive;
    const decode_result plain = alone.generate("a reader ", settings);
    std::cout << plain.text << "\n"
              << plain.counts.rounds << " passes, " << plain.seconds << " s\n";

    std::cout << "\nStep 5: with a drafter\n";
    my_model<target_id> again(words, book, 4, milliseconds(10));
    my_model<draft_id> draft(pieces, book, 2, milliseconds(1));
    speculation pair({again, words}, {draft, pieces});
    settings.rule.reset(); // the default for the pair
    const decode_result fast = pair.generate("a reader ", settings);
    std::cout << (fast.text == plain.text ? "the same text" : "another text") << "\n"
              << fast.counts.rounds << " passes, " << fast.seconds
              << " s: " << plain.seconds / fast.seconds << " times as fast\n";

    std::cout << "\nStep 6: why\n" << pair.explain(settings);
    std::cout << "of " << fast.counts.proposed << " proposed tokens " << fast.counts.accepted
              << " were accepted\n";

    std::cout << "\nStep 7: sampling\n";
    for (const char* name : {"slem", "tli", "tli-block", "coupled"}) {
        settings.rule = rule_of(name).rule;
        settings.sampling.temperature = 1;
        const decode_result text = pair.generate("a reader ", settings);
        std::cout << name << ": " << text.counts.tokens_per_target_call() << " tokens a pass\n";
    }
    return std::cout.flush() ? 0 : 1;
}
