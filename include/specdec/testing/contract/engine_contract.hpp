// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include <specdec/core/concepts.hpp>
#include <specdec/testing/contract/batch_model_contract.hpp>
#include <specdec/testing/contract/contract_report.hpp>
#include <specdec/testing/contract/model_contract.hpp>
#include <specdec/testing/contract/model_contract_settings.hpp>
#include <specdec/testing/contract/tokenizer_contract.hpp>
#include <specdec/testing/contract/tokenizer_contract_settings.hpp>

/// Does your engine keep what core/concepts.hpp asks for? The compiler sees the calls, these checks
/// what they mean. No test framework: they return a contract_report to print or to assert on.
///
///     const auto make = [&] { return my_model(weights); };
///     const contract_report report = check_engine<target_id>(make, my_tokenizer);
///     if (!report.ok()) std::cerr << report.text();
///
/// Clauses, by their stable names. One that builds on a violated one is not checked.
///
///     model.starts_empty          make() gives an empty context with room, over a vocabulary
///     model.size_grows            size() grows by what append and score are given
///     model.row_count             score(ids) returns ids.size() rows of vocabulary_size() values
///     model.row_values            no NaN, no +infinity, not all -infinity
///     model.row_position          row i of a call is the row of token i scored alone (a row stride
///                                 taken for the vocabulary, rows of an earlier call, ...)
///     model.row_behind_token      row i is the law behind token i, not before it
///     model.append_then_score     appended tokens count as scored ones do
///     model.truncate_size         truncate(n) leaves n tokens; truncate(size()), truncate(0) work
///     model.truncate_then_append  truncated and refilled, the context is like a fresh one (stale
///                                 keys, positions counted on, ...)
///     model.rejected_tokens       rows do not depend on tokens that were truncated
///     model.held                  held(), where there is one, tells the context's tokens
///     model.capacity              capacity() tokens fit, more make append and score throw
///     model.refusal_state         a refused call changes nothing: size, later rows, room
///     model.independence          two models share neither contexts nor rows
///     tokenizer.ids               ids lie in 0 .. vocabulary_size()-1
///     tokenizer.encode_appends    encode appends, always the same, and leaves what stood there
///     tokenizer.empty_text        the empty text has no tokens, nowhere
///     tokenizer.bytes_lifetime    views of bytes() outlive other calls
///     tokenizer.piece_bytes       bytes are a text's own: no U+FFFD for pieces of characters, no
///                                 <0x0A>, no sign for a space
///     tokenizer.control_bytes     the given control tokens have no bytes
///     tokenizer.control_added     encode adds no control token
///     tokenizer.control_names     names of control tokens in a text are text
///     tokenizer.continuation      nothing is added in front of a continuation
///     tokenizer.round_trip        a text's tokens have its bytes (normalising: bytes that stay)
///     tokenizer.start             at the start at most a space is added in front
///     tokenizer.invalid_utf8      other bytes than UTF-8 are taken, and leave ASCII around them
///     engine.vocabulary           model and tokenizer have the same vocabulary_size()
///     batch.starts_empty          make() gives empty sequences
///     batch.row_order             the rows of a pass stand in the order of its parts, each as its
///                                 sequence gets it alone; held(s), if there, tells its tokens
///     batch.sequences_apart       no call changes another sequence's tokens or rows
///     batch.capacity              capacity() tokens fit into every sequence at the same time
///     batch.refused_pass          a pass that is refused for one part changes no sequence
///     batch.trees                 where it scores trees (BatchTreeModelOf): those of several
///                                 sequences in one pass, each as its sequence gets it alone
///
/// Engines that cannot be truncated: checkpoint_contract.hpp.
///
/// An exception where none is due violates the clause that is being checked. Everything is
/// deterministic. Errors: specdec::error for settings that check nothing.
namespace specdec {

/// Checks the clauses model.*. `make` returns a model with an empty context, each time a new one
/// (or the same, emptied; then settings.several_at_once is false): about 20 times, two at a time.
/// Feeds some 20 * settings.length tokens, and 3 * capacity().
template <class Id, class Make>
[[nodiscard]] contract_report check_model(Make&& make,
                                          const model_contract_settings<Id>& settings = {}) {
    return model_contract<Id, Make>(make, settings).run();
}

/// Checks an engine of several sequences (BatchModelOf<Id>): the clauses model.* of its last
/// sequence, and batch.*. `make` returns a model of empty sequences, each time a new one; it is
/// called some 30 times.
template <class Id, class Make>
[[nodiscard]] contract_report check_batch_model(Make&& make,
                                                const model_contract_settings<Id>& settings = {}) {
    contract_report report =
        check_model<Id>([&make] { return owned_sequence<Id, Make>(make); }, settings);
    if (report.ok())
        report.add(batch_model_contract<Id, Make>(make, settings).run());
    else
        report.unchecked.push_back({"batch.*", "builds on model.*"});
    return report;
}

/// Checks the clauses tokenizer.*. Reads the bytes of every id and encodes the texts a dozen times.
template <class Id, TokenizerOf<Id> Tokenizer>
[[nodiscard]] contract_report
check_tokenizer(const Tokenizer& tokenizer, const tokenizer_contract_settings<Id>& settings = {}) {
    return tokenizer_contract<Id, Tokenizer>(tokenizer, settings).run();
}

template <class Id, class Make, TokenizerOf<Id> Tokenizer>
[[nodiscard]] contract_report
check_engine(Make&& make, const Tokenizer& tokenizer,
             const model_contract_settings<Id>& of_model = {},
             const tokenizer_contract_settings<Id>& of_tokenizer = {}) {
    contract_report report = check_model<Id>(make, of_model);
    report.add(check_tokenizer<Id>(tokenizer, of_tokenizer));
    report.run("engine.vocabulary", "rows as long as the tokenizer's vocabulary",
               {"model.starts_empty"}, [&] {
                   const watched_model<Id, Make> model(make);
                   if (model.vocabulary_size() != tokenizer.vocabulary_size())
                       throw clause_broken{std::to_string(model.vocabulary_size()) +
                                           " values a row, " +
                                           std::to_string(tokenizer.vocabulary_size()) + " tokens"};
               });
    return report;
}

} // namespace specdec
