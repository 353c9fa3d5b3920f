// SPDX-License-Identifier: MIT
#pragma once

#include <specdec/speculation/decoder.hpp>
#include <specdec/speculation/drafting_settings.hpp>
#include <specdec/speculation/rule.hpp>

namespace specdec::examples {

/// Settings to be explained where nobody has named the rule: it is left open if the pair takes it
/// by itself. Precondition: settings.rule.
[[nodiscard]] inline decode_settings with_open_rule(const decoder& pair, decode_settings settings) {
    const rule taken = *settings.rule;
    settings.rule.reset();
    if (pair.rule_for(settings) != taken)
        settings.rule = taken;
    return settings;
}

} // namespace specdec::examples
