// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "support/pair/adapting_drafter.hpp"
#include <specdec/decode/round_result.hpp>
#include <specdec/learn/acceptance/acceptance_examples.hpp>
#include <specdec/learn/acceptance/acceptance_recorder.hpp>
#include <specdec/learn/acceptance/acceptance_sample.hpp>
#include <specdec/learn/replay_buffer.hpp>
#include <specdec/speculation/decoder.hpp>
#include <specdec/speculation/text.hpp>

namespace specdec::examples {

/// Keeps a round's draft until it is committed.
struct draft_reader : listener {
    std::vector<draft_progress> steps;
    std::vector<target_id> proposed;
    bool round(const round_result& r) override {
        steps.assign(r.steps.begin(), r.steps.end());
        proposed.assign(r.proposed.begin(), r.proposed.end());
        return true;
    }
};

/// The texts that an acceptance head learns from where the drafter that learns computes their
/// labels again (OmniDraft, Alg. 3 and 4): the buffers Q and R.
class head_texts {
public:
    /// window: the most draft tokens of a text, as the learner's.
    head_texts(decoder& pair, const adapting_drafter& drafter, std::size_t window,
               const sampling_parameters& sampling)
        : map_(*pair.map()), prefix_(drafter.prefix), sampling_(sampling),
          recorder_(pair.target_tokenizer(), *pair.draft_tokenizer(), map_, window),
          relabel_(map_, sampling) {}

    void start(std::span<const target_id> prompt) {
        recorder_.start(prompt, prefix_before(prompt, prefix_, map_));
    }
    /// A committed round.
    void follow(const logits_rows<target_id>& rows, const draft_reader& draft,
                std::span<const target_id> committed) {
        recorder_.follow(rows, sampling_, draft.steps, draft.proposed, committed);
    }
    /// The text has ended.
    void finish() {
        if (!recorder_.finish(text_))
            return;
        texts_.add(text_);
        ++new_;
    }

    /// The examples of the texts since the last call, by the learner's weights.
    const acceptance_examples& newest(engine::drafter_learner& learner) {
        chosen_.clear();
        texts_.newest(new_, chosen_);
        new_ = 0;
        return label(learner);
    }
    /// The same of some of all texts.
    template <UniformSource U>
    const acceptance_examples& any(engine::drafter_learner& learner, U&& uniform) {
        chosen_.clear();
        texts_.draw(uniform, batch, chosen_);
        return label(learner);
    }

private:
    static constexpr std::size_t batch = 4; ///< texts of a step

    const acceptance_examples& label(engine::drafter_learner& learner) {
        examples_.clear();
        for (const acceptance_sample* text : chosen_) {
            behind_.clear();
            for (const acceptance_sample::row& x : text->rows)
                behind_.push_back(x.behind);
            relabel_(*text, learner.rows(text->tokens, behind_), examples_);
        }
        return examples_;
    }

    const id_map& map_;
    std::span<const draft_id> prefix_;
    sampling_parameters sampling_;
    acceptance_recorder<any_tokenizer<target_id>, any_tokenizer<draft_id>> recorder_;
    acceptance_relabeller relabel_;
    basic_replay_buffer<acceptance_sample> texts_{std::size_t{1} << 15};
    std::size_t new_ = 0; ///< texts
    acceptance_sample text_;
    acceptance_examples examples_{std::size_t{1} << 14};
    std::vector<const acceptance_sample*> chosen_;
    std::vector<std::size_t> behind_;
};

} // namespace specdec::examples
