// SPDX-License-Identifier: MIT
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <system_error> // std::errc

#include <specdec_engine/tokenizer/file/json_view.hpp>
#include <specdec_engine/tokenizer/tokenizer.hpp>

namespace specdec::engine {

/// What the files beside a tokenizer say of its special tokens.
/// Errors: specdec::error that names file and field.
class tokenizer_config_reader {
public:
    /// tokenizer_config.json: bos_token, eos_token, add_bos_token.
    static void read_tokenizer_config(const nlohmann::json& document, const std::string& source,
                                      tokenizer_parts& parts) {
        const json_view root(document, source);
        if (const auto name = root.find("bos_token"))
            parts.special.bos = id_of(*name, parts);
        if (const auto name = root.find("eos_token"))
            parts.special.add_end(id_of(*name, parts), true);
        if (const auto add = root.find("add_bos_token")) {
            parts.special.add_bos = add->boolean();
            if (parts.special.add_bos && !parts.special.bos)
                add->expected("a bos_token where texts begin with it");
        }
    }

    /// generation_config.json or config.json: eos_token_id, a number or several.
    static void read_model_config(const nlohmann::json& document, const std::string& source,
                                  tokenizer_parts& parts) {
        const json_view root(document, source);
        const auto ends = root.find("eos_token_id");
        if (!ends)
            return;
        if (!ends->is_array())
            return parts.special.add_end(ends->id_below(parts.table.size()));
        for (const json_view& id : ends->elements())
            parts.special.add_end(id.id_below(parts.table.size()));
    }

    /// tokenizer_config.json's added_tokens_decoder over the added tokens of a tokenizer.json: its
    /// flags count, as in Transformers. Refused where it names a token that the latter has not.
    static void lay_over(const nlohmann::json& document, const std::string& source,
                         nlohmann::json& tokenizer) {
        const auto decoder = json_view(document, source).find("added_tokens_decoder");
        if (!decoder || !tokenizer.is_object())
            return;
        nlohmann::json& added = tokenizer["added_tokens"];
        std::map<std::string, nlohmann::json*> by_content;
        for (nlohmann::json& token : added)
            if (token.is_object() && token.contains("content") && token["content"].is_string())
                by_content.emplace(token["content"].get<std::string>(), &token);
        for (const auto& [digits, token] : decoder->value().items()) {
            const json_view v(token, source, decoder->field() + "." + digits);
            const auto found = by_content.find(v.at("content").string());
            if (found == by_content.end())
                v.expected("one of tokenizer.json's added tokens");
            found->second->update(token);
        }
    }
    /// added_tokens.json (ids by name), of which nothing is read: refused where it names a token
    /// that the tokenizer has not.
    static void require_no_added_tokens(const nlohmann::json& document, const std::string& source,
                                        const tokenizer_parts& parts) {
        for (const auto& [name, id] : document.items())
            if (!id.is_number_unsigned() || id.get<std::uint64_t>() >= parts.table.size())
                refuse_added(json_view(id, source, "\"" + name + "\""), parts);
    }
    /// The same of tokenizer_config.json's added_tokens_decoder (tokens by id).
    static void require_no_added_decoder(const nlohmann::json& document, const std::string& source,
                                         const tokenizer_parts& parts) {
        const auto decoder = json_view(document, source).find("added_tokens_decoder");
        if (!decoder)
            return;
        for (const auto& [digits, token] : decoder->value().items()) {
            std::size_t id = 0;
            const char* const end = digits.data() + digits.size();
            const auto [behind, wrong] = std::from_chars(digits.data(), end, id);
            if (wrong != std::errc() || behind != end || id >= parts.table.size())
                refuse_added(json_view(token, source, decoder->field() + "." + digits), parts);
        }
    }

private:
    [[noreturn]] static void refuse_added(const json_view& token, const tokenizer_parts& parts) {
        token.expected("an id below " + std::to_string(parts.table.size()) +
                       ", the number of tokens that are read: those of tokenizer.json or "
                       "tokenizer.model alone");
    }

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
};

} // namespace specdec::engine
