// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include <specdec/core/error.hpp>
#include <specdec_engine/learn/reverse/model_parameters.hpp>
#include <specdec_engine/transformer/pack.hpp>
#include <specdec_engine/transformer/weights.hpp>

namespace specdec::engine {

/// Writes learnt weights into the packed weights of a model that decodes, in their precision.
/// Contexts that share them use the new weights from their next pass on. Call it between rounds,
/// when no thread is in a pass. What contexts hold was computed with the old weights: truncate them
/// to nothing for rows of the new weights alone. threads: 0: one a core. Errors: specdec::error for
/// weights of another shape, other rotary settings or another epsilon. Complexity: a read and a
/// write of all weights.
///
///     const auto packed = std::make_shared<model_weights<bf16_bits>>(parameters.config());
///     refresh_weights(*packed, parameters);
///     transformer drafter(std::shared_ptr<const model_weights<bf16_bits>>(packed), options);
///     ... drafts, learns ...
///     refresh_weights(*packed, parameters);
///     drafter.truncate(0);
template <PanelValue Value>
void refresh_weights(model_weights<Value>& to, const model_parameters<float>& from,
                     std::size_t threads = 0) {
    const model_layout expected(to.config);
    const auto ours = from.layout().tensors().tensors();
    const auto theirs = expected.tensors().tensors();
    bool same = ours.size() == theirs.size();
    for (std::size_t i = 0; same && i < ours.size(); ++i)
        same = ours[i].shape == theirs[i].shape && ours[i].name == theirs[i].name;
    if (!same)
        throw error("learnt weights", "shapes", "expected those of the packed weights");
    require_same_arithmetic(to.config, from.config(), "learnt weights");
    const checkpoint view = view_checkpoint(from);
    detail::tensor_packer<Value> tensors(view);
    detail::ask_for_model(tensors, view.config, &to);
    tensors.run(threads, {});
}

} // namespace specdec::engine
