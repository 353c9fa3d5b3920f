// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstddef>
#include <span>
#include <string>
#include <type_traits> // std::invoke_result_t
#include <utility>
#include <vector>

#include <ggml-backend.h>

#include <specdec/core/error.hpp>
#include <specdec/interop/llama_cpp_calls.hpp>

namespace specdec {

/// Devices of other machines, lent by their rpc-server processes to llama.cpp's RPC backend; and
/// the calls that outlive such a server (llama_cpp_calls).
///
///     llama_cpp_servers servers(addresses);                 // "10.0.0.2:50052"
///     parameters.devices = servers.device_list();           // llama_model_params
///     model = servers.call([=] { return llama_model_load_from_file(path, parameters); });
///     context = servers.call([=] { return llama_init_from_model(model, settings); });
///     llama_cpp_model<target_id> target(context, 0, llama_cpp_scoring::together, &servers);
///     servers.release([=] { llama_free(context); llama_model_free(model); });
///
/// The devices are known to who takes the list only: models that are loaded without one stay here.
/// Borrowed by the models that are given it. Errors, specdec::error: a llama.cpp without the RPC
/// backend; an address without a server, or without a device; those of llama_cpp_calls.
class llama_cpp_servers {
public:
    explicit llama_cpp_servers(std::span<const std::string> addresses,
                               std::chrono::milliseconds patience = std::chrono::milliseconds(0))
        : calls_(addresses, patience) {
        ggml_backend_reg_t rpc = ggml_backend_reg_by_name("RPC");
        void* found = rpc == nullptr
                          ? nullptr
                          : ggml_backend_reg_get_proc_address(rpc, "ggml_backend_rpc_add_server");
        if (found == nullptr)
            throw error("llama.cpp", "RPC backend",
                        "expected a llama.cpp with it (build with GGML_RPC=ON)");
        for (const std::string& address : addresses)
            add_devices(address, reinterpret_cast<add_server*>(found));
        devices_.push_back(nullptr);
    }

    [[nodiscard]] std::size_t device_count() const { return devices_.size() - 1; }
    /// For llama_model_params::devices: ends with null. Lives as long as this.
    [[nodiscard]] ggml_backend_dev_t* device_list() { return devices_.data(); }

    [[nodiscard]] bool lost() const { return calls_.lost(); }
    template <class F>
    std::invoke_result_t<F&> call(F f) {
        return calls_.call(std::move(f));
    }
    template <class F>
    void release(F f) noexcept {
        calls_.release(std::move(f));
    }

private:
    using add_server = ggml_backend_reg_t(const char*);

    void add_devices(const std::string& address, add_server* add) {
        ggml_backend_reg_t reg = nullptr;
        try {
            reg = call([add, address] { return add(address.c_str()); });
        } catch (const error& e) {
            throw error("rpc-server", address,
                        std::string("expected a server that answers: ") + e.what());
        }
        if (reg == nullptr || ggml_backend_reg_dev_count(reg) == 0)
            throw error("rpc-server", address, "expected a server that lends a device");
        for (std::size_t i = 0; i < ggml_backend_reg_dev_count(reg); ++i)
            devices_.push_back(ggml_backend_reg_dev_get(reg, i));
    }

    llama_cpp_calls calls_;
    std::vector<ggml_backend_dev_t> devices_; // and null
};

} // namespace specdec
