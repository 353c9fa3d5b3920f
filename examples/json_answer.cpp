// SPDX-License-Identifier: MIT
// A grammar for a text: whatever the models would rather say, what is written is a JSON object. The
// grammar masks both sides, and what it forces is proposed without asking the drafter.
#include <cstddef>
#include <exception>
#include <iostream>
#include <string_view>
#include <vector>

#include "support/pair/engine.hpp"
#include "support/pair/loaded_pair.hpp"
#include "support/text/json_grammar.hpp"

using namespace specdec;

namespace {

constexpr std::string_view example = R"(The settings of the server as JSON:

{"host":"localhost","port":8080}

The settings of the client as JSON:

)";

} // namespace

int main() try {
    const examples::loaded_pair pair = examples::load_pair(*examples::make_engine(), {});
    std::vector<target_id> prompt;
    pair->encode(example, encode_mode::start, prompt);
    text_request answer{.prompt = prompt};
    answer.grammar = examples::json_grammar();

    // The costs are given, not measured, so that every machine makes the same choices.
    decode_settings s{.lengths = {.costs = cost_table{.pass = {1, 1.05}, .draft = 0.15}},
                      .limits = {.max_tokens = 1024}};
    const auto write = [&](rule how) {
        s.rule = how;
        return pair->run({&answer, 1}, s).texts.front();
    };
    bool same = true;
    for (s.seed = 1; s.seed <= 4; ++s.seed) {
        const decode_result text = write(rule::slem);
        same = same && text.text == write(rule::autoregressive).text;
        std::cout << text.text << "\n    " << text.counts.tokens_per_target_call()
                  << " tokens a call, " << text.counts.looked_up_accepted << " of "
                  << text.counts.committed << " tokens forced\n";
    }
    std::cout << (same ? "The same answers without a drafter.\n" : "Different answers!\n");
    return std::cout.flush() ? 0 : (std::cerr << "standard output: cannot be written\n", 1);
} catch (const std::exception& e) {
    std::cerr << e.what() << "\n";
    return 1;
}
