// SPDX-License-Identifier: MIT
// Question: what does a coupled draw (law of a row, exponential race over the whole vocabulary)
// cost against a plain one and against a plain read of the row?
#include <cstddef>
#include <cstdint>
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

struct scene : bench::row_scene {
    explicit scene(std::size_t vocabulary)
        : row_scene(vocabulary), keys(numbered_tokens(vocabulary)) {
        for (std::size_t r = 0; r < rows.rows(); ++r)
            laws.push_back(law(r));
    }
    [[nodiscard]] auto law(std::size_t r, const sampling_parameters& parameters = {}) const
        -> decltype(make_law(logits_row<target_id>{}, parameters)) {
        return make_law(logits_row<target_id>{rows.target(r)}, parameters);
    }
    [[nodiscard]] draw_site site() {
        ++place;
        return {place, purpose::target, 0, place};
    }

    text_keys keys;
    philox_coin plain{1};
    coupled_coin coupled{keys, 1};
    std::uint64_t place = 0;
    std::vector<softmax_law<target_id>> laws;
};

const bench::registration here([] {
    for (const std::size_t vocabulary : {32000UL, 128256UL, 256000UL}) {
        bench::question<scene> coupled("coupled/vocabulary:" + std::to_string(vocabulary), {},
                                       vocabulary);
        const auto add = [&](const std::string& name, auto run, std::size_t calls = 24) {
            bench::add_of_row(coupled, name, run, calls);
        };
        bench::add_plain_read(coupled);
        add("law", [](scene& s, std::size_t r) { return s.law(r).log_sum_exp(); });
        add("plain_draw", [](scene& s, std::size_t r) { return s.plain.pick(s.site(), s.law(r)); });
        add("coupled_draw",
            [](scene& s, std::size_t r) { return s.coupled.pick(s.site(), s.law(r)); });
        add("race_alone",
            [](scene& s, std::size_t r) { return s.coupled.pick(s.site(), s.laws[r]); });
        add("coupled_draw_temperature_0", [](scene& s, std::size_t r) {
            return s.coupled.pick(s.site(), s.law(r, {.temperature = 0}));
        });
        add(
            "coupled_draw_top_p_0.95",
            [](scene& s, std::size_t r) {
                return s.coupled.pick(s.site(), s.law(r, {.top_p = 0.95F}));
            },
            2);
    }
});

} // namespace
