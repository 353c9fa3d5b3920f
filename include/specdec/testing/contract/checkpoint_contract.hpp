// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <type_traits> // std::remove_reference_t
#include <utility>
#include <vector>

#include <specdec/core/model/checkpointed_model.hpp>
#include <specdec/core/model/checkpointing.hpp>
#include <specdec/testing/contract/contract_report.hpp>
#include <specdec/testing/contract/engine_contract.hpp>
#include <specdec/testing/contract/expected_rows.hpp>
#include <specdec/testing/contract/model_contract_settings.hpp>

/// Does an engine whose state cannot be truncated keep what core/model/checkpointing.hpp asks for?
///
///     const auto report = check_checkpoints<target_id>([&] { return my_mamba(weights); });
///
///     checkpoint.restore         restore() leaves the size of the checkpoint, and its rows
///     checkpoint.again           as often as it is asked for
///     checkpoint.replaced        a later checkpoint takes the place of the earlier one
///     checkpoint.clear           clear() forgets all tokens: rows are those of a new state
///     checkpoint.refusal         a refused call changes neither state nor checkpoint
///     checkpoint.sequences_apart no call for a sequence changes another's state or checkpoint
///
/// and, of checkpointed_model over it, the clauses model.* (and batch.*) of engine_contract.hpp.
namespace specdec {

/// A new engine and the model made of it.
template <class Id, class Make>
class owned_checkpointed
    : made_model<Make>, // before the view of it
      public checkpointed_model<Id, std::remove_reference_t<decltype(made_model<Make>::made)>> {
public:
    explicit owned_checkpointed(Make& make)
        : made_model<Make>{make()}, owned_checkpointed::checkpointed_model(this->made, 2) {}
    owned_checkpointed(const owned_checkpointed&) = delete;
};

/// The checks behind check_checkpoints(), a function a clause.
template <class Id, class Make>
class checkpoint_contract {
    using made_type = std::remove_reference_t<decltype(std::declval<Make&>()())>;
    using engine_type = detail::checkpointing_sequences<Id, made_type>;

public:
    checkpoint_contract(Make& make, const model_contract_settings<Id>& settings)
        : make_(make), settings_(settings), expected_(settings.tolerance) {}

    /// Once.
    contract_report run() {
        contract_report report;
        report.run("checkpoint.restore", "the state of the checkpoint", {}, [&] { restore(); });
        report.run("checkpoint.again", "the same state by every restore", {"checkpoint.restore"},
                   [&] { again(); });
        report.run("checkpoint.replaced", "the state of the last checkpoint",
                   {"checkpoint.restore"}, [&] { replaced(); });
        report.run("checkpoint.clear", "a new state", {"checkpoint.restore"}, [&] { clear(); });
        report.run("checkpoint.refusal", "a refused call to change nothing", {"checkpoint.restore"},
                   [&] { refusal(); });
        report.run("checkpoint.sequences_apart", "no call to change another sequence",
                   {"checkpoint.restore"}, [&] { sequences_apart(); });
        report.greatest_difference = expected_.greatest_difference();
        return report;
    }

private:
    /// An engine and its calls, by sequence.
    struct engine : made_model<Make>, engine_type {
        explicit engine(Make& make) : made_model<Make>{make()}, engine_type(this->made) {}
        engine(const engine&) = delete;
    };

