// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <specdec/core/coin.hpp>
#include <specdec/core/concepts.hpp>
#include <specdec/core/drafting.hpp>

/// Types that offer exactly what a concept asks for and nothing else: not copyable, results that
/// only convert to what is promised. What compiles and runs with them relies on the concepts alone.
namespace specdec::testing {

/// Converts to T and can do nothing else.
template <class T>
class only {
public:
    explicit only(T value) : value_(value) {}
    operator T() const { return value_; } // NOLINT: the point of it

private:
    T value_;
};

/// Neither copied nor moved.
struct pinned {
    pinned() = default;
    pinned(const pinned&) = delete;
    pinned& operator=(const pinned&) = delete;
};

/// Rows: the id (size() * 5 + 1) mod vocabulary is the likeliest.
template <class Id>
class model_archetype : pinned {
public:
    explicit model_archetype(std::size_t vocabulary) : vocabulary_(vocabulary) {}

    only<std::size_t> size() const { return only(held_); }
    only<std::size_t> capacity() const { return only(most); }
    only<std::size_t> vocabulary_size() const { return only(vocabulary_); }
    void append(std::span<const Id> ids) {
        require_room(ids);
        held_ += ids.size();
    }
    only<logits_rows<Id>> score(std::span<const Id> ids) {
        require_room(ids);
        rows_.assign(ids.size() * vocabulary_, 0.0F);
        for (std::size_t i = 0; i < ids.size(); ++i)
            rows_[i * vocabulary_ + (++held_ * 5 + 1) % vocabulary_] = 3.0F;
        return only(logits_rows<Id>(rows_.data(), ids.size(), vocabulary_, vocabulary_));
    }
    void truncate(std::size_t n) { held_ = n; }

private:
    static constexpr std::size_t most = 64;

    void require_room(std::span<const Id> ids) const {
        if (ids.size() > most - held_)
            throw "model_archetype: beyond its capacity";
    }

    std::size_t vocabulary_;
    std::size_t held_ = 0;
    std::vector<float> rows_;
};

/// Every id is one letter, the last one is a control token.
template <class Id>
class tokenizer_archetype : pinned {
public:
    only<std::size_t> vocabulary_size() const { return only(std::size_t{4}); }
    std::string_view bytes(Id id) const { return std::string_view("abc").substr(id.index(), 1); }
    void encode(std::string_view text, encode_mode, std::vector<Id>& out) const {
        for (const char c : text)
            out.push_back(Id{c - 'a'});
    }
};

class drafter_archetype : pinned {
public:
    only<std::size_t> capacity() const { return only(std::size_t{64}); }
    void sync(std::span<const draft_id> context, std::size_t) { size_ = context.size(); }
    only<logits_row<draft_id>> row() {
        for (std::size_t v = 0; v < 4; ++v)
            row_[v] = v == (size_ * 5 + 1) % 4 ? 3.0F : 0.0F;
        return only(logits_row<draft_id>{row_});
    }
    only<law_version> version() const { return only(law_version{0}); }
    void push(draft_id) { ++size_; }

private:
    std::size_t size_ = 0;
    float row_[4] = {};
};

class stop_rule_archetype : pinned {
public:
    only<law_version> version() const { return only(law_version{0}); }
    only<bool> more(const draft_progress& now) const { return only(now.drafted < 3); }
};

class coin_archetype : pinned {
public:
    bool flip(draw_site, double probability) { return next() < probability; }
    template <class L>
    auto pick(draw_site, const L& law) {
        return law.at(next());
    }

private:
    double next() {
        state_ = state_ * 6364136223846793005U + 1442695040888963407U;
        return static_cast<double>(state_ >> 11) * 0x1p-53;
    }
    std::uint64_t state_ = 7;
};

/// Equal chances for the ids 0 .. 3. Laws are values: they may be copied.
template <class Id>
class law_archetype {
public:
    only<std::size_t> size() const { return only(std::size_t{4}); }
    only<double> probability(Id) const { return only(0.25); }
    Id at(double u) const { return Id{static_cast<std::int32_t>(4 * u)}; }
};

class draft_context_archetype {
public:
    void start(std::span<const draft_id> prefix) { ids_.assign(prefix.begin(), prefix.end()); }
    void follow(std::span<const target_id> committed) {
        for (const target_id t : committed)
            ids_.push_back(draft_id{t.value});
    }
    only<std::span<const draft_id>> ids() const { return only(std::span<const draft_id>(ids_)); }
    only<std::size_t> unchanged() const { return only(std::size_t{0}); }
    void mark() {}

private:
    std::vector<draft_id> ids_;
};

class clock_archetype {
public:
    only<double> operator()() { return only(0.5); }
};

} // namespace specdec::testing
