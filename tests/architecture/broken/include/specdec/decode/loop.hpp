#pragma once
#include <specdec/vocab/table/tables.hpp>
