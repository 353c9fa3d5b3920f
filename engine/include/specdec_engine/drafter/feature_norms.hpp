// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include <specdec_engine/file/json_fields.hpp>

namespace specdec::engine {

/// What of three features is normed before fc: nothing, all 3 d values as one (`norm_before_fc` in
/// configurations), or each feature by itself (`fc_norm`, EAGLE 3.1).
enum class fuse_norm : unsigned char { none, whole, each };

/// The norms in which drafters of EAGLE-3's form differ.
struct feature_norms {
    fuse_norm before_fc = fuse_norm::none;
    /// `norm_before_residual`: the block adds to the normed feature.
    bool before_residual = false;
    /// `norm_output`, EAGLE 3.1: a place's own feature is its hidden state, which is normed.
    bool output = false;

    friend bool operator==(const feature_norms&, const feature_norms&) = default;
};

/// The norms that a config.json names. Errors: specdec::error naming file and field, also for both
/// norms before fc.
[[nodiscard]] inline feature_norms read_feature_norms(const json_fields& fields) {
    const bool whole = fields.boolean_or("norm_before_fc", false);
    const bool each = fields.boolean_or("fc_norm", false);
    if (whole && each)
        fields.fail("fc_norm", "expected false, because norm_before_fc is true");
    return {whole  ? fuse_norm::whole
            : each ? fuse_norm::each
                   : fuse_norm::none,
            fields.boolean_or("norm_before_residual", false),
            fields.boolean_or("norm_output", false)};
}

/// Errors: specdec::error naming file and field for a norm of EAGLE-3's form in a config.json of
/// EAGLE-1's.
inline void require_no_feature_norms(const json_fields& fields) {
    for (const char* const flag :
         {"norm_before_fc", "fc_norm", "norm_before_residual", "norm_output"})
        if (fields.boolean_or(flag, false))
            fields.fail(flag, "expected false in EAGLE-1's form (layers.0.*)");
}

} // namespace specdec::engine
