// docs/adapt: heads, exits, features and learning over models of the CPU engine. Not run.
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <specdec/bridge/tli.hpp>
#include <specdec/decode/outcome_of.hpp>
#include <specdec/decode/session.hpp>
#include <specdec/draft/acceptance_table.hpp>
#include <specdec/draft/counted/cache_mixture_model.hpp>
#include <specdec/draft/hot_swapped_model.hpp>
#include <specdec/draft/model_drafter.hpp>
#include <specdec/draft/predicted_end.hpp>
#include <specdec/draft/windowed_drafter.hpp>
#include <specdec/head/adaptive/adaptive_model.hpp>
#include <specdec/head/adaptive/topk_recorder.hpp>
#include <specdec/head/exits/confidence_exit.hpp>
#include <specdec/head/exits/early_exit_model.hpp>
#include <specdec/head/exits/sampled_token_exit.hpp>
#include <specdec/head/features/feature_model.hpp>
#include <specdec/head/features/feature_recorder.hpp>
#include <specdec/head/headed_model.hpp>
#include <specdec/head/listing_model.hpp>
#include <specdec/head/trimmed_head.hpp>
#include <specdec/learn/acceptance/acceptance_labels.hpp>
#include <specdec/learn/acceptance/acceptance_recorder.hpp>
#include <specdec/learn/acceptance/learning_acceptance_head.hpp>
#include <specdec/learn/distillation_recorder.hpp>
#include <specdec/learn/feature_lessons.hpp>
#include <specdec/learn/loss/nll_loss.hpp>
#include <specdec/learn/loss/reverse_kl_loss.hpp>
#include <specdec/learn/regression_guard.hpp>
#include <specdec/learn/replay_buffer.hpp>
#include <specdec/sampling/coin/philox_coin.hpp>
#include <specdec/speculation/speculation.hpp>
#include <specdec_engine/batch_model.hpp>
#include <specdec_engine/drafter/exit_model.hpp>
#include <specdec_engine/drafter/feature_body.hpp>
#include <specdec_engine/drafter/lm_head.hpp>
#include <specdec_engine/learn/clip_gradient.hpp>
#include <specdec_engine/learn/features/online_feature_learner.hpp>
#include <specdec_engine/learn/online_learner.hpp>
#include <specdec_engine/learn/pack_adapters.hpp>
#include <specdec_engine/learn/peft_folder.hpp>
#include <specdec_engine/load.hpp>
#include <specdec_engine/load_tokenizer.hpp>
#include <specdec_engine/model.hpp>

using namespace specdec;
using namespace specdec::engine;

int main() {
    const std::string folder = "models/docs-drafter";
    using T = tokenizer_of<target_id>;
    using D = tokenizer_of<draft_id>;
    const T words(load_tokenizer("models/docs-target"));
    const D pieces(load_tokenizer(folder));
    const id_map map = intersect(pieces, words);
    engine::model<target_id> target(load_transformer("models/docs-target"));
    engine::model<target_id> plain(load_transformer("models/docs-target"));
    engine::model<draft_id> model(load_transformer(folder));
    const token_list<draft_id> list = every_token<draft_id>(pieces.vocabulary_size());
    const retokenised_context context(words, pieces, map, 1024);
    const session_settings settings{.capacity = 1024};
    const sampling_parameters sampling{};
    constexpr std::uint64_t seed = 7;
    constexpr std::size_t max_draft = 4, rows = 8, i = 0, at_i = 0, k = 1, width = 16;
    const std::size_t vocabulary = pieces.vocabulary_size();
    const float temperature = 1, p_t = 0.5F;
    const logits_rows<draft_id> draft_rows;
    const logits_rows<target_id> target_rows;
    std::vector<float> memory;
    const std::span<float> dz = memory;
    const std::vector<draft_id> ids(2);
    const std::span<const draft_id> spelling = ids;
    const std::vector<training_sequence> batch;
    const auto packed = std::make_shared<model_weights<bf16_bits>>(plain.engine().config());
    const auto embeddings = [](draft_id) { return std::span<const float>(); };
    const auto random = [] { return 0.5; };
    const std::vector<text_request> texts;
    distillation_recorder lessons(words, pieces, map, {});
    distillation_sample text;
    const draft_outcome outcome{};
    speculation pair({target, words}, {model, pieces});
    session decoder(token_bridge(tli_map(map), context, max_draft), token_rejection{}, settings);
    philox_coin coin(seed);
    acceptance_table kept;
    predicted_end stop(kept, 0.4, 8);
    acceptance_examples examples(64);
    std::vector<float> labels(8);
    regression_guard watch;
    const std::vector<target_id> prompt, proposed, committed;
    const std::vector<draft_id> prefix;
    constexpr std::size_t room = 8, n = 1;
    struct {
        bool write_new_weights() { return false; }
        void restore() {}
    } learner;
    const auto learn_row = [](const feature_sample&, const feature_sample::round&,
                              std::span<const weighted_id<target_id>>) {};
    // THE BLOCK
}
