// SPDX-License-Identifier: MIT
// What the programs `openvino_generate`, `openvino_compare` and so on are linked with: stateful
// language models in OpenVINO, from IR folders or GGUF files.
#include "support/pair/engine.hpp"

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <openvino/op/multiply.hpp>
#include <openvino/op/subtract.hpp>
#include <openvino/openvino.hpp>

#include "support/flags/flag_values.hpp"
#include "support/pair/cpu_side.hpp"
#include "support/pair/owned_feature_target.hpp"
#include "support/program/console.hpp"
#include "support/program/files.hpp"
#include <specdec/interop/openvino.hpp>
#include <specdec/interop/openvino_gguf.hpp>
#include <specdec_engine/file/json_fields.hpp>
#include <specdec_engine/load_tokenizer.hpp>

namespace specdec::examples {

namespace {

namespace fs = std::filesystem;

constexpr const char* ir_name = "openvino_model.xml";

/// The file that OpenVINO reads, of a path that people give; empty: it reads none there.
fs::path model_file(const fs::path& path) {
    if (path.extension() == ".gguf" || path.extension() == ".xml")
        return path;
    std::error_code none;
    return fs::exists(path / ir_name, none) ? path / ir_name : fs::path();
}

/// Weights of a model: constants, apart from the scales and zero points of other constants.
struct weights_facts {
    std::size_t parameters = 0;
    std::string precision = "f32"; ///< of the most of them

    explicit weights_facts(const ov::Model& model) {
        std::map<std::string, std::size_t> by_type;
        for (const std::shared_ptr<ov::Node>& node : model.get_ordered_ops()) {
            if (dynamic_cast<const ov::op::v0::Constant*>(node.get()) == nullptr || scales(*node))
                continue;
            const std::size_t n = ov::shape_size(node->get_output_shape(0));
            parameters += n;
            by_type[node->get_output_element_type(0).get_type_name()] += n;
        }
        std::size_t most = 0;
        for (const auto& [type, n] : by_type)
            if (n > most) {
                most = n;
                precision = type;
            }
    }

private:
    static bool scales(const ov::Node& node) {
        for (const ov::Input<ov::Node>& user : node.output(0).get_target_inputs()) {
            const ov::Node& by = *user.get_node();
            if (dynamic_cast<const ov::op::v0::Convert*>(&by) != nullptr)
                return scales(by);
            if (user.get_index() == 1 &&
                (dynamic_cast<const ov::op::v1::Subtract*>(&by) != nullptr ||
                 dynamic_cast<const ov::op::v1::Multiply*>(&by) != nullptr))
                return true;
        }
        return false;
    }
};

class openvino_engine final : public program_engine {
public:
    void add_flags(CLI::App& app) override {
        const char* group = "OpenVINO";
        app.add_option("--device", device_, "as OpenVINO names it (default: CPU)")->group(group);
        app.add_option("--property", properties_,
                       "NAME=VALUE, for both sides in OpenVINO: a property of their compilation, "
                       "such as KV_CACHE_PRECISION=f32; again for more")
            ->take_all()
            ->allow_extra_args(false)
            ->group(group);
        app.add_option(
               "--drafter-engine", drafter_engine_,
               "openvino, or cpu: the CPU engine of specdec, which costs a tiny drafter less "
               "(default: openvino for .gguf and .xml files and folders with "
               "openvino_model.xml, cpu for others)")
            ->check(CLI::IsMember({"openvino", "cpu"}))
            ->group(group);
        add_cpu_flags(app, cpu_);
    }

    [[nodiscard]] std::vector<named_pair> pairs() const override {
        return {{"smollm2", "fetched/SmolLM2-135M-Instruct.Q4_1.gguf", "smollm2-drafter",
                 "python3 models/fetch_smollm2.py"},
                {"smollm2-features", "fetched/SmolLM2-135M-Instruct.Q4_1.gguf", "smollm2-features",
                 "python3 models/fetch_smollm2.py"},
                {"gemma3", "fetched/gemma-3-270m.Q4_K_M.gguf", "smollm2-drafter",
                 "python3 models/fetch_gemma3.py", "smollm2-drafter/equivalences.gemma3.json"}};
    }

