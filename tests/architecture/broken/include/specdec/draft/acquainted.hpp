#pragma once
#include <specdec/bridge/other_vocabulary.hpp>
