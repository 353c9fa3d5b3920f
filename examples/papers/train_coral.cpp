// SPDX-License-Identifier: MIT
// Trains what the study of CORAL (Weng et al. 2025) measures, on a core, with the losses of
// papers/: drafters that read the target's features, by EAGLE's one step, HASS's several and
// CORAL's alignment, and routers of LM heads. Prints JSON.
//
//     train_coral record --target models/docs-target --prompts FILE --drawn 400 --out RECORDS
//     train_coral record --target GGUF --text ANSWERS.jsonl --out RECORDS
//     train_coral train --target models/docs-target --records RECORDS --steps 3 --csra 0.1 --out
//     FOLDER train_coral route --target GGUF --drafter FOLDER --records RECORDS --groups 16,32
//     --out PREFIX
//
// RECORDS: papers/text_records.hpp. Every 16th text is held out. ANSWERS: a `prompt` and a `text` a
// line. scripts/papers/coral.py runs it.
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <numeric>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "papers/feature_loss.hpp"
#include "papers/router_loss.hpp"
#include "papers/step_alignment.hpp"
#include "papers/text_records.hpp"
#include "support/flags/flag_values.hpp"
#include "support/program/console.hpp"
#include "support/program/files.hpp"
#include "support/program/program.hpp"
#include "support/text/prompt.hpp"
#include "support/text/prompts_file.hpp"
#include <specdec/core/error.hpp>
#include <specdec/sampling/law/dense_law.hpp>
#include <specdec/sampling/law/softmax_law.hpp>
#include <specdec_engine/drafter/feature_checkpoint.hpp>
#include <specdec_engine/file/parse_json.hpp>
#include <specdec_engine/learn/adamw.hpp>
#include <specdec_engine/learn/clip_gradient.hpp>
#include <specdec_engine/learn/features/feature_folder.hpp>
#include <specdec_engine/learn/features/feature_training_pass.hpp>
#include <specdec_engine/learn/features/target_ends.hpp>
#include <specdec_engine/learn/reverse/router_pass.hpp>
#include <specdec_engine/load.hpp>
#include <specdec_engine/load_tokenizer.hpp>

namespace {

namespace fs = std::filesystem;
using namespace specdec;
using namespace specdec::examples;
using namespace specdec::papers;
using engine::aligned_vector;
using engine::columns_of;
using engine::constant;
using engine::feature_chain;
using engine::index_of;
using engine::some_columns;
using json = nlohmann::ordered_json;

constexpr std::size_t held_out_every = 16;
constexpr std::size_t longest = 512; // tokens of a text

struct common_flags {
    std::string target, out;
    unsigned seed = 1;
};

engine::transformer load_target(const std::string& path, std::size_t sequences = 1) {
    engine::load_options options;
    options.number_format = engine::precision::automatic;
    options.context.threads = 1;
    options.context.capacity = longest + 2;
    options.context.sequences = sequences;
    return engine::load_transformer(path, options);
}

double since(std::chrono::steady_clock::time_point begin) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// ---- record

/// The target's tokenizer, as prompts ask for it.
struct target_words {
    engine::tokenizer_of<target_id> tokenizer;

