// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>

#include <specdec/core/concepts.hpp>

namespace specdec {

/// Base of target wrappers (feature_recorder, topk_recorder): forwards size and capacity, of one
/// sequence or of several. Borrows the target.
template <class Target>
    requires ContextOf<Target, target_id> || BatchContextOf<Target, target_id>
class target_context {
protected:
    static constexpr bool several = BatchContextOf<Target, target_id>;

public:
    [[nodiscard]] std::size_t capacity() const { return target_.capacity(); }
    [[nodiscard]] std::size_t vocabulary_size() const { return target_.vocabulary_size(); }

    [[nodiscard]] std::size_t size() const
        requires(!several)
    {
        return target_.size();
    }
    [[nodiscard]] std::span<const target_id> held() const
        requires(!several && requires(const Target& t) { t.held(); })
    {
        return target_.held();
    }

    [[nodiscard]] std::size_t sequences() const
        requires several
    {
        return target_.sequences();
    }
    [[nodiscard]] std::size_t size(std::size_t s) const
        requires several
    {
        return target_.size(s);
    }

protected:
    explicit target_context(Target& target) : target_(target) {}

    Target& target_;
};

} // namespace specdec
