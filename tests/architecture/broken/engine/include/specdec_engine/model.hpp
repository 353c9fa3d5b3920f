#pragma once
#include <Eigen/Core>
#include <specdec/core/dear.hpp>