    [[nodiscard]] std::optional<target_id> begin_token() const {
        const engine::tokenizer& base = tokenizer.base();
        return base.add_bos() && base.bos() ? std::optional(target_id{*base.bos()}) : std::nullopt;
    }
    void encode(std::string_view text, encode_mode mode, std::vector<target_id>& ids) const {
        tokenizer.encode(text, mode, ids);
    }
    [[nodiscard]] const vocabulary& target_table() const { return tokenizer.table(); }
};

std::vector<std::int32_t> plain(const std::vector<target_id>& ids) {
    std::vector<std::int32_t> out;
    for (const target_id id : ids)
        out.push_back(id.value);
    return out;
}

/// Draws from softmax(z / T): the largest of z / T and Gumbel noise.
std::int32_t draw(std::span<const float> z, double temperature, std::mt19937& random) {
    std::uniform_real_distribution<double> unit(1e-12, 1);
    std::int32_t best = 0;
    double most = -std::numeric_limits<double>::infinity();
    for (std::size_t t = 0; t < z.size(); ++t) {
        double value = static_cast<double>(z[t]);
        if (temperature > 0)
            value = value / temperature - std::log(-std::log(unit(random)));
        if (value > most) {
            most = value;
            best = static_cast<std::int32_t>(t);
        }
    }
    return best;
}

struct record_flags : common_flags {
    std::string prompts, text;
    std::size_t drawn = 0, skip = 0, length = 128, limit = 0;
};

/// Texts that the target draws: each begins with a prompt, 16 tokens at T = 1 that make it differ,
/// and goes on at T = 0, 0.7 or 1.
void draw_texts(const record_flags& f, const target_words& words, text_records& records) {
    constexpr std::size_t at_once = 16, varied = 16;
    constexpr std::array temperatures{0.0, 0.7, 1.0};
    std::vector<std::vector<std::int32_t>> prompts;
    read_lines(f.prompts, [&](std::string_view line, std::size_t number) {
        if (number > f.skip && !line.empty())
            prompts.push_back(plain(plain_prompt(words, line)));
        return true;
    });
    if (prompts.empty())
        throw error(f.prompts, "file",
                    "expected prompts after the first " + std::to_string(f.skip) +
                        " lines (--skip)");
    engine::transformer target = load_target(f.target, at_once);
    const std::size_t vocabulary = target.vocabulary_size();
    std::mt19937 random(f.seed);
    progress_bar bar("drawing");
    for (std::size_t first = 0; first < f.drawn; first += at_once) {
        bar.show(static_cast<double>(first) / static_cast<double>(f.drawn));
        const std::size_t n = std::min(at_once, f.drawn - first);
        std::vector<std::vector<std::int32_t>> texts(n);
        std::vector<bool> ended(n);
        for (std::size_t s = 0; s < n; ++s) {
            const auto& prompt = prompts[(first + s) % prompts.size()];
            texts[s].assign(prompt.begin(),
                            prompt.begin() + index_of(std::min(prompt.size(), f.length / 2)));
            target.truncate(0, s);
            if (texts[s].size() > 1)
                target.append(std::span(texts[s]).first(texts[s].size() - 1), s);
        }
        for (bool more = true; more;) {
            std::vector<engine::sequence_part> parts;
            for (std::size_t s = 0; s < n; ++s)
                if (!ended[s])
                    parts.push_back({s, std::span(texts[s]).last(1)});
            target.score(parts);
            more = false;
            for (std::size_t i = 0; i < parts.size(); ++i) {
                const std::size_t s = parts[i].sequence;
                const double t =
                    target.size(s) < varied + prompts[(first + s) % prompts.size()].size()
                        ? 1.0
                        : temperatures[(first + s) % temperatures.size()];
                const std::int32_t next = draw({&target.logits()(i, 0), vocabulary}, t, random);
                const auto& ends = words.tokenizer.base().eos();
                ended[s] = std::find(ends.begin(), ends.end(), next) != ends.end();
                if (!ended[s])
                    texts[s].push_back(next);
                ended[s] = ended[s] || texts[s].size() >= f.length;
                more = more || !ended[s];
            }
        }
        for (std::size_t s = 0; s < n; ++s)
            if (texts[s].size() >= 8)
                records.add(texts[s], 0, {});
    }
}

/// Texts of a file, in the target's chat form.
void read_texts(const record_flags& f, const target_words& words, text_records& records) {
    read_lines(f.text, [&](std::string_view line, std::size_t number) {
        const std::string where = "line " + std::to_string(number);
        const json fields = engine::parse_json<json>(line, f.text, where);
        if (!fields.contains("prompt") || !fields.contains("text"))
            throw error(f.text, where, "expected a `prompt` and a `text`");
        std::vector<target_id> ids = chat_prompt(words, fields["prompt"].get<std::string>());
        const std::size_t answer = ids.size();
        words.encode(fields["text"].get<std::string>(), encode_mode::continuation, ids);
        if (ids.size() > f.length)
            ids.resize(f.length);
        if (ids.size() > answer + 8)
            records.add(plain(ids), answer, {});
        return f.limit == 0 || records.size() < f.limit;
    });
}

void record(const record_flags& f) {
    const auto began = std::chrono::steady_clock::now();
    if (f.text.empty() == (f.drawn == 0))
        throw error("--text", f.text, "expected a file, or --drawn with --prompts");
    const target_words words{engine::tokenizer_of<target_id>(engine::load_tokenizer(f.target))};
    text_records records;
    f.drawn > 0 ? draw_texts(f, words, records) : read_texts(f, words, records);
    engine::transformer target = load_target(f.target);
    records.width = target.config().dimension;
    progress_bar bar("features");
    for (std::size_t i = 0; i < records.size(); ++i) {
        bar.show(static_cast<double>(i) / static_cast<double>(records.size()));
        target.truncate(0);
        const engine::sequence_part part{0, records.text(i)};
        target.hidden({&part, 1});
        for (std::size_t k = 0; k < part.ids.size(); ++k)
            records.features.insert(records.features.end(), &target.states()(k, 0),
                                    &target.states()(k, 0) + records.width);
    }
    write_records(f.out, records);
    std::printf(
        "%s\n",
        json{{"texts", records.size()}, {"tokens", records.ids.size()}, {"seconds", since(began)}}
            .dump()
            .c_str());
}

// ---- drafts over texts

/// Some texts with a chain from each place on, whose states predict answers.
class chains_of_texts {
public:
    explicit chains_of_texts(const text_records& records) : records_(records) {}

