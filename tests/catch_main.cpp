// Catch2's main, which takes long to compile: once. Each case that runs adds its name to the file
// of its program's name in the folder $SPECDEC_CASES_RAN, if that is set: who counts them knows
// whether all ran.
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace {

struct note_what_ran : Catch::TestEventListenerBase {
    using Catch::TestEventListenerBase::TestEventListenerBase;

    // By reference in version 2, by pointer in version 3.
    static const Catch::TestCaseInfo& info(const Catch::TestCaseInfo& it) { return it; }
    static const Catch::TestCaseInfo& info(const Catch::TestCaseInfo* it) { return *it; }

    void testCaseEnded(const Catch::TestCaseStats& statistics) override {
        const char* folder = std::getenv("SPECDEC_CASES_RAN");
        if (folder == nullptr) {
            return;
        }
        const auto program = std::filesystem::path(std::string(m_config->name())).filename();
        // One write of a line, appended: two processes may do so at once.
        std::ofstream(folder / program, std::ios::app) << info(statistics.testInfo).name + '\n';
    }
};

CATCH_REGISTER_LISTENER(note_what_ran)

} // namespace

int main(int count, char** words) {
    return Catch::Session().run(count, words);
}
