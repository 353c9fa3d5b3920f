// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <specdec/reference/tokenizer/file/json_view.hpp>
#include <specdec/reference/tokenizer/tokenizer.hpp>

namespace specdec::reference {

/// What the files beside a tokenizer say of its special tokens.
/// Errors: specdec::error that names file and field.
class tokenizer_config_reader {
public:
    /// tokenizer_config.json: bos_token, eos_token, add_bos_token.
    static void read_tokenizer_config(std::string_view text, const std::string& source,
                                      tokenizer_parts& parts) {
        const nlohmann::json document = parse_json(text, source, "file");
        const json_view root(document, source);
        if (const auto name = root.find("bos_token"))
            parts.special.bos = id_of(*name, parts);
        if (const auto name = root.find("eos_token"))
            add_end(id_of(*name, parts), true, parts);
        if (const auto add = root.find("add_bos_token")) {
            parts.special.add_bos = add->boolean();
            if (parts.special.add_bos && !parts.special.bos)
                add->expected("a bos_token where texts begin with it");
        }
    }

    /// generation_config.json or config.json: eos_token_id, a number or several.
    static void read_model_config(std::string_view text, const std::string& source,
                                  tokenizer_parts& parts) {
        const nlohmann::json document = parse_json(text, source, "file");
        const json_view root(document, source);
        const auto ends = root.find("eos_token_id");
        if (!ends)
            return;
        if (!ends->is_array())
            return add_end(ends->id_below(parts.table.size()), false, parts);
        for (const json_view& id : ends->elements())
            add_end(id.id_below(parts.table.size()), false, parts);
    }

private:
    /// A token's name, plain or as {"content": name}.
    static std::int32_t id_of(const json_view& v, const tokenizer_parts& parts) {
        const json_view name = v.is_object() ? v.at("content") : v;
        const vocabulary& table = parts.table;
        std::int32_t found = -1;
        for (std::size_t i = 0; i < table.size(); ++i) {
            if (table.entry(i) != name.string())
                continue;
            if (table.kind(i) == token_kind::control)
                return static_cast<std::int32_t>(i);
            if (found < 0)
                found = static_cast<std::int32_t>(i);
        }
        if (found < 0)
            name.expected("a token of the vocabulary");
        return found;
    }

    static void add_end(std::int32_t id, bool usual, tokenizer_parts& parts) {
        auto& ends = parts.special.eos;
        for (const std::int32_t known : ends)
            if (known == id)
                return;
        ends.insert(usual ? ends.begin() : ends.end(), id);
    }
};

} // namespace specdec::reference