    /// Chains of as many cells, where the text is long enough.
    void choose(std::span<const std::size_t> texts, std::size_t steps) {
        chains_.assign(texts.size(), {});
        sequences_.clear();
        wanted_.clear();
        for (std::size_t s = 0; s < texts.size(); ++s) {
            const auto ids = records_.text(texts[s]);
            const auto answer = static_cast<std::size_t>(records_.answers[texts[s]]);
            const std::size_t last = ids.size() - 2; // place whose state is at the last feature
            for (std::size_t i = answer > 2 ? answer - 2 : 0; i <= last; ++i)
                chains_[s].push_back({i, ids.subspan(i + 2, std::min(steps - 1, last - i))});
            const hidden_states features = records_.features_of(texts[s]);
            sequences_.push_back({ids, features, chains_[s]});
            for (std::size_t i = 0; i <= last; ++i)
                wanted_.push_back(features[i + 1].values);
        }
    }
    [[nodiscard]] std::span<const engine::feature_sequence> sequences() const { return sequences_; }
    /// The target's feature at a column of the batch's places, which the state there is to be.
    [[nodiscard]] std::span<const float> wanted(std::size_t place) const { return wanted_[place]; }
    [[nodiscard]] std::size_t places() const { return wanted_.size(); }

private:
    const text_records& records_;
    std::vector<std::vector<feature_chain>> chains_; // [texts]
    std::vector<engine::feature_sequence> sequences_;
    std::vector<std::span<const float>> wanted_; // [places]
};

/// softmax(head times each of n columns), into rows [n, tokens].
class target_laws {
public:
    target_laws(const engine::target_ends& ends, const engine::products& team)
        : ends_(ends), team_(team), states_(ends.dimension, at_once),
          logits_(ends.rows(), at_once) {}

    static constexpr std::size_t at_once = 128;

    /// use(i, logits [tokens]) for state(i), i < n
    template <class State, class Use>
    void each_row(std::size_t n, const State& state, const Use& use) {
        const auto head = columns_of(ends_.head.data(), ends_.dimension, ends_.rows());
        for (std::size_t first = 0; first < n; first += at_once) {
            const std::size_t some = std::min(at_once, n - first);
            for (std::size_t i = 0; i < some; ++i)
                std::copy_n(state(first + i).data(), ends_.dimension,
                            states_.first(some).col(index_of(i)).data());
            team_.forward(head, constant(states_.first(some)), logits_.first(some));
            for (std::size_t i = 0; i < some; ++i)
                use(first + i, std::span<const float>(logits_.first(some).col(index_of(i)).data(),
                                                      ends_.rows()));
        }
    }
    static void softmax(std::span<const float> z, std::span<float> p) {
        const float most = *std::max_element(z.begin(), z.end());
        float sum = 0;
        for (std::size_t t = 0; t < z.size(); ++t)
            sum += p[t] = std::exp(z[t] - most);
        for (float& x : p)
            x /= sum;
    }

private:
    const engine::target_ends& ends_;
    const engine::products& team_;
    engine::activation_memory<float> states_, logits_;
};

std::size_t largest(std::span<const float> z) {
    return static_cast<std::size_t>(std::max_element(z.begin(), z.end()) - z.begin());
}

std::vector<std::size_t> texts_of(const text_records& records, bool held) {
    std::vector<std::size_t> out;
    for (std::size_t i = 0; i < records.size(); ++i)
        if ((i % held_out_every == held_out_every - 1) == held)
            out.push_back(i);
    return out;
}

engine::product_settings fast_products() {
    return {engine::fastest_numbers(engine::usable(engine::isa::amx)), engine::isa::amx};
}

engine::feature_limits limits_of(std::size_t sequences, std::size_t steps) {
    return {.sequences = sequences,
            .length = longest,
            .cells = sequences * longest * steps,
            .depth = steps};
}

// ---- train

struct train_flags : common_flags {
    std::string records;
    std::size_t steps = 3, updates = 100, sequences = 4, positions = 96;
    double regression = 1, classification = 0.1, csra = 0, rate = 2e-3;
};

constexpr std::size_t measured_steps = 4;

/// A drafter that is trained, and all that its losses need.
class feature_trainer {
public:
    feature_trainer(const train_flags& f, const text_records& records,
                    const engine::transformer& target)
        : f_(f), records_(records), ends_(engine::ends_of(target)),
          team_(std::make_shared<engine::thread_pool>(1)), products_(team_, fast_products()),
          parameters_(engine::feature_layout(body_of(target.config()), false)),
          pass_(parameters_.layout(), limits_of(f.sequences, std::max(f.steps, measured_steps)),
                ends_.embedding, team_, fast_products()),
          optimiser_(parameters_.values().size(), {.beta2 = 0.95}), laws_(ends_, products_),
          csra_(records.width, f.positions, f.seed), random_(f.seed) {
        if (records.width != ends_.dimension)
            throw error(f.records, "features", "expected those of this target");
        std::normal_distribution<float> normal(0, 0.02F);
        for (const engine::parameter& p : parameters_.layout().tensors().tensors())
            for (float& x : parameters_.values().subspan(p.offset, p.size))
                x = p.is_matrix() ? normal(random_) : 1;
        gradient_.resize(parameters_.values().size());
    }

    [[nodiscard]] const engine::feature_parameters<float>& parameters() const {
        return parameters_;
    }
    [[nodiscard]] std::size_t cells() const { return cells_; }

    struct losses {
        double regression = 0, classification = 0, alignment = 0;
    };

    losses update(std::size_t number) {
        losses found = forward(next_texts(), f_.steps);
        std::fill(gradient_.begin(), gradient_.end(), 0.0F);
        const std::size_t n = pass_.batch().cells().size();
        cells_ += n;
        pass_.reverse(columns_of(std::as_const(dstates_).data(), records_.width, n), gradient_);
        engine::clip_gradient<float>(gradient_, 0.5);
        const double done = static_cast<double>(number) / static_cast<double>(f_.updates);
        const double warm = std::min(1.0, static_cast<double>(number + 1) / 10);
        optimiser_.step(parameters_.layout().tensors(), parameters_.values(), gradient_,
                        f_.rate * warm * (1 - 0.95 * done));
        return found;
    }

