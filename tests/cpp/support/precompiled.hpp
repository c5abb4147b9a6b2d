// Headers that most tests include, compiled once for all tests. Each test still includes the headers that it uses.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <random>
#include <sstream>

#include "standard.hpp"
