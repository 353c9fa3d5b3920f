// SPDX-License-Identifier: MIT
#pragma once

/// What a session of chains needs, with the standard library alone. Vocabulary maps are built by
/// <specdec/vocab/table/intersection.hpp> (Boost.Unordered); interop/ and reference/ are opt-in. So
/// are head/, learn/, testing/, draft/lookup/, draft/recycled/, trees, stop rules that learn, what
/// wraps models (core/model/shared_model.hpp) and drafters of texts beyond their context
/// (draft/windowed_drafter.hpp), and what is for comparison (bridge/paper_merge.hpp).

#include <specdec/core/basic/first_where.hpp>
#include <specdec/core/basic/half.hpp>
#include <specdec/core/basic/heap.hpp>
#include <specdec/core/basic/on_throw.hpp>
#include <specdec/core/coin.hpp>
#include <specdec/core/concepts.hpp>
#include <specdec/core/contract.hpp>
#include <specdec/core/drafting.hpp>
#include <specdec/core/error.hpp>
#include <specdec/core/law.hpp>
#include <specdec/core/model/context_tracker.hpp>
#include <specdec/core/model/one_sequence.hpp>
#include <specdec/core/proposal.hpp>
#include <specdec/core/require.hpp>
#include <specdec/core/rows.hpp>
#include <specdec/core/text_offset.hpp>
#include <specdec/core/token_id.hpp>

#include <specdec/sampling/coin/coupled_coin.hpp>
#include <specdec/sampling/coin/exponential_race.hpp>
#include <specdec/sampling/coin/philox.hpp>
#include <specdec/sampling/coin/philox_coin.hpp>
#include <specdec/sampling/coin/text_keys.hpp>
#include <specdec/sampling/law/block_of.hpp>
#include <specdec/sampling/law/dense_law.hpp>
#include <specdec/sampling/law/draw.hpp>
#include <specdec/sampling/law/parameters.hpp>
#include <specdec/sampling/law/softmax_law.hpp>
#include <specdec/sampling/law/sparse_law.hpp>
#include <specdec/sampling/lazy_flip.hpp>
#include <specdec/sampling/listed_rows.hpp>
#include <specdec/sampling/listing.hpp>
#include <specdec/sampling/make_list.hpp>
#include <specdec/sampling/residual.hpp>

#include <specdec/verify/block_verification.hpp>
#include <specdec/verify/coupled_match.hpp>
#include <specdec/verify/exact_match.hpp>
#include <specdec/verify/token_rejection.hpp>
#include <specdec/verify/verdict.hpp>

#include <specdec/vocab/encoding/continuation.hpp>
#include <specdec/vocab/encoding/retokenizer.hpp>
#include <specdec/vocab/encoding/safe_cuts.hpp>
#include <specdec/vocab/encoding/segment_encoder.hpp>
#include <specdec/vocab/ngrams/eviction.hpp>
#include <specdec/vocab/ngrams/ngram_cache.hpp>
#include <specdec/vocab/spelling/canonical_spellings.hpp>
#include <specdec/vocab/spelling/pieces.hpp>
#include <specdec/vocab/table/byte_order.hpp>
#include <specdec/vocab/table/id_map.hpp>
#include <specdec/vocab/table/token_strings.hpp>
#include <specdec/vocab/table/vocabulary.hpp>

#include <specdec/process/given_laws.hpp>
#include <specdec/process/grammar_mask.hpp>
#include <specdec/process/law_factory.hpp>
#include <specdec/process/log_probabilities.hpp>
#include <specdec/process/penalties.hpp>
#include <specdec/process/processed_rows.hpp>
#include <specdec/process/row_processor.hpp>
#include <specdec/process/token_bias.hpp>
#include <specdec/process/token_history.hpp>

#include <specdec/bridge/context/bridge.hpp>
#include <specdec/bridge/context/draft_context.hpp>
#include <specdec/bridge/context/retokenised_context.hpp>
#include <specdec/bridge/context/shared_context.hpp>
#include <specdec/bridge/identity.hpp>
#include <specdec/bridge/nested_tli.hpp>
#include <specdec/bridge/ngram_merge.hpp>
#include <specdec/bridge/no_bridge.hpp>
#include <specdec/bridge/slem.hpp>
#include <specdec/bridge/slrs.hpp>
#include <specdec/bridge/spelling.hpp>
#include <specdec/bridge/strings/draft_source.hpp>
#include <specdec/bridge/strings/merging.hpp>
#include <specdec/bridge/strings/possible_drafts.hpp>
#include <specdec/bridge/strings/prefix_mass.hpp>
#include <specdec/bridge/strings/pushforward.hpp>
#include <specdec/bridge/strings/pushforward_bridge.hpp>
#include <specdec/bridge/strings/pushforward_law.hpp>
#include <specdec/bridge/strings/retokenising.hpp>
#include <specdec/bridge/strings/spelling_weights.hpp>
#include <specdec/bridge/tli.hpp>
#include <specdec/bridge/token/draft_list_store.hpp>
#include <specdec/bridge/token/draft_row_store.hpp>
#include <specdec/bridge/token/id_map_view.hpp>
#include <specdec/bridge/token/mapped_law.hpp>
#include <specdec/bridge/token/nested_law.hpp>
#include <specdec/bridge/token/token_bridge.hpp>
#include <specdec/bridge/union.hpp>

#include <specdec/draft/model_drafter.hpp>
#include <specdec/draft/no_drafter.hpp>
#include <specdec/draft/processed_drafter.hpp>
#include <specdec/draft/stop_rule.hpp>

#include <specdec/decode/batch.hpp>
#include <specdec/decode/clock.hpp>
#include <specdec/decode/generate.hpp>
#include <specdec/decode/round_result.hpp>
#include <specdec/decode/session.hpp>
#include <specdec/decode/session_settings.hpp>
#include <specdec/decode/statistics.hpp>
#include <specdec/decode/target_feed.hpp>
#include <specdec/decode/text_run.hpp>
#include <specdec/decode/text_stream.hpp>