    /// On texts that were held out, for each of four steps: the cross-entropy with the target, how
    /// often their first choices are one, and InfoNCE between the features of two steps (Table 6).
    [[nodiscard]] json measure() {
        std::array<double, measured_steps> entropy{}, same{}, count{};
        std::array<std::array<double, measured_steps>, measured_steps> between{};
        std::size_t batches = 0;
        const std::vector<std::size_t> held = texts_of(records_, true);
        for (std::size_t first = 0; first < held.size(); first += f_.sequences) {
            run(std::span(held).subspan(first, std::min(f_.sequences, held.size() - first)),
                measured_steps);
            const auto cells = pass_.batch().cells();
            laws_.each_row(
                cells.size(), [&](std::size_t c) { return state(c); },
                [&](std::size_t c, std::span<const float> z) {
                    const auto p = law(place_of(cells[c]));
                    gradient_of_row_.resize(z.size());
                    entropy[cells[c].depth] += classification_loss(p, z, gradient_of_row_);
                    same[cells[c].depth] += largest(p) == largest(z) ? 1 : 0;
                    ++count[cells[c].depth];
                });
            for (std::size_t later = 1; later < measured_steps; ++later)
                for (std::size_t step = 0; step < later; ++step)
                    between[later][step] += distance(later, step);
            ++batches;
        }
        json matrix = json::array();
        for (std::size_t k = 0; k < measured_steps; ++k) {
            entropy[k] /= count[k];
            same[k] /= count[k];
            json row = json::array();
            for (std::size_t step = 0; step < k; ++step)
                row.push_back(between[k][step] / static_cast<double>(batches));
            matrix.push_back(row);
        }
        return {{"cross_entropy", entropy}, {"first_choice", same}, {"infonce", matrix}};
    }

private:
    static engine::model_config body_of(engine::model_config c) {
        c.layers = 1;
        c.kinds.clear();
        c.exits.clear();
        return c;
    }

    std::vector<std::size_t> next_texts() {
        if (order_.size() < f_.sequences) {
            order_ = texts_of(records_, false);
            std::shuffle(order_.begin(), order_.end(), random_);
        }
        if (order_.size() < f_.sequences)
            throw error(f_.records, "texts", "expected at least --sequences that are not held out");
        const std::vector<std::size_t> some(order_.end() - index_of(f_.sequences), order_.end());
        order_.resize(order_.size() - f_.sequences);
        return some;
    }

    /// States of all cells, and the target's distributions at all places.
    void run(std::span<const std::size_t> texts, std::size_t steps) {
        chains_.choose(texts, steps);
        const auto states = pass_.forward(parameters_, chains_.sequences());
        states_ = {states.data(), static_cast<std::size_t>(states.size())};
        rows_.resize(chains_.places() * ends_.rows());
        laws_.each_row(
            chains_.places(), [&](std::size_t i) { return chains_.wanted(i); },
            [&](std::size_t i, std::span<const float> z) {
                target_laws::softmax(z, std::span(rows_).subspan(i * z.size(), z.size()));
            });
    }
    [[nodiscard]] std::span<const float> state(std::size_t cell) const {
        return states_.subspan(cell * records_.width, records_.width);
    }
    [[nodiscard]] std::span<const float> law(std::size_t place) const {
        return std::span(rows_).subspan(place * ends_.rows(), ends_.rows());
    }
    static std::size_t place_of(const engine::feature_batch::cell& c) {
        return c.first + c.position;
    }

    losses forward(std::span<const std::size_t> texts, std::size_t steps) {
        run(texts, steps);
        const auto cells = pass_.batch().cells();
        const std::size_t width = records_.width;
        losses found;
        dstates_.assign(cells.size() * width, 0.0F);
        gradient_of_row_.resize(width);
        aligned_vector<float> row(width);
        // Each step's loss is a mean over its cells; that of all steps is their mean.
        const auto share = [&](std::size_t c) {
            return 1 / static_cast<double>(steps * pass_.batch().at(cells[c].depth).size());
        };
        for (std::size_t c = 0; c < cells.size(); ++c) {
            found.regression += regression_loss(state(c), chains_.wanted(place_of(cells[c])), row,
                                                f_.regression * share(c));
            std::copy(row.begin(), row.end(), dstates_.begin() + index_of(c * width));
        }
        classify(share, found);
        if (f_.csra > 0) {
            made_.clear();
            for (const auto& c : cells)
                made_.push_back({place_of(c), c.depth});
            found.alignment = csra_(
                made_, states_, [&](std::size_t p) { return chains_.wanted(p); }, dstates_,
                f_.csra);
        }
        return found;
    }
    template <class Share>
    void classify(const Share& share, losses& found) {
        constexpr std::size_t at_once = 256;
        const auto cells = pass_.batch().cells();
        const std::size_t width = records_.width, tokens = ends_.rows();
        const auto head = columns_of(std::as_const(ends_.head).data(), width, tokens);
        logits_.resize(at_once * tokens);
        dlogits_.resize(at_once * tokens);
        for (std::size_t first = 0; first < cells.size(); first += at_once) {
            const std::size_t n = std::min(at_once, cells.size() - first);
            products_.forward(head, columns_of(states_.data() + first * width, width, n),
                              columns_of(logits_.data(), tokens, n));
            for (std::size_t i = 0; i < n; ++i)
                found.classification +=
                    classification_loss(law(place_of(cells[first + i])),
                                        std::span<const float>(logits_).subspan(i * tokens, tokens),
                                        std::span(dlogits_).subspan(i * tokens, tokens),
                                        f_.classification * share(first + i));
            products_.backward(head, columns_of(std::as_const(dlogits_).data(), tokens, n),
                               columns_of(dstates_.data() + first * width, width, n), true);
        }
    }

