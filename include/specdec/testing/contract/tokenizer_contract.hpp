// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <specdec/core/concepts.hpp>
#include <specdec/testing/contract/contract_report.hpp>
#include <specdec/testing/contract/piece_bytes.hpp>
#include <specdec/testing/contract/tokenizer_contract_settings.hpp>

namespace specdec {

/// The checks behind check_tokenizer(), a function a clause.
template <class Id, TokenizerOf<Id> Tokenizer>
class tokenizer_contract {
public:
    tokenizer_contract(const Tokenizer& tokenizer, const tokenizer_contract_settings<Id>& settings)
        : tokenizer_(tokenizer), settings_(settings) {}

    /// Once.
    contract_report run() {
        report_.run("tokenizer.ids", "ids of 0 .. vocabulary_size()-1 for any text", {},
                    [&] { ids(); });
        report_.run("tokenizer.encode_appends",
                    "the same ids appended to whatever `out` holds, which is left as it is",
                    {"tokenizer.ids"}, [&] { encode_appends(); });
        report_.run("tokenizer.empty_text", "no ids for the empty text", {"tokenizer.ids"},
                    [&] { empty_text(); });
        report_.run("tokenizer.bytes_lifetime",
                    "views that stay what they are as long as the tokenizer", {"tokenizer.ids"},
                    [&] { bytes_lifetime(); });
        report_.run("tokenizer.piece_bytes", "a token's bytes as they stand in a text",
                    {"tokenizer.bytes_lifetime"}, [&] { whole_pieces(); });
        report_.run("tokenizer.control_bytes", "no bytes for control tokens", {"tokenizer.ids"},
                    [&] { control_bytes(); });
        report_.run("tokenizer.control_added", "encode to add no control token (BOS, EOS)",
                    {"tokenizer.ids"}, [&] { control_added(); });
        report_.run("tokenizer.control_names", "names of control tokens in a text to be plain text",
                    {"tokenizer.control_added"}, [&] { control_names(); });
        report_.run("tokenizer.continuation", "nothing added in front of a continuation",
                    {"tokenizer.bytes_lifetime"}, [&] { continuation(); });
        report_.run("tokenizer.round_trip",
                    settings_.normalising ? "bytes(encode(text)) not to change when encoded again"
                                          : "bytes(encode(text)) to be the text",
                    {"tokenizer.continuation"}, [&] { round_trip(); });
        report_.run("tokenizer.start", "at the start of a text at most a space more in front",
                    {"tokenizer.round_trip"}, [&] { start(); });
        report_.run("tokenizer.invalid_utf8",
                    "bytes that are no UTF-8 to leave the ASCII around them",
                    {"tokenizer.piece_bytes", "tokenizer.round_trip"}, [&] { invalid_utf8(); });
        return std::move(report_);
    }

private:
    static constexpr encode_mode positions[] = {encode_mode::start, encode_mode::continuation};

    [[nodiscard]] std::vector<Id> encode(std::string_view text, encode_mode where) const {
        std::vector<Id> out;
        try {
            tokenizer_.encode(text, where, out);
        } catch (...) {
            throw clause_broken{"encode(" + printable(text) + ") threw " + handled_exception()};
        }
        for (const Id id : out)
            if (!id.valid() || id.index() >= size())
                throw clause_broken{"id " + std::to_string(id.value) + " from encode(" +
                                    printable(text) + "), where vocabulary_size() is " +
                                    std::to_string(size())};
        return out;
    }

    [[nodiscard]] std::string decode(const std::vector<Id>& ids) const {
        std::string text;
        for (const Id id : ids)
            text += tokenizer_.bytes(id);
        return text;
    }

    [[nodiscard]] std::string again(std::string_view text, encode_mode where) const {
        return decode(encode(text, where));
    }

    [[nodiscard]] std::size_t size() const { return tokenizer_.vocabulary_size(); }

    void ids() {
        if (size() == 0)
            throw clause_broken{"vocabulary_size() 0"};
        for (const std::string& text : settings_.texts)
            for (const encode_mode where : positions)
                (void)encode(text, where);
    }

