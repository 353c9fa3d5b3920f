// SPDX-License-Identifier: MIT
#pragma once

/// OpenVINO as an engine: stateful language models, as OpenVINO GenAI and optimum-intel export
/// them. Needs the CMake component openvino, or OpenVINO's runtime by other means.
#include <specdec/interop/openvino_batch_model.hpp>
#include <specdec/interop/openvino_model.hpp>
#include <specdec/interop/openvino_ports.hpp>
#include <specdec/interop/openvino_rows.hpp>