    /// InfoNCE of a step's features with those of an earlier step, at places that both have.
    [[nodiscard]] double distance(std::size_t later, std::size_t step) {
        constexpr std::size_t most = 128;
        const auto cells = pass_.batch().cells();
        std::vector<std::size_t> at(chains_.places(), ~std::size_t{0});
        for (std::size_t c = 0; c < cells.size(); ++c)
            if (cells[c].depth == step)
                at[place_of(cells[c])] = c;
        std::vector<float> queries, keys;
        const auto add = [](std::vector<float>& to, std::span<const float> x) {
            to.insert(to.end(), x.begin(), x.end());
        };
        for (std::size_t c = 0; c < cells.size() && queries.size() < most * records_.width; ++c)
            if (cells[c].depth == later && at[place_of(cells[c])] != ~std::size_t{0}) {
                add(queries, state(c));
                add(keys, state(at[place_of(cells[c])]));
            }
        const std::size_t n = queries.size() / records_.width;
        std::vector<float> unused(queries.size());
        add(queries, keys);
        return alignment_loss(queries, n, records_.width, unused);
    }

    const train_flags& f_;
    const text_records& records_;
    engine::target_ends ends_;
    std::shared_ptr<engine::thread_pool> team_;
    engine::products products_;
    engine::feature_parameters<float> parameters_;
    engine::feature_training_pass<float> pass_;
    engine::adamw<float> optimiser_;
    target_laws laws_;
    step_alignment csra_;
    std::mt19937 random_;
    chains_of_texts chains_{records_};
    std::span<const float> states_; // [cells, width]
    std::vector<float> rows_;       // [places, tokens]
    aligned_vector<float> dstates_, gradient_, logits_, dlogits_;
    std::vector<float> gradient_of_row_;
    std::vector<made_feature> made_;
    std::vector<std::size_t> order_;
    std::size_t cells_ = 0;
};

void train(const train_flags& f) {
    const text_records records = read_records(f.records);
    const engine::transformer target = load_target(f.target);
    feature_trainer trainer(f, records, target);
    const auto began = std::chrono::steady_clock::now();
    json curve = json::array();
    {
        progress_bar bar("training");
        feature_trainer::losses sum;
        const std::size_t part = std::max<std::size_t>(f.updates / 10, 1);
        for (std::size_t u = 0; u < f.updates; ++u) {
            bar.show(static_cast<double>(u) / static_cast<double>(f.updates));
            const auto found = trainer.update(u);
            sum.regression += found.regression;
            sum.classification += found.classification;
            sum.alignment += found.alignment;
            if ((u + 1) % part == 0) {
                const auto mean = [&](double x) { return x / static_cast<double>(part); };
                curve.push_back({{"update", u + 1},
                                 {"regression", mean(sum.regression)},
                                 {"classification", mean(sum.classification)},
                                 {"alignment", mean(sum.alignment)}});
                sum = {};
            }
        }
    }
    const double seconds = since(began);
    engine::save_feature_folder(f.out, trainer.parameters());
    json out{{"steps", f.steps},
             {"csra", f.csra},
             {"parameters", trainer.parameters().values().size()},
             {"updates", f.updates},
             {"cells", trainer.cells()},
             {"seconds", seconds},
             {"weighted_losses", curve}};
    out.update(trainer.measure());
    std::printf("%s\n", out.dump().c_str());
}

// ---- route

struct route_flags : common_flags {
    std::string drafter, records, order = "frequency";
    std::vector<std::size_t> groups;
    std::size_t steps = 3, epochs = 3, fine = 64;
    double rate = 1e-3;
};

/// What routers learn from and are measured with: computed once for all numbers of groups.
struct routed_examples {
    std::vector<float> states; // [n, width] the drafter's
    std::vector<float> mass;   // [n, fine] the target's, in each fine group
    // Held out alone: the target's first choice, and of the drafter's logits in each fine group the
    // log of the sum of exponentials, the largest, and whose it is.
    std::vector<std::size_t> wanted;
    std::vector<float> log_sum, top;
    std::vector<std::size_t> top_token;

