#pragma once
#include <Eigen/Core>
#include <xtensor/xadapt.hpp>
