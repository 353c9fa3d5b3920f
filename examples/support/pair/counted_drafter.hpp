// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "support/pair/model_flags.hpp"
#include <specdec/draft/counted/cache_mixture_model.hpp>
#include <specdec/draft/counted/successor_counts_bytes.hpp>
#include <specdec/speculation/any/any_model.hpp>
#include <specdec/vocab/table/atomic_file.hpp>
#include <specdec/vocab/table/vocabulary.hpp>

namespace specdec::examples {

/// A drafter's model with counts of texts, and all that it borrows.
class counted_drafter {
public:
    /// Errors: specdec::error for a file that holds no counts of this vocabulary, or cannot be
    /// replaced.
    counted_drafter(any_batch_model<draft_id> model, const vocabulary& words, counts_choice choice)
        : model_(std::move(model)), fingerprint_(words.fingerprint()),
          file_(std::move(choice.file)), counted_(model_) {
        if (choice.of != counts_choice::texts::shared)
            return;
        if (!file_.empty() && is_there(file_))
            shared_.emplace(
                successor_counts_codec::read(read_file(file_), file_, fingerprint_, words.size()));
        else
            shared_.emplace();
        if (!file_.empty())
            expect_replaceable(file_);
        counted_.use(sources());
    }
    counted_drafter(const counted_drafter&) = delete;
    counted_drafter& operator=(const counted_drafter&) = delete;

    [[nodiscard]] cache_mixture_model<any_batch_model<draft_id>>& model() { return counted_; }
    /// teaches: whether texts that are served are counted for others.
    [[nodiscard]] counted_sources sources(bool teaches = true) {
        return {.shared = shared_ ? &*shared_ : nullptr, .teaches = teaches};
    }
    /// Writes the counts to their file, if they have one. Errors: where it cannot be written.
    void save() const {
        if (!file_.empty())
            replace_file(file_, successor_counts_codec::write(*shared_, fingerprint_));
    }

private:
    any_batch_model<draft_id> model_;
    std::uint64_t fingerprint_;
    std::string file_;
    std::optional<successor_counts> shared_; // of all texts
    cache_mixture_model<any_batch_model<draft_id>> counted_;
};

} // namespace specdec::examples