    void restore() {
        engine m(make_);
        ids_ = contract_tokens<Id>(settings_, m.model().vocabulary_size(), m.model().capacity());
        record();
        m.append(0, right(0, 3));
        m.checkpoint(0);
        (void)scored(m, 0, wrong(3, 6));
        m.restore(0);
        expect(m, 0, 3, "after a restore");
    }
    void again() {
        engine m(make_);
        m.append(0, right(0, 2));
        m.checkpoint(0);
        for (std::size_t i = 0; i < 3; ++i) {
            m.append(0, wrong(2, 4 + i));
            (void)scored(m, 0, wrong(4 + i, 5 + i));
            m.restore(0);
        }
        m.restore(0);
        expect(m, 0, 2, "after the fourth restore");
    }
    void replaced() {
        engine m(make_);
        m.append(0, right(0, 1));
        m.checkpoint(0);
        m.append(0, right(1, 4));
        m.checkpoint(0);
        (void)scored(m, 0, wrong(4, 5));
        m.restore(0);
        expect(m, 0, 4, "after the second checkpoint");
    }
    void clear() {
        engine m(make_);
        m.append(0, wrong(0, 4));
        m.checkpoint(0);
        m.append(0, wrong(4, 5));
        m.clear(0);
        expect(m, 0, 0, "after a clear");
        m.clear(0);
        m.append(0, right(0, 2));
        m.checkpoint(0);
        m.append(0, wrong(2, 4));
        m.restore(0);
        expect(m, 0, 2, "restored after a clear");
    }
    void refusal() {
        engine m(make_);
        const std::size_t capacity = m.model().capacity();
        if (capacity > settings_.fill_at_most)
            throw clause_left_out{"capacity() is above fill_at_most"};
        m.append(0, right(0, 2));
        m.checkpoint(0);
        m.append(0, right(2, 4));
        const std::vector<Id> many = ids_.filling(capacity);
        try {
            (void)scored(m, 0, many);
        } catch (const clause_broken&) {
            throw;
        } catch (...) {
            expect(m, 0, 4, "after a refused score");
            m.restore(0);
            expect(m, 0, 2, "restored after a refused score");
            return;
        }
        throw clause_broken{"no exception from a score beyond capacity()"};
    }
    void sequences_apart() {
        for (const bool first : {true, false}) {
            engine m(make_);
            if (m.sequences() < 2)
                throw clause_left_out{"one sequence"};
            const std::size_t still = first ? 0 : m.sequences() - 1;
            const std::size_t other = m.sequences() - 1 - still;
            m.append(still, right(0, 3));
            m.checkpoint(still);
            m.append(still, wrong(3, 4));
            m.append(other, right(0, 1));
            m.checkpoint(other);
            (void)scored(m, other, wrong(1, 4));
            m.restore(other);
            expect(m, other, 1, "with another sequence");
            m.clear(other);
            m.restore(still);
            expect(m, still, 3, "after another sequence's calls");
        }
    }

    /// The sequence has n tokens, all right ones, and its next rows are theirs.
    void expect(engine& m, std::size_t s, std::size_t n, const char* where) {
        if (m.size(s) != n)
            throw clause_broken{"size() " + std::to_string(m.size(s)) + " instead of " +
                                std::to_string(n) + " " + where};
        expected_.require(n, scored(m, s, right(n, n + 2)), 2, where);
    }
    [[nodiscard]] logits_rows<Id> scored(engine& m, std::size_t s, std::span<const Id> ids) {
        const sequence_tokens<Id> part{s, ids};
        const logits_rows<Id> rows = m.score(std::span(&part, 1));
        if (rows.size() != ids.size())
            throw clause_broken{std::to_string(rows.size()) + " rows of " +
                                std::to_string(ids.size()) + " tokens"};
        return rows;
    }
    void record() {
        engine m(make_);
        expected_.record(scored(m, 0, right(0, ids_.right.size())));
    }

    [[nodiscard]] std::span<const Id> right(std::size_t from, std::size_t to) const {
        return std::span<const Id>(ids_.right).subspan(from, to - from);
    }
    [[nodiscard]] std::span<const Id> wrong(std::size_t from, std::size_t to) const {
        return std::span<const Id>(ids_.wrong).subspan(from, to - from);
    }

    Make& make_;
    const model_contract_settings<Id>& settings_;
    expected_rows expected_;
    contract_tokens<Id> ids_;
};

/// Checks an engine of one sequence or of several; `make` returns a new one of empty states, and is
/// called some 40 times, two at a time.
template <class Id, class Make>
[[nodiscard]] contract_report check_checkpoints(Make&& make,
                                                const model_contract_settings<Id>& settings = {}) {
    using made_type = std::remove_reference_t<decltype(make())>;
    contract_report report = checkpoint_contract<Id, Make>(make, settings).run();
    if (!report.ok()) {
        report.unchecked.push_back({"model.*", "builds on checkpoint.*"});
        return report;
    }
    const auto view = [&make] { return owned_checkpointed<Id, Make>(make); };
    if constexpr (CheckpointingBatchModelOf<made_type, Id>)
        report.add(check_batch_model<Id>(view, settings));
    else
        report.add(check_model<Id>(view, settings));
    return report;
}

} // namespace specdec
