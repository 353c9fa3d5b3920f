// SPDX-License-Identifier: MIT
// The target's layers on two servers, as two processes on this machine: text as alone; and a server
// that dies is an error like any other.
#include <specdec/interop/llama_cpp_servers.hpp>

#include <catch2/catch.hpp>

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "rpc_server.hpp"
#include "tiny_model.hpp"
#include <specdec/interop/llama_cpp.hpp>
#include <specdec/specdec.hpp>

using namespace specdec;
using namespace specdec::tiny;

namespace servers_tests {

using target_model = llama_cpp_model<target_id>;
using draft_model = llama_cpp_model<draft_id>;
using ids = std::vector<target_id>;

bool can_be_run() {
    const bool there = std::filesystem::is_regular_file(SPECDEC_RPC_SERVER) &&
                       ggml_backend_reg_by_name("RPC") != nullptr;
    if (!there)
        WARN("skipped: this llama.cpp has no RPC backend, or its rpc-server was not found");
    return there;
}

std::vector<std::string> addresses(const rpc_server& a, const rpc_server& b) {
    return {a.address(), b.address()};
}

/// A model whose two layers and head lie on the devices of `servers`.
struct remote_target {
    remote_target(const model_file& file, llama_cpp_servers& on) : servers(on) {
        llama_log_set([](ggml_log_level, const char*, void*) {}, nullptr);
        llama_model_params p = llama_model_default_params();
        p.devices = servers.device_list();
        const std::filesystem::path path = file.path();
        model = servers.call([=] { return llama_model_load_from_file(path.c_str(), p); });
        REQUIRE(model != nullptr);
        context = servers.call(
            [m = model] { return llama_init_from_model(m, loaded_model::parameters()); });
        REQUIRE(context != nullptr);
    }
    ~remote_target() {
        servers.release([c = context, m = model] {
            llama_free(c);
            llama_model_free(m);
        });
    }
    remote_target(const remote_target&) = delete;
    remote_target& operator=(const remote_target&) = delete;

    [[nodiscard]] target_model adapter(llama_cpp_scoring scoring = llama_cpp_scoring::alone) {
        return target_model(context, 0, scoring, &servers);
    }

    llama_cpp_servers& servers;
    llama_model* model = nullptr;
    llama_context* context = nullptr;
};

/// Goes on with `text` to 40 tokens, drafts by the same model in another context, as long as no
/// call fails.
void go_on(target_model target, const loaded_model& here, ids& text, float temperature = 0) {
    const std::size_t size = target.vocabulary_size();
    const llama_context_ptr context = here.context();
    draft_model draft(context.get());
    model_drafter drafter(draft);
    session s(make_identity_bridge(size, size, 256, 4), token_rejection{},
              {.target = {.temperature = temperature},
               .draft = {.temperature = temperature},
               .capacity = 256});
    s.start(text);
    philox_coin coin(7);
    while (text.size() < 40) {
        s.commit(s.round(target, drafter, fixed_length{3}, coin, 40 - text.size()).tokens.size());
        text.assign(s.tokens().begin(), s.tokens().end());
    }
}

ids prompt() {
    return {target_id{5}, target_id{9}, target_id{12}};
}

} // namespace servers_tests

using namespace servers_tests;

TEST_CASE("a target's layers on two servers give the text that it has alone") {
    if (!can_be_run())
        return;
    const model_file file(architecture::llama, byte_level(), 3);
    const loaded_model here(file);
    rpc_server first(SPECDEC_RPC_SERVER), second(SPECDEC_RPC_SERVER);
    llama_cpp_servers servers(addresses(first, second));
    CHECK(servers.device_count() == 2);
    for (const float temperature : {0.0F, 1.0F}) {
        CAPTURE(temperature);
        const llama_context_ptr context = here.context();
        ids alone = prompt(), there = prompt();
        go_on(target_model(context.get(), 0, llama_cpp_scoring::alone), here, alone, temperature);
        remote_target remote(file, servers);
        go_on(remote.adapter(), here, there, temperature);
        CHECK(there == alone);
    }
    CHECK_FALSE(servers.lost());
}

TEST_CASE("a server that dies is an error, and the text goes on elsewhere") {
    if (!can_be_run())
        return;
    const model_file file(architecture::llama, byte_level(), 3);
    const loaded_model here(file);
    ids expected = prompt();
    const llama_context_ptr context = here.context();
    go_on(target_model(context.get(), 0, llama_cpp_scoring::alone), here, expected);
    for (const bool dies_first : {true, false}) {
        CAPTURE(dies_first);
        rpc_server first(SPECDEC_RPC_SERVER), second(SPECDEC_RPC_SERVER);
        llama_cpp_servers servers(addresses(first, second));
        ids text = prompt();
        {
            remote_target remote(file, servers);
            target_model target = remote.adapter();
            const ids two{target_id{5}, target_id{9}};
            target.append(two);
            (dies_first ? first : second).end();
            CHECK_THROWS_WITH(target.score(text),
                              Catch::Contains("rpc-server: " + first.address()));
            CHECK(target.size() == 2);
            CHECK(servers.lost());
            CHECK_THROWS_AS(target.append(two), error); // at once
            CHECK(target.size() == 2);
            CHECK_THROWS_AS(go_on(remote.adapter(), here, text), error);
        }
        // The address is lost, not the program: other servers do, and none.
        CHECK_THROWS_WITH(llama_cpp_servers(addresses(first, second)),
                          Catch::Contains("not lost before"));
        const rpc_server third(SPECDEC_RPC_SERVER), fourth(SPECDEC_RPC_SERVER);
        llama_cpp_servers others(addresses(third, fourth));
        remote_target again(file, others);
        go_on(again.adapter(), here, text);
        CHECK(text == expected);
    }
}

TEST_CASE("a silent server is an error when patience ends") {
    if (!can_be_run())
        return;
    const model_file file(architecture::llama, byte_level(), 3);
    rpc_server first(SPECDEC_RPC_SERVER), second(SPECDEC_RPC_SERVER);
    llama_cpp_servers servers(addresses(first, second), std::chrono::seconds(5));
    remote_target remote(file, servers);
    target_model target = remote.adapter();
    second.stop();
    CHECK_THROWS_WITH(target.append(prompt()), Catch::Contains("kept silent"));
    CHECK(target.size() == 0);
}

TEST_CASE("an address without a server is an error that names it") {
    if (!can_be_run())
        return;
    const std::string nobody = "127.0.0.1:" + std::to_string(rpc_server::free_port());
    const std::vector<std::string> both{nobody, "no port"};
    for (const std::string& address : both)
        CHECK_THROWS_WITH(llama_cpp_servers(std::vector{address}),
                          Catch::Contains("rpc-server: " + address));
    const rpc_server one(SPECDEC_RPC_SERVER);
    CHECK(llama_cpp_servers(std::vector{one.address()}).device_count() == 1);
}

TEST_CASE("calls give what they return and throw") {
    llama_cpp_calls calls({});
    CHECK(calls.call([] { return 3; }) == 3);
    CHECK_THROWS_AS(calls.call([] { throw std::out_of_range("x"); }), std::out_of_range);
    CHECK_THROWS_WITH(calls.call([] { GGML_ABORT("not %d", 7); }), Catch::Contains("not 7"));
    bool ran = false;
    calls.release([&ran] { ran = true; });
    CHECK(ran);
    CHECK_FALSE(calls.lost());
}