    [[nodiscard]] std::size_t size(std::size_t fine) const { return mass.size() / fine; }
};

class router_trainer {
public:
    router_trainer(const route_flags& f, const text_records& records,
                   const engine::transformer& target)
        : f_(f), records_(records), ends_(engine::ends_of(target)),
          team_(std::make_shared<engine::thread_pool>(1)), products_(team_, fast_products()),
          laws_(ends_, products_),
          parameters_(engine::read_feature_parameters(engine::open_feature_folder(f.drafter))),
          pass_(parameters_.layout(), limits_of(1, f.steps), ends_.embedding, team_,
                fast_products()) {
        if (records.width != ends_.dimension || parameters_.config().dimension != records.width)
            throw error(f.records, "features", "expected those of this target and drafter");
        for (const std::size_t n : f.groups)
            if (n == 0 || f.fine % n != 0)
                throw error("--groups", std::to_string(n),
                            "expected divisors of " + std::to_string(f.fine));
        order_tokens();
        read(texts_of(records, false), false, train_);
        read(texts_of(records, true), true, held_);
    }

    /// A router of n groups, written beside a copy of the drafter; what it holds of held-out text.
    [[nodiscard]] json route(std::size_t n) {
        const auto began = std::chrono::steady_clock::now();
        constexpr std::size_t at_once = 256;
        const std::size_t width = records_.width;
        engine::router_pass<float> pass(width, n, at_once, team_, fast_products());
        aligned_vector<float> values(pass.layout().size()), gradient(values.size());
        std::mt19937 random(f_.seed);
        std::normal_distribution<float> normal(0, 0.02F);
        const engine::parameter& w2 = pass.layout().at("router.groups.weight");
        for (float& x : std::span(values).subspan(w2.offset, w2.size))
            x = normal(random); // W1 begins at 0
        engine::adamw<float> optimiser(values.size(), {.beta2 = 0.95});
        const auto groups = token_groups<draft_id>::equal_parts(f_.fine, n);
        std::vector<std::size_t> order(train_.size(f_.fine));
        std::iota(order.begin(), order.end(), std::size_t{0});
        const std::size_t updates = f_.epochs * (order.size() / at_once);
        aligned_vector<float> states(width * at_once), droutes(n * at_once);
        double loss = 0;
        std::size_t update = 0;
        for (std::size_t epoch = 0; epoch < f_.epochs; ++epoch) {
            std::shuffle(order.begin(), order.end(), random);
            loss = 0;
            for (std::size_t first = 0; first + at_once <= order.size(); first += at_once) {
                for (std::size_t i = 0; i < at_once; ++i)
                    std::copy_n(&train_.states[order[first + i] * width], width,
                                &states[i * width]);
                const auto x = columns_of(std::as_const(states).data(), width, at_once);
                const auto routes = pass.forward(values, x);
                for (std::size_t i = 0; i < at_once; ++i)
                    loss += router_loss(mass_of(train_, order[first + i]), groups,
                                        {routes.col(index_of(i)).data(), n},
                                        std::span(droutes).subspan(i * n, n),
                                        1 / static_cast<double>(at_once));
                std::fill(gradient.begin(), gradient.end(), 0.0F);
                pass.reverse(values, x, columns_of(std::as_const(droutes).data(), n, at_once),
                             gradient);
                const double done = static_cast<double>(update++) / static_cast<double>(updates);
                optimiser.step(pass.layout(), values, gradient, f_.rate * (1 - 0.95 * done));
            }
        }
        save(pass.layout(), values, n);
        json out{
            {"groups", n},
            {"examples", order.size()},
            {"epochs", f_.epochs},
            {"loss", loss / static_cast<double>(std::max<std::size_t>(order.size() / at_once, 1))},
            {"seconds", since(began)}};
        out.update(measure(pass, values, n));
        return out;
    }

private:
    void order_tokens() {
        const std::size_t vocabulary = ends_.rows();
        std::vector<std::size_t> order(vocabulary), count(vocabulary);
        std::iota(order.begin(), order.end(), std::size_t{0});
        if (f_.order == "frequency")
            for (const std::size_t i : texts_of(records_, false)) {
                const auto ids = records_.text(i);
                for (const std::int32_t id :
                     ids.subspan(static_cast<std::size_t>(records_.answers[i])))
                    ++count[static_cast<std::size_t>(id)];
            }
        std::stable_sort(order.begin(), order.end(),
                         [&](std::size_t a, std::size_t b) { return count[a] > count[b]; });
        rank_.resize(vocabulary);
        for (std::size_t k = 0; k < vocabulary; ++k)
            rank_[order[k]] = k;
    }
    [[nodiscard]] std::size_t group_of(std::size_t token, std::size_t groups) const {
        return rank_[token] * groups / rank_.size(); // as token_groups::equal_parts
    }