    [[nodiscard]] side_paths find(const fs::path& model, const std::string& tokenizer,
                                  const std::string& flag) const override {
        if (flag == "drafter" && in_cpu_engine(model))
            return find_cpu_side(model, tokenizer, flag);
        const fs::path file = model_file(model);
        const std::string expected =
            "expected a GGUF file, an .xml file or a folder with " + std::string(ir_name);
        if (const std::string why = why_missing(model); !why.empty())
            throw error("--" + flag, model.string(), expected + ": " + why);
        if (file.empty() || !fs::is_regular_file(file))
            throw error("--" + flag, model.string(), expected);
        if (!tokenizer.empty())
            return {file, find_cpu_side(file, tokenizer, flag).tokenizer};
        if (file.extension() == ".gguf")
            return {file, file};
        const fs::path folder = file.parent_path();
        if (!why_missing(folder / "tokenizer.json").empty())
            throw error("--" + flag, model.string(),
                        "expected a tokenizer.json in the model's folder, or --" + flag +
                            "-tokenizer FILE");
        return {file, folder};
    }
    [[nodiscard]] bool needs_target(const side_paths& drafter) const override {
        return in_cpu_engine(drafter.model) && reads_features(drafter);
    }
    [[nodiscard]] bool learns(const side_paths& drafter) const override {
        return in_cpu_engine(drafter.model);
    }
    [[nodiscard]] loaded_sides load(const side_paths& target,
                                    const std::optional<side_paths>& drafter,
                                    const model_flags& flags) const override {
        const bool ours = drafter && in_cpu_engine(drafter->model);
        expect_use("--adapter", cpu_.adapter, ours, "a drafter in the CPU engine");
        expect_use("--exits", cpu_.exits.asked, ours, "a drafter in the CPU engine");
        expect_use("--drafter-engine", drafter_engine_, drafter.has_value(), "a drafter");
        if (drafter && needs_target(*drafter))
            return load_with_features(target, *drafter, flags);
        loaded_sides sides{.target = load_side<target_id>(target, flags)};
        if (drafter)
            sides.drafter = load_drafter(*drafter, flags);
        return sides;
    }

private:
    static void expect_use(const char* flag, const std::string& value, bool used,
                           const std::string& whose) {
        if (!value.empty() && !used)
            throw error(flag, value, "expected " + whose + " with it, found none");
    }
    [[nodiscard]] bool in_cpu_engine(const fs::path& path) const {
        return drafter_engine_.empty() ? model_file(path).empty() : drafter_engine_ == "cpu";
    }
    [[nodiscard]] side<draft_id> load_drafter(const side_paths& paths,
                                              const model_flags& flags) const {
        if (in_cpu_engine(paths.model)) // one thread: OpenVINO's still spin after a pass
            return load_cpu_side<draft_id>(paths, cpu_, std::make_shared<engine::thread_pool>(1), 0,
                                           flags.sequences, flags.head);
        if (flags.head.partial())
            throw error("--head", flags.head.asked,
                        "expected full: OpenVINO's heads cannot be reached (with --drafter-engine "
                        "cpu they can)");
        return load_side<draft_id>(paths, flags);
    }

    /// The drafter takes the embedding and the head of the target's GGUF file.
    [[nodiscard]] loaded_sides load_with_features(const side_paths& target,
                                                  const side_paths& drafter,
                                                  const model_flags& flags) const {
        if (target.model.extension() != ".gguf")
            throw error("--target", target.model.string(),
                        "expected a GGUF file with a drafter that reads the target's features: "
                        "it shares the target's embedding and head");
        feature_drafter_side made =
            load_feature_drafter(target, drafter, cpu_, std::make_shared<engine::thread_pool>(1),
                                 capacity_of(flags), flags.sequences, flags.head);
        return {load_side<target_id>(target, flags, made.records), std::move(made.drafter)};
    }
    [[nodiscard]] static std::size_t capacity_of(const model_flags& flags) {
        return flags.context > 0 ? flags.context : std::size_t{4096};
    }

