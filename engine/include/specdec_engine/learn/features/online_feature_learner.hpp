// SPDX-License-Identifier: MIT
#pragma once

#include <specdec/decode/clock.hpp>
#include <specdec_engine/learn/features/feature_learner.hpp>
#include <specdec_engine/learn/features/serving_features.hpp>
#include <specdec_engine/learn/online_learner.hpp>

namespace specdec::engine {

/// online_learner of a drafter that reads its target's features. Where a round begins:
///
///     online.round_begins();  if (const auto next = serving.take()) model.use(*next);
template <Clock Time>
using online_feature_learner = basic_online_learner<feature_learner, serving_features, Time>;

} // namespace specdec::engine
