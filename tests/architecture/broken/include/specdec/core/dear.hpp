#pragma once
#include <algorithm>