    [[nodiscard]] ov::AnyMap properties(std::size_t threads) const {
        ov::AnyMap all{ov::hint::performance_mode(ov::hint::PerformanceMode::LATENCY)};
        if (device_ == "CPU") {
            all.insert(ov::inference_num_threads(static_cast<std::int32_t>(threads)));
            all.insert(ov::hint::enable_cpu_pinning(false)); // a drafter shares the cores
        }
        for (const std::string& given : properties_) {
            const std::size_t at = given.find('=');
            if (at == std::string::npos)
                throw error("--property", given, "expected NAME=VALUE");
            all[given.substr(0, at)] = given.substr(at + 1);
        }
        return all;
    }

    template <class Id>
    [[nodiscard]] side<Id> load_side(const side_paths& paths, const model_flags& flags,
                                     std::shared_ptr<feature_records> records = nullptr) const {
        const std::string name = paths.model.filename() == ir_name
                                     ? paths.model.parent_path().filename().string()
                                     : paths.model.filename().string();
        const engine::tokenizer words = engine::load_tokenizer(paths.tokenizer);
        const std::size_t threads =
            flags.threads > 0 ? flags.threads : std::size_t{std::thread::hardware_concurrency()};
        progress_bar bar("loading " + name);
        try {
            ov::Core core;
            const std::shared_ptr<ov::Model> model = paths.model.extension() == ".gguf"
                                                         ? openvino_read_gguf(paths.model.string())
                                                         : core.read_model(paths.model.string());
            bar.show(0.5);
            const weights_facts weights(*model);
            if (records)
                openvino_show_features(*model);
            openvino_select_rows(*model);
            const ov::CompiledModel compiled =
                core.compile_model(model, device_, properties(threads));
            openvino_batch_model<Id> models(
                compiled, flags.sequences,
                {.capacity = capacity_of(flags),
                 .window = number_in_config(paths.model, "sliding_window",
                                            "use_sliding_window"), // a GGUF's counts positions
                 .vocabulary = words.vocabulary_size()});
            const model_facts facts{.name = name,
                                    .parameters = weights.parameters,
                                    .vocabulary = models.vocabulary_size(),
                                    .longest_context =
                                        number_in_config(paths.model, "max_position_embeddings")};
            const compute_facts computing{
                weights.precision,
                "OpenVINO " + std::string(ov::get_openvino_version().buildNumber) + ", " + device_,
                threads, true};
            any_batch_model<Id> shown = [&]() -> any_batch_model<Id> {
                if constexpr (std::same_as<Id, target_id>)
                    if (records)
                        return owned_feature_target<openvino_batch_model<Id>>(std::move(models),
                                                                              std::move(records));
                return std::move(models);
            }();
            side<Id> made{{.models = std::move(shown),
                           .tokenizer = engine::tokenizer_of<Id>(words),
                           .begins_with_bos = words.add_bos()},
                          facts,
                          computing};
            if (words.bos())
                made.loaded.bos = Id{*words.bos()};
            for (const std::int32_t id : words.eos())
                made.loaded.ends.push_back(Id{id});
            return made;
        } catch (const ov::Exception& problem) {
            throw error(paths.model.string(), "OpenVINO", problem.what());
        } catch (const error& problem) { // names no file
            throw error(paths.model.string() + ": " + problem.what());
        }
    }

    /// A field of the config.json in the folder of an IR; 0: there is none, or it is no number.
    static std::size_t number_in_config(const fs::path& file, const char* field,
                                        const char* unless_false = nullptr) {
        const fs::path config = file.parent_path() / "config.json";
        if (file.extension() == ".gguf" || !why_missing(config).empty())
            return 0;
        const auto fields =
            engine::parse_json(read_input(config.string(), 16), config.string(), "file");
        const auto found = fields.find(field);
        const bool holds = unless_false == nullptr || fields.value(unless_false, true);
        return holds && found != fields.end() && found->is_number_unsigned()
                   ? found->get<std::size_t>()
                   : 0;
    }

    std::string device_ = "CPU";
    std::vector<std::string> properties_;
    std::string drafter_engine_;
    cpu_flags cpu_;
};

} // namespace

std::unique_ptr<program_engine> make_engine() {
    return std::make_unique<openvino_engine>();
}

} // namespace specdec::examples
