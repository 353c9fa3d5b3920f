#pragma once
#include <specdec/core/nowhere.hpp>
