// Catch2's main, which takes long to compile: once. Each case that runs adds its name to the file
// of its program's name in the folder $SPECDEC_CASES_RAN, if that is set: who counts them knows
// whether all ran.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace {

struct note_what_ran : Catch::TestEventListenerBase {
    using TestEventListenerBase::TestEventListenerBase;

    void testCaseEnded(const Catch::TestCaseStats& statistics) override {
        const char* folder = std::getenv("SPECDEC_CASES_RAN");
        if (folder == nullptr) {
            return;
        }
        const auto program = std::filesystem::path(m_config->name()).filename();
        // One write of a line, appended: two processes may do so at once.
        std::ofstream(folder / program, std::ios::app) << statistics.testInfo.name + '\n';
    }
};

CATCH_REGISTER_LISTENER(note_what_ran)

} // namespace
