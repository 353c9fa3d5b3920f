// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm> // std::copy
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring> // std::memcpy
#include <span>
#include <string>
#include <string_view>
#include <utility> // std::move
#include <vector>

#include <nlohmann/json.hpp>

#include <specdec/core/contract.hpp>
#include <specdec/core/error.hpp>
#include <specdec/vocab/table/atomic_file.hpp>
#include <specdec_engine/file/byte_reader.hpp>
#include <specdec_engine/file/json_fields.hpp>
#include <specdec_engine/file/quantised.hpp>
#include <specdec_engine/file/safetensors.hpp>
#include <specdec_engine/file/write_safetensors.hpp>
#include <specdec_engine/learn/adamw.hpp>
#include <specdec_engine/learn/read_tensors.hpp>

/// What learning needs to go on where it stopped, bit for bit, in one safetensors file, which other
/// programs can read too:
///
///     NAME                   the weights (of a model or of adapters)
///     adamw.first.NAME       AdamW's moments
///     adamw.second.NAME
///     anchor.NAME            the weights it began with, where an anchor pulls to them
///     __metadata__           format, steps, note, checksum (of steps, note and data)
///
/// The step size is a function of the number of steps. Settings are the
/// program's; what else it has to remember (its place in the texts, a generator's state) is a note.
namespace specdec::engine {

namespace detail {

inline constexpr const char* learning_format = "specdec learning state 1";

/// FNV-1a over words of eight bytes. Every step is a bijection of what was before and of its word.
class state_checksum {
public:
    void add(std::string_view bytes) {
        add_word(bytes.size());
        std::size_t i = 0;
        for (; i + sizeof(std::uint64_t) <= bytes.size(); i += sizeof(std::uint64_t)) {
            std::uint64_t word = 0;
            std::memcpy(&word, bytes.data() + i, sizeof word);
            add_word(word);
        }
        for (; i < bytes.size(); ++i)
            add_word(static_cast<unsigned char>(bytes[i]));
    }
    [[nodiscard]] std::string text() const { return std::to_string(hash_); }

private:
    void add_word(std::uint64_t word) {
        hash_ = (hash_ ^ word) * 0x100000001b3U;
        hash_ ^= hash_ >> 29;
    }
    std::uint64_t hash_ = 0xcbf29ce484222325U;
};

inline std::string_view characters(std::span<const float> values) {
    return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
}

inline std::string checksum_of(std::string_view steps, std::string_view note,
                               std::span<const float> weights, const adamw<float>& optimiser,
                               std::span<const float> anchor) {
    state_checksum sum;
    sum.add(steps);
    sum.add(note);
    for (const std::span<const float> part :
         {weights, optimiser.first_moments(), optimiser.second_moments()})
        sum.add(characters(part));
    if (!anchor.empty())
        sum.add(characters(anchor));
    return sum.text();
}

} // namespace detail

/// A number that tells weights apart, in a state's note: which model adapters stand on, say.
[[nodiscard]] inline std::string weights_checksum(std::span<const float> weights) {
    detail::state_checksum sum;
    sum.add(detail::characters(weights));
    return sum.text();
}

/// Saves weights of that layout and the optimiser's state; what was at the path is replaced by a
/// whole new file or stays as it was (atomic_file.hpp). `note`: UTF-8; `anchor`: empty: none.
/// Errors: specdec::error for a number that is not finite, naming its tensor, and where the file
/// cannot be written; std::bad_alloc.
inline void save_learning_state(const std::string& path, const parameter_layout& layout,
                                std::span<const float> weights, const adamw<float>& optimiser,
                                const std::string& note = "", std::span<const float> anchor = {}) {
    SPECDEC_PRECONDITION(weights.size() == layout.size() &&
                         optimiser.first_moments().size() == layout.size() &&
                         (anchor.empty() || anchor.size() == layout.size()));
    std::vector<tensor> tensors = tensors_of(layout, weights, "", path);
    for (const std::vector<tensor>& moments :
         std::array{tensors_of(layout, optimiser.first_moments(), "adamw.first.", path),
                    tensors_of(layout, optimiser.second_moments(), "adamw.second.", path)})
        tensors.insert(tensors.end(), moments.begin(), moments.end());
    if (!anchor.empty()) {
        const std::vector<tensor> began = tensors_of(layout, anchor, "anchor.", path);
        tensors.insert(tensors.end(), began.begin(), began.end());
    }
    std::vector<float> row; // what cannot be loaded takes no good state's place
    for (const tensor& t : tensors)
        for (std::size_t r = 0; r < t.rows(); ++r) {
            row.resize(t.columns());
            read_weights(t, r, row);
        }
    const std::string steps = std::to_string(optimiser.steps());
    write_safetensors(path, tensors,
                      {{"format", detail::learning_format},
                       {"steps", steps},
                       {"note", note},
                       {"checksum", detail::checksum_of(steps, note, weights, optimiser, anchor)}});
}

/// Fills weights, optimiser and the anchor's weights, if there are any, with what was saved, every
/// bit, and returns the note. Errors: specdec::error(path, FIELD, EXPECTED) for a file that is
/// missing, torn, corrupt, of another format or of another layout, or that has an anchor where none
/// is asked for or the other way round: nothing has changed then.
[[nodiscard]] inline std::string load_learning_state(const std::string& path,
                                                     const parameter_layout& layout,
                                                     std::span<float> weights,
                                                     adamw<float>& optimiser,
                                                     std::span<float> anchor = {}) {
    SPECDEC_PRECONDITION(weights.size() == layout.size() &&
                         optimiser.first_moments().size() == layout.size() &&
                         (anchor.empty() || anchor.size() == layout.size()));
    const std::string bytes = read_file(path);
    const auto data = std::as_bytes(std::span(bytes));
    expected_tensors tensors(read_safetensors(data, path), path);
    byte_reader in(data, path);
    const auto length = in.read<std::uint64_t>("header length");
    const nlohmann::json header = parse_json(in.take(length, "header"), path, "header");
    const json_fields top(header, path, "");
    const json_fields metadata(top.object("__metadata__"), path, "__metadata__");
    if (metadata.text("format") != detail::learning_format)
        metadata.fail("format", std::string("expected ") + detail::learning_format);
    const std::string digits = metadata.text("steps");
    std::uint64_t steps = 0;
    const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), steps);
    if (parsed.ec != std::errc() || parsed.ptr != digits.data() + digits.size())
        metadata.fail("steps", "expected a number of steps");
    std::string note = metadata.text("note");

    for (const char* const prefix : {"", "adamw.first.", "adamw.second."})
        tensors.expect(layout, prefix);
    const bool anchored =
        !layout.tensors().empty() && tensors.has("anchor." + layout.tensors().front().name);
    if (anchored == anchor.empty())
        throw error(path, "anchor",
                    anchored ? "expected none: this learning has no anchor"
                             : "expected the weights that learning began with: it has an anchor");
    if (anchored)
        tensors.expect(layout, "anchor.");
    tensors.expect_no_other();
    aligned_vector<float> read(layout.size()), began(anchor.size());
    adamw<float> state(layout.size(), optimiser.settings());
    tensors.read(layout, std::span<float>(read));
    tensors.read(layout, state.first_moments(), "adamw.first.");
    tensors.read(layout, state.second_moments(), "adamw.second.");
    if (anchored)
        tensors.read(layout, std::span<float>(began), "anchor.");
    state.set_steps(steps);
    if (detail::checksum_of(digits, note, read, state, began) != metadata.text("checksum"))
        metadata.fail("checksum", "expected the checksum of the file's data, it is corrupt");
    std::copy(read.begin(), read.end(), weights.begin());
    std::copy(began.begin(), began.end(), anchor.begin());
    optimiser = std::move(state);
    return note;
}

} // namespace specdec::engine
