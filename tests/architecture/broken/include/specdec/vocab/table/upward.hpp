#pragma once
#include <specdec/vocab/ngrams/upstairs.hpp>