    void read(const std::vector<std::size_t>& texts, bool held, routed_examples& out) {
        progress_bar bar(held ? "held out" : "examples");
        const std::size_t fine = f_.fine;
        std::vector<float> p(ends_.rows());
        std::vector<std::size_t> fine_group(ends_.rows());
        for (std::size_t t = 0; t < p.size(); ++t)
            fine_group[t] = group_of(t, fine);
        chains_of_texts chains(records_);
        for (std::size_t k = 0; k < texts.size(); ++k) {
            bar.show(static_cast<double>(k) / static_cast<double>(texts.size()));
            chains.choose({&texts[k], 1}, f_.steps);
            const auto states = pass_.forward(parameters_, chains.sequences());
            const auto cells = pass_.batch().cells();
            std::vector<float> mass(chains.places() * fine);
            std::vector<std::size_t> first(chains.places());
            laws_.each_row(
                chains.places(), [&](std::size_t i) { return chains.wanted(i); },
                [&](std::size_t i, std::span<const float> z) {
                    target_laws::softmax(z, p);
                    first[i] = largest(z);
                    for (std::size_t t = 0; t < p.size(); ++t)
                        mass[i * fine + fine_group[t]] += p[t];
                });
            const auto state = [&](std::size_t c) {
                return std::span<const float>(states.col(index_of(c)).data(), records_.width);
            };
            for (std::size_t c = 0; c < cells.size(); ++c) {
                out.states.insert(out.states.end(), state(c).begin(), state(c).end());
                const auto begin = mass.begin() + index_of(cells[c].position * fine);
                out.mass.insert(out.mass.end(), begin, begin + index_of(fine));
                if (held)
                    out.wanted.push_back(first[cells[c].position]);
            }
            if (held)
                laws_.each_row(cells.size(), state, [&](std::size_t, std::span<const float> z) {
                    add_fine(z, fine_group, out);
                });
        }
    }
    void add_fine(std::span<const float> z, const std::vector<std::size_t>& fine_group,
                  routed_examples& out) const {
        const std::size_t at = out.top.size();
        out.top.resize(at + f_.fine, -std::numeric_limits<float>::infinity());
        out.top_token.resize(at + f_.fine);
        out.log_sum.resize(at + f_.fine);
        std::vector<double> sums(f_.fine);
        for (std::size_t t = 0; t < z.size(); ++t)
            if (float& top = out.top[at + fine_group[t]]; z[t] > top) {
                top = z[t];
                out.top_token[at + fine_group[t]] = t;
            }
        for (std::size_t t = 0; t < z.size(); ++t)
            sums[fine_group[t]] +=
                std::exp(static_cast<double>(z[t] - out.top[at + fine_group[t]]));
        for (std::size_t g = 0; g < f_.fine; ++g)
            out.log_sum[at + g] = out.top[at + g] + static_cast<float>(std::log(sums[g]));
    }

    [[nodiscard]] dense_law<target_id> mass_of(const routed_examples& of, std::size_t i) const {
        return dense_law<target_id>(probabilities_row<target_id>{
            std::span<const float>(of.mass).subspan(i * f_.fine, f_.fine)});
    }

    /// [k - 1]: with the k likeliest groups, the target's mass in them, and how often the routed
    /// head's first choice is the target's; that of the whole head.
    [[nodiscard]] json measure(engine::router_pass<float>& pass,
                               const aligned_vector<float>& values, std::size_t n) {
        const std::size_t count = held_.size(f_.fine), width = records_.width, per = f_.fine / n;
        std::vector<double> mass(n), same(n);
        double whole = 0;
        constexpr std::size_t at_once = 256;
        std::vector<std::size_t> order(n);
        for (std::size_t first = 0; first < count; first += at_once) {
            const std::size_t some = std::min(at_once, count - first);
            const auto routes =
                pass.forward(values, columns_of(std::as_const(held_.states).data() + first * width,
                                                width, some));
            for (std::size_t i = 0; i < some; ++i) {
                const auto route = routes.col(index_of(i));
                std::iota(order.begin(), order.end(), std::size_t{0});
                std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
                    return route(index_of(a)) > route(index_of(b));
                });
                const std::size_t at = (first + i) * f_.fine, wanted = held_.wanted[first + i];
                const auto tops = held_.top.begin();
                const auto best_of_all =
                    std::max_element(tops + index_of(at), tops + index_of(at + f_.fine)) - tops;
                whole += held_.top_token[static_cast<std::size_t>(best_of_all)] == wanted ? 1 : 0;
                double inside = 0, best = -std::numeric_limits<double>::infinity();
                bool hit = false;
                for (std::size_t k = 0; k < n; ++k) {
                    const std::size_t begin = at + order[k] * per;
                    double sum = 0;
                    std::size_t top = begin;
                    for (std::size_t g = begin; g < begin + per; ++g) {
                        inside += static_cast<double>(held_.mass[g]);
                        sum += std::exp(static_cast<double>(held_.log_sum[g]));
                        top = held_.top[g] > held_.top[top] ? g : top;
                    }
                    const double log_p = static_cast<double>(route(index_of(order[k]))) +
                                         static_cast<double>(held_.top[top]) - std::log(sum);
                    if (log_p > best) {
                        best = log_p;
                        hit = held_.top_token[top] == wanted;
                    }
                    mass[k] += inside;
                    same[k] += hit ? 1 : 0;
                }
            }
        }
        for (std::size_t k = 0; k < n; ++k) {
            mass[k] /= static_cast<double>(count);
            same[k] /= static_cast<double>(count);
        }
        return {{"held_out", count},
                {"mass", mass},
                {"first_choice", same},
                {"first_choice_whole_head", whole / static_cast<double>(count)}};
    }

    void save(const engine::parameter_layout& layout, const aligned_vector<float>& values,
              std::size_t n) const {
        const fs::path folder = f_.out + "-" + std::to_string(n);
        fs::create_directories(folder);
        for (const char* file : {"config.json", "model.safetensors"})
            fs::copy_file(fs::path(f_.drafter) / file, folder / file,
                          fs::copy_options::overwrite_existing);
        std::vector<engine::bf16_bits> rounded;
        for (const float x : values)
            rounded.push_back(engine::round_to_bf16(x));
        std::vector<std::int32_t> groups;
        for (std::size_t t = 0; t < rank_.size(); ++t)
            groups.push_back(static_cast<std::int32_t>(group_of(t, n)));
        std::vector<engine::tensor> tensors;
        for (const engine::parameter& p : layout.tensors())
            tensors.push_back({f_.out, p.name, engine::dtype::bf16, "BF16", p.shape,
                               std::as_bytes(std::span(rounded).subspan(p.offset, p.size))});
        if (f_.order == "frequency")
            tensors.push_back({f_.out,
                               "router.group_of",
                               engine::dtype::other,
                               "I32",
                               {groups.size()},
                               std::as_bytes(std::span(groups))});
        engine::write_safetensors((folder / "router.safetensors").string(), tensors);
    }

    const route_flags& f_;
    const text_records& records_;
    engine::target_ends ends_;
    std::shared_ptr<engine::thread_pool> team_;
    engine::products products_;
    target_laws laws_;
    engine::feature_parameters<float> parameters_;
    engine::feature_training_pass<float> pass_;
    std::vector<std::size_t> rank_; // [vocabulary]
    routed_examples train_, held_;
};

