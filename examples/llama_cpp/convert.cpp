// SPDX-License-Identifier: MIT
// Writes a GGUF model in another file type, by llama.cpp's own means.
//
//     llama_convert models/fetched/SmolLM2-135M-Instruct.Q4_1.gguf BF16 smollm2.BF16.gguf
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <string>
#include <system_error>

#include <CLI/CLI.hpp>
#include <llama.h>
#include <unistd.h>

#include "support/program/console.hpp"
#include "support/program/files.hpp"
#include "support/program/program.hpp"
#include <specdec/core/error.hpp>
#include <specdec/vocab/table/atomic_file.hpp>

namespace {

llama_ftype type_of(const std::string& name) {
    if (name == "F32")
        return LLAMA_FTYPE_ALL_F32;
    if (name == "F16")
        return LLAMA_FTYPE_MOSTLY_F16;
    return name == "BF16" ? LLAMA_FTYPE_MOSTLY_BF16 : LLAMA_FTYPE_MOSTLY_Q8_0;
}

/// The name of a file that is being written: it goes with this, and with a signal that ends the
/// program, which llama.cpp would not be told of. One at a time.
class half_file {
public:
    explicit half_file(const std::string& path) {
        name = path;
        for (const int number : {SIGINT, SIGTERM, SIGHUP})
            if (std::signal(number, removed) == SIG_IGN) // by who started the program
                std::signal(number, SIG_IGN);
    }
    half_file(const half_file&) = delete;
    half_file& operator=(const half_file&) = delete;
    ~half_file() { unlink(name.c_str()); }

private:
    static void removed(int number) {
        unlink(name.c_str());
        std::signal(number, SIG_DFL);
        std::raise(number);
    }
    static inline std::string name;
};

} // namespace

int main(int argc, char** argv) {
    CLI::App app("Writes a GGUF model in another file type. Numbers that were quantised stay as "
                 "coarse as they are.",
                 "llama_convert");
    std::string in, type, out;
    app.add_option("IN", in, "a GGUF file")->required();
    app.add_option("TYPE", type, "F32, F16, BF16 or Q8_0")
        ->required()
        ->check(CLI::IsMember({"F32", "F16", "BF16", "Q8_0"}));
    app.add_option("OUT", out, "the file to write")->required();
    return specdec::examples::run_program(app, argc, argv, [&] {
        if (const std::string why = specdec::examples::why_missing(in); !why.empty())
            throw specdec::error(in, "file", "expected a GGUF file: " + why);
        std::error_code unknown;
        if (std::filesystem::equivalent(in, out, unknown))
            throw specdec::error(out, "file", "expected another file than the one that is read");
        const std::string begun = out + "." + std::to_string(getpid()) + ".tmp";
        const half_file half(begun);      // expect_replaceable's, too
        specdec::expect_replaceable(out); // llama.cpp ends the program where it cannot write
        llama_log_set([](ggml_log_level, const char*, void*) {}, nullptr);
        llama_backend_init();
        llama_model_quantize_params settings = llama_model_quantize_default_params();
        settings.ftype = type_of(type);
        settings.allow_requantize = true;
        settings.pure = true;
        const std::uint32_t code = llama_model_quantize(in.c_str(), begun.c_str(), &settings);
        if (code != 0)
            throw specdec::error("llama_model_quantize", in,
                                 "expected a model that it can convert; it returned " +
                                     std::to_string(code));
        std::filesystem::rename(begun, out);
        std::printf("%s: %ju bytes\n", specdec::examples::visible(out).c_str(),
                    static_cast<std::uintmax_t>(std::filesystem::file_size(out)));
        llama_backend_free();
    });
}
