// What most tests include, compiled once for all of them; each test includes what it uses all the same.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <random>
#include <sstream>

#include "standard.hpp"
