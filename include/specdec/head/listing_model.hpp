// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <specdec/core/law_version.hpp>
#include <specdec/head/headed_context.hpp>
#include <specdec/head/lm_head.hpp>
#include <specdec/sampling/law/parameters.hpp>
#include <specdec/sampling/listing.hpp>
#include <specdec/sampling/make_list.hpp>

namespace specdec {

/// A model that lists the tokens that a draft head computes, so a draft token costs no row over the
/// vocabulary (docs/adapt/heads.md). A list is a law already, so the draft's sampling parameters
/// are given here, and the session's stay the default ones. Cutoffs and temperature 0 see all
/// computed tokens, also those that the bridge must not draw. Otherwise q is headed_model's.
///
/// Models ScoringBatchModelOf<Id>, and ListingModelOf<Id> where Model is of one sequence. Borrows
/// both. Memory: `rows` lists, allocated at construction; a call that needs more allocates.
/// Complexity: the model's and the head's, and a softmax over the computed tokens. Errors: as
/// headed_context, and for parameters out of range.
template <class Model, HeadFor<Model> Head>
    requires ListingHeadOf<Head, typename Head::id_type>
class listing_model : public headed_context<listing_model<Model, Head>, Model, Head> {
    using Id = typename Head::id_type;
    using base = headed_context<listing_model<Model, Head>, Model, Head>;

public:
    listing_model(Model& model, Head& head, const sampling_parameters& sampling = {},
                  std::size_t rows = 16)
        : base(model, head, "listing model"), entries_(rows * head.most_listed()), counts_(rows) {
        set_sampling(sampling);
    }

    [[nodiscard]] const sampling_parameters& sampling() const { return sampling_; }
    /// To be called between rounds only. Errors: as at construction, and nothing changes.
    void set_sampling(const sampling_parameters& sampling) {
        validate(sampling);
        sampling_ = sampling;
        ++changes_;
    }
    [[nodiscard]] law_version version(std::size_t s) const { return base::version(s) + changes_; }

    using base::score, base::version;
    [[nodiscard]] listed_rows<Id> score(std::span<const sequence_tokens<Id>> parts) {
        const hidden_states x = this->states(parts);
        const std::size_t most = this->head().most_listed();
        if (counts_.size() < x.size()) {
            counts_.resize(x.size());
            entries_.resize(x.size() * most);
        }
        this->head().list(x, [&](std::size_t i, std::span<const Id> ids,
                                 std::span<const float> logits) {
            counts_[i] =
                make_list<Id>(ids, logits, sampling_, std::span(entries_).subspan(i * most, most));
        });
        return {entries_.data(), most, this->vocabulary_size(),
                std::span<const std::size_t>(counts_).first(x.size())};
    }

private:
    sampling_parameters sampling_;
    law_version changes_ = 0;
    std::vector<weighted_id<Id>> entries_; // [rows, most listed]
    std::vector<std::size_t> counts_;      // [rows]
};

} // namespace specdec
