// SPDX-License-Identifier: MIT
// Drafters whose law is mixed with counts of what was said, in the text itself and in others: the
// law of whole sessions, enumerated, is the target's.
#include <specdec/draft/counted/cache_mixture_model.hpp>

#include <cstdint>
#include <cstdio>
#include <span>
#include <vector>

#include "support/ids.hpp"
#include "toy_bridges.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace counts_tests {

/// What other texts have said.
successor_counts counts_of(std::size_t vocabulary) {
    successor_counts counts(64);
    std::vector<draft_id> text;
    for (std::size_t i = 0; i < 12; ++i) {
        const auto next = id_at<draft_id>((i * i + i / 3) % vocabulary);
        counts.learn(text, next);
        text.push_back(next);
    }
    return counts;
}

/// Each token was followed by another one, once: all rows are of one share (count_shares).
successor_counts alike_counts_of(std::size_t vocabulary) {
    successor_counts counts(64);
    for (std::size_t i = 0; i < vocabulary; ++i)
        counts.learn(std::vector{id_at<draft_id>(i)}, id_at<draft_id>((i + 1) % vocabulary));
    return counts;
}

enum class others : std::uint8_t { none, read, read_alike, taught };

/// Through a bridge, under every rule. Every path begins with the same counts.
void check_counts(const char* name, const toy_words& two, const auto& with_bridge, others how) {
    std::uint64_t seed = 700;
    law_ledger ledger;
    const successor_counts begun =
        how == others::read_alike ? alike_counts_of(two.draft_size()) : counts_of(two.draft_size());
    check_under_rules(ledger, name, short_scenarios(id_at<target_id>(two.target_size() - 1)),
                      [&](const auto& rule, const scenario& s) {
                          toy_rows_of rows(two, seed += 2);
                          const auto make = [&](auto&, const auto& use) {
                              auto target = model_of<target_id>(rows.p);
                              toy_model<draft_id> model(
                                  two.draft_size(),
                                  [&](std::span<const draft_id> context) -> const auto& {
                                      return rows.q(context.subspan(1));
                                  },
                                  3, 32);
                              successor_counts said = begun;
                              cache_mixture_model counted(
                                  model, {.shared = how == others::none ? nullptr : &said,
                                          .teaches = how == others::taught});
                              model_drafter drafter(counted);
                              use(target, drafter);
                          };
                          return play(made_world{rows.p, make}, with_bridge, rule, s);
                      });
    std::printf("counts, %-30s worst total variation %.1e\n", name, ledger.worst);
}

TEST_CASE("a drafter's law with counts of texts: the law of the target", "[law]") {
    const toy_words& two = permuted_words();
    check_counts("identity", two, two.identity(), others::none);
    check_counts("identity, others", two, two.identity(), others::taught);
    check_counts("tli, others", two, two.tli(), others::taught);
    check_counts("nested, others", two, two.nested(), others::read);
    check_counts("slem, others", two, two.slem(), others::taught);
}

TEST_CASE("counts where slrs asks again: the law of the target", "[law]") {
    const toy_words joined({"a", "b", "aa", "ab"}, {"b", "a", "ab", "aa"});
    check_counts("slrs", joined, joined.slrs(0), others::none);
    check_counts("slrs, others", joined, joined.slrs(0), others::taught);
    check_counts("slrs, others that are read", joined, joined.slrs(0), others::read_alike);
}

} // namespace counts_tests
