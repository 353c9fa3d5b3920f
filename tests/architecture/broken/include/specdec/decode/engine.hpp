#pragma once
#include <specdec_engine/model.hpp>
