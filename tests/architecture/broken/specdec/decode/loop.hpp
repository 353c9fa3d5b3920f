#pragma once
#include <specdec/vocab/tables.hpp>
