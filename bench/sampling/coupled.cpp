// SPDX-License-Identifier: MIT
// What does a coupled draw (law of a row, exponential race over the whole vocabulary) cost against
// a plain one and against a plain read of the row?
#include <string>
#include <string_view>
#include <vector>

#include <specdec/sampling/coin/coupled_coin.hpp>
#include <specdec/sampling/coin/philox_coin.hpp>
#include <specdec/sampling/law/softmax_law.hpp>

#include "arena.hpp"

using namespace specdec;

namespace {

/// As many different tokens as one likes.
class numbered_tokens {
public:
    explicit numbered_tokens(std::size_t size) {
        for (std::size_t i = 0; i < size; ++i)
            names_.push_back(std::to_string(i));
    }
    std::size_t vocabulary_size() const { return names_.size(); }
    std::string_view bytes(target_id id) const { return names_[id.index()]; }
    void encode(std::string_view, encode_mode, std::vector<target_id>&) const {}

private:
    std::vector<std::string> names_;
};

double number(target_id id) {
    return static_cast<double>(id.value);
}

} // namespace

int main() {
    for (const std::size_t vocabulary : {32000UL, 128256UL, 256000UL}) {
        const bench::arena rows(vocabulary);
        const text_keys keys{numbered_tokens(vocabulary)};
        const philox_coin plain(1);
        const coupled_coin coupled(keys, 1);
        std::uint64_t place = 0;
        const auto law = [&](std::size_t r, const sampling_parameters& parameters = {}) {
            return make_law(logits_row<target_id>{rows.target(r)}, parameters);
        };
        const auto site = [&] {
            ++place;
            return draw_site{place, purpose::target, 0, place};
        };
        std::vector<softmax_law<target_id>> laws;
        for (std::size_t r = 0; r < rows.rows(); ++r)
            laws.push_back(law(r));
        bench::table table(rows.rows());
        table.add("plain read", [&](std::size_t r) { return bench::plain_read(rows.target(r)); });
        table.add("law (softmax_law)", [&](std::size_t r) { return law(r).log_sum_exp(); });
        table.add("plain draw: law and at",
                  [&](std::size_t r) { return number(plain.pick(site(), law(r))); });
        table.add("coupled draw: law and race",
                  [&](std::size_t r) { return number(coupled.pick(site(), law(r))); });
        table.add("the race alone",
                  [&](std::size_t r) { return number(coupled.pick(site(), laws[r])); });
        table.add("coupled draw, temperature 0", [&](std::size_t r) {
            return number(coupled.pick(site(), law(r, {.temperature = 0})));
        });
        table.add(
            "coupled draw, top_p 0.95",
            [&](std::size_t r) { return number(coupled.pick(site(), law(r, {.top_p = 0.95F}))); },
            2);
        table.print(("V = " + std::to_string(vocabulary)).c_str());
    }
}
