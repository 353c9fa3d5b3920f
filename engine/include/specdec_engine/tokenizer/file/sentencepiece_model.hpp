// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <specdec/core/error.hpp>
#include <specdec_engine/tokenizer/file/protobuf.hpp>
#include <specdec_engine/tokenizer/file/scored_pieces.hpp>

namespace specdec::engine {

/// Reads a SentencePiece .model (a ModelProto): BPE models with the identity normalization.
/// Errors: specdec::error that names file and field.
class sentencepiece_reader {
public:
    [[nodiscard]] static tokenizer_parts read(std::string_view bytes, const std::string& source) {
        return sentencepiece_reader(source).read_model(bytes);
    }

private:
    explicit sentencepiece_reader(const std::string& source) : source_(source) {}

    tokenizer_parts read_model(std::string_view bytes) {
        const std::string field = "model";
        protobuf_reader in(bytes, source_, field);
        while (in.next())
            switch (in.number()) {
            case 1:
                read_piece(in.bytes("pieces"));
                break;
            case 2:
                read_trainer(in.bytes("trainer_spec"));
                break;
            case 3:
                read_normalizer(in.bytes("normalizer_spec"), "normalizer_spec");
                break;
            case 5:
                read_denormalizer(in.bytes("denormalizer_spec"));
                break;
            }
        if (pieces_.empty())
            throw error(source_, "pieces", "expected at least one");
        if (model_type_ != 2)
            throw error(source_, "trainer_spec.model_type",
                        "expected 2 (BPE), found " + std::to_string(model_type_) +
                            (model_type_ == 1 ? " (unigram)" : ""));
        if (remove_extra_whitespaces_)
            throw error(source_, "normalizer_spec.remove_extra_whitespaces", "expected false");
        tokenizer_parts parts = from_scored_pieces(pieces_, rules_, source_, "pieces");
        const auto is_control = [&parts](std::int32_t id) {
            return id >= 0 && static_cast<std::size_t>(id) < parts.table.size() &&
                   parts.table.kind(static_cast<std::size_t>(id)) == token_kind::control;
        };
        if (is_control(bos_))
            parts.special.bos = bos_;
        if (is_control(eos_))
            parts.special.eos.push_back(eos_);
        parts.special.add_bos = parts.special.bos.has_value();
        return parts;
    }

    void read_piece(std::string_view message) {
        const std::string field = "pieces[" + std::to_string(pieces_.size()) + "]";
        scored_piece piece;
        std::int32_t type = 1;
        protobuf_reader in(message, source_, field);
        while (in.next())
            switch (in.number()) {
            case 1:
                piece.text = in.bytes("piece");
                break;
            case 2:
                piece.score = in.real("score");
                break;
            case 3:
                type = in.integer("type");
                break;
            }
        piece.kind = piece_kind(type, source_, field + ".type");
        piece.unknown = type == 2;
        pieces_.push_back(std::move(piece));
    }

    void read_trainer(std::string_view message) {
        const std::string field = "trainer_spec";
        protobuf_reader in(message, source_, field);
        while (in.next())
            switch (in.number()) {
            case 3:
                model_type_ = in.integer("model_type");
                break;
            case 24:
                if (in.boolean("treat_whitespace_as_suffix"))
                    throw error(source_, field + ".treat_whitespace_as_suffix", "expected false");
                break;
            case 41:
                bos_ = in.integer("bos_id");
                break;
            case 42:
                eos_ = in.integer("eos_id");
                break;
            }
    }

    void read_normalizer(std::string_view message, const std::string& field) {
        protobuf_reader in(message, source_, field);
        while (in.next())
            switch (in.number()) {
            case 2:
                if (!in.bytes("precompiled_charsmap").empty())
                    throw error(source_, field + ".precompiled_charsmap",
                                "expected none (the identity normalization)");
                break;
            case 3:
                rules_.dummy_prefix = in.boolean("add_dummy_prefix");
                break;
            case 4:
                remove_extra_whitespaces_ = in.boolean("remove_extra_whitespaces");
                break;
            case 5:
                rules_.escape = in.boolean("escape_whitespaces");
                break;
            }
    }

    void read_denormalizer(std::string_view message) {
        const std::string field = "denormalizer_spec";
        protobuf_reader in(message, source_, field);
        while (in.next())
            if (in.number() == 2 && !in.bytes("precompiled_charsmap").empty())
                throw error(source_, field + ".precompiled_charsmap", "expected none");
    }

    const std::string& source_;
    std::vector<scored_piece> pieces_;
    scored_rules rules_;
    // The format's defaults.
    std::int32_t model_type_ = 1, bos_ = 1, eos_ = 2;
    bool remove_extra_whitespaces_ = true;
};

/// A SentencePiece .model from memory. Texts begin with BOS by default where the model has one.
[[nodiscard]] inline tokenizer read_sentencepiece_model(std::string_view bytes,
                                                        const std::string& source) {
    return tokenizer(sentencepiece_reader::read(bytes, source));
}

} // namespace specdec::engine