    void encode_appends() {
        for (const encode_mode where : positions)
            for (const std::string& text : settings_.texts) {
                const std::vector<Id> alone = encode(text, where);
                std::vector<Id> out(3, id_at<Id>(size() - 1));
                std::vector<Id> wanted = out;
                wanted.insert(wanted.end(), alone.begin(), alone.end());
                tokenizer_.encode(text, where, out);
                if (out != wanted)
                    throw clause_broken{"after 3 other ids, encode(" + printable(text) + ") left " +
                                        std::to_string(out.size()) + " ids, not these 3 and the " +
                                        std::to_string(alone.size()) + " it gives alone"};
            }
    }

    void empty_text() {
        for (const encode_mode where : positions)
            if (const std::vector<Id> out = encode("", where); !out.empty())
                throw clause_broken{std::to_string(out.size()) + " ids, the first is " +
                                    std::to_string(out[0].value)};
    }

    void bytes_lifetime() {
        std::vector<std::string_view> views;
        std::vector<std::string> copies;
        for (std::size_t i = 0; i < size(); ++i) {
            views.push_back(tokenizer_.bytes(id_at<Id>(i)));
            copies.emplace_back(views.back());
        }
        for (const std::string& text : settings_.texts)
            (void)encode(text, encode_mode::start);
        for (std::size_t i = 0; i < size(); ++i)
            if (views[i] != copies[i] || tokenizer_.bytes(id_at<Id>(i)) != copies[i])
                throw clause_broken{"bytes of id " + std::to_string(i) + " were " +
                                    printable(copies[i]) + ", and are " + printable(views[i]) +
                                    " after other calls"};
    }

    void whole_pieces() { require_piece_bytes<Id>(tokenizer_); }

    void control_bytes() {
        for (const Id id : settings_.control)
            if (const std::string_view bytes = tokenizer_.bytes(id); !bytes.empty())
                throw clause_broken{"bytes of id " + std::to_string(id.value) + " are " +
                                    printable(bytes)};
    }

    /// Throws where the encoding of a text has a token without bytes or one known for a control
    /// token.
    void require_text_tokens(std::string_view text) const {
        for (const encode_mode where : positions) {
            const std::vector<Id> out = encode(text, where);
            for (std::size_t i = 0; i < out.size(); ++i) {
                bool control = tokenizer_.bytes(out[i]).empty();
                for (const Id known : settings_.control)
                    control = control || known == out[i];
                if (control)
                    throw clause_broken{"id " + std::to_string(out[i].value) + " at position " +
                                        std::to_string(i) + " of encode(" + printable(text) + ")"};
            }
        }
    }

    void control_added() {
        for (const std::string& text : settings_.texts)
            require_text_tokens(text);
    }

    void control_names() {
        for (const std::string& name : settings_.control_names)
            for (const std::string& text : {name, name + name, settings_.texts[0] + name})
                require_text_tokens(text);
    }

    void continuation() {
        for (const std::string& text : settings_.texts) {
            const std::string found = again(text, encode_mode::continuation);
            if (found.starts_with(' ') && !text.starts_with(' '))
                throw clause_broken{"bytes " + printable(found) + " for " + printable(text)};
        }
    }

    void round_trip() {
        for (std::string text : settings_.texts) {
            if (settings_.normalising)
                text = again(text, encode_mode::continuation);
            if (const std::string found = again(text, encode_mode::continuation); found != text)
                throw clause_broken{"bytes " + printable(found) + " for " + printable(text)};
        }
    }

    void start() {
        for (const std::string& text : settings_.texts) {
            const std::string found = again(text, encode_mode::start);
            const std::string behind = again(text, encode_mode::continuation);
            if (found != behind && found != " " + behind)
                throw clause_broken{"bytes " + printable(found) + " at the start, " +
                                    printable(behind) + " in a continuation"};
        }
    }

    void invalid_utf8() {
        const auto ascii = [](std::string_view text) {
            std::string kept;
            for (const char c : text)
                if (static_cast<unsigned char>(c) < 0x80)
                    kept += c;
            return kept;
        };
        for (const std::string& text : settings_.invalid_utf8) {
            (void)encode(text, encode_mode::start);
            const std::string found = again(text, encode_mode::continuation);
            if (ascii(found) != ascii(text))
                throw clause_broken{"bytes " + printable(found) + " for " + printable(text)};
        }
    }

    const Tokenizer& tokenizer_;
    const tokenizer_contract_settings<Id>& settings_;
    contract_report report_;
};

} // namespace specdec
