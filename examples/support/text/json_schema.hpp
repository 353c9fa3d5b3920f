// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "support/text/json_grammar.hpp"

namespace specdec::examples {

/// What a JSON schema allows, as far as a json_grammar can follow it: the types, properties in the
/// order of the schema, `required`, `items`, lengths of strings and arrays, `enum` and `const` of
/// scalars, `anyOf` of alternatives that begin with different characters, and `$ref` within the
/// schema, to itself, too. An object has no properties that the schema does not name; without
/// `properties` it has members of any name. All that comes out obeys the schema. Titles,
/// descriptions and the like are not read.
///
/// `where`: the name of the schema, for errors. Errors: specdec::error whose field() is where
/// something else stands (a keyword that is not followed, too) or where no text can end within the
/// limits. Complexity: linear in the schema, apart from the search for names in their objects.
[[nodiscard]] json_shapes read_json_schema(const nlohmann::ordered_json& schema,
                                           const json_limits& limits, const std::string& where);

} // namespace specdec::examples