void route(const route_flags& f) {
    const text_records records = read_records(f.records);
    const engine::transformer target = load_target(f.target);
    router_trainer trainer(f, records, target);
    for (const std::size_t n : f.groups) {
        std::printf("%s\n", trainer.route(n).dump().c_str());
        flush_output();
    }
}

} // namespace

int main(int argc, char** argv) {
    CLI::App app("Trains drafters and routers as CORAL's authors do.", "train_coral");
    app.require_subcommand(1);
    const auto command = [&](const char* name, const char* help, common_flags& f) {
        CLI::App* const c = app.add_subcommand(name, help);
        c->add_option("--target", f.target, "a Hugging Face folder or a GGUF file")->required();
        c->add_option("--out", f.out, "what is written")->required();
        add_number(*c, "--seed", f.seed, {0, 1U << 30}, "default: 1");
        return c;
    };
    record_flags r;
    CLI::App* const recording = command("record", "texts with the target's features", r);
    recording->add_option("--prompts", r.prompts, "of --drawn: a file, one a line");
    recording->add_option("--text", r.text, "*.jsonl with a prompt and a text a line");
    add_number(*recording, "--drawn", r.drawn, {1, 100'000}, "texts that the target draws");
    add_number(*recording, "--skip", r.skip, {0, 100'000}, "first lines of --prompts left out");
    add_number(*recording, "--length", r.length, {16, longest}, "tokens of a text (default: 128)");
    add_number(*recording, "--limit", r.limit, {1, 1'000'000}, "texts of --text (default: all)");

    train_flags t;
    CLI::App* const training = command("train", "a drafter that reads features", t);
    training->add_option("--records", t.records, "of `record`")->required();
    add_number(*training, "--steps", t.steps, {1, 8}, "1: EAGLE, more: HASS (default: 3)");
    add_number(*training, "--regression", t.regression, {0.0, 1e3}, "w_reg (default: 1)");
    add_number(*training, "--classification", t.classification, {0.0, 1e3}, "w_cls (default: 0.1)");
    add_number(*training, "--csra", t.csra, {0.0, 1e3}, "w_CSRA (default: 0)");
    add_number(*training, "--positions", t.positions, {2, 4096}, "aligned a step (default: 96)");
    add_number(*training, "--updates", t.updates, {1, 100'000}, "default: 100");
    add_number(*training, "--sequences", t.sequences, {1, 64}, "texts an update (default: 4)");
    add_number(*training, "--rate", t.rate, {.low = 0, .high = 1, .above_low = true},
               "AdamW's, at most (default: 2e-3)");

    route_flags g;
    CLI::App* const routing = command("route", "routers of a drafter's head", g);
    routing->add_option("--drafter", g.drafter, "an EAGLE-style drafter's folder")->required();
    routing->add_option("--records", g.records, "of `record`")->required();
    add_number(*routing, "--groups", g.groups, {1, 1024}, "N, or several: one router each");
    add_number(*routing, "--fine", g.fine, {1, 1024}, "a multiple of each N (default: 64)");
    routing->add_option("--order", g.order, "of tokens in groups (default: frequency)")
        ->check(CLI::IsMember({"ids", "frequency"}));
    add_number(*routing, "--steps", g.steps, {1, 8}, "of a draft (default: 3)");
    add_number(*routing, "--epochs", g.epochs, {1, 1000}, "default: 3");
    add_number(*routing, "--rate", g.rate, {.low = 0, .high = 1, .above_low = true},
               "AdamW's, at first (default: 1e-3)");
    return run_program(app, argc, argv, [&] {
        if (*recording)
            record(r);
        else if (*training)
            train(t);
        else
            route(g);
    });
}
