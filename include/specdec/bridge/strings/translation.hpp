// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include <specdec/core/law_version.hpp>
#include <specdec/vocab/table/byte_order.hpp>
#include <specdec/vocab/table/token_strings.hpp>

namespace specdec {

namespace translation_detail {

struct any_sink {
    void in(order_range) const {}
    void open(order_range) const {}
};

} // namespace translation_detail

/// The map f from draft strings to target strings, one draft token at a time; models: retokenising,
/// merging.
///
///     state_type               how far f has come, {} for the empty draft; `tokens`: the target
///                              tokens that are settled, `text`: the draft's bytes
///     f.start(), f.follow(committed, accepted)   as a Bridge's; the first `accepted` tokens were
///                              proposed by the last draft
///     f.version()                 another number whenever f may have become another map
///     f.target_size()          |T|
///     f.order()                the draft ids by their bytes, which ranges speak of
///     f.bytes(id)              of a draft token, of a target token
///     f.prepare(state, row, out)   the row without what must not be drawn there
///     f.step(state, d)         the draft goes on with d; false: it ends behind d
///     f.finish(state)          the draft ends here: settles what is left
///     f.may_become(state, wanted)     false: no draft from here becomes tokens that begin so
///     f.spell(text, out)              appends what the drafter's tokenizer writes for a text
///     f.within(state, wanted, sink)   the draft's text is a beginning of the wanted one
///     f.behind(state, wanted, sink)   the draft's text begins with the wanted one
///         both report, of the draft tokens that may follow and none twice,
///         sink.in(range)    those that settle tokens which begin with `wanted`
///         sink.open(range)  those that may lead to such tokens; all others cannot
template <class F>
concept Translation =
    requires(F& f, const F& map, typename F::state_type& s, std::span<const target_id> tokens,
             std::span<const float> row, std::span<float> out, draft_id d, target_id t,
             const wanted_tokens& wanted, std::vector<draft_id>& spelling, std::string_view text,
             const translation_detail::any_sink& sink) {
        { s.tokens } -> std::convertible_to<std::span<const target_id>>;
        { s.text } -> std::convertible_to<std::string_view>;
        f.start();
        f.follow(tokens, std::size_t{});
        { map.version() } -> std::convertible_to<law_version>;
        { map.target_size() } -> std::same_as<std::size_t>;
        { map.order() } -> std::same_as<const byte_order<draft_id>&>;
        { map.bytes(d) } -> std::same_as<std::string_view>;
        { map.bytes(t) } -> std::same_as<std::string_view>;
        map.prepare(s, row, out);
        { map.step(s, d) } -> std::same_as<bool>;
        map.finish(s);
        { map.may_become(s, tokens) } -> std::same_as<bool>;
        map.spell(text, spelling);
        map.within(s, wanted, sink);
        map.behind(s, wanted, sink);
    };

} // namespace specdec
