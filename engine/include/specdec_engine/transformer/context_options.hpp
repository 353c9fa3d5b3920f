// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>

#include <specdec_engine/attention/cache_type.hpp>
#include <specdec_engine/kernel/isa.hpp>
#include <specdec_engine/team/thread_pool.hpp>
#include <specdec_engine/transformer/batch.hpp>

namespace specdec::engine {

/// What a context of a transformer is made with.
struct context_options {
    /// Threads of a pass; 0: one a core (OMP_NUM_THREADS is not read). Results do not depend on it.
    /// A pass that reads less than forward_pass::one_thread_bytes uses one whatever stands here.
    std::size_t threads = 0;
    /// Most tokens the context holds; 0: what the model was made for, at most 4096. Costs
    /// 2 * layers * kv_heads * head_dimension values of cache a token (see `cache`).
    std::size_t capacity = 0;
    /// Sequences that the context holds side by side, each with that capacity.
    std::size_t sequences = 1;
    /// Logical vocabulary: length of a row. At most the rows of the head; 0: all of them. Give the
    /// tokenizer's size where the head is padded.
    std::size_t vocabulary_size = 0;
    /// Rows that score() can return without allocating: draft length + 1 or more.
    std::size_t rows = 16;
    /// Instructions of the kernel; what the CPU lacks is not used.
    isa instructions = isa::amx;
    /// Numbers that keys and values are kept in. Of drafters that read a model's features, or are
    /// its first layers: the model's.
    cache_type cache = cache_type::own;
    /// Features that append() and score() keep (features()).
    feature_kind features = feature_kind::none;
    /// The threads of another context (transformer::team()), to be shared instead of starting some:
    /// a drafter and its target, which take turns, should. Those of two teams wait for each other
    /// on the same cores, for milliseconds. Null: a team of `threads`, otherwise `threads` does not
    /// count.
    std::shared_ptr<thread_pool> team = nullptr;
};

} // namespace specdec::engine
