/// Regions: the part of an array that an access reads or writes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace plait {

/// The indices start, start+stride, ... of one dimension, `count` of them; `single` drops the dimension, as an integer
/// index does in NumPy.
struct Slice {
  std::int64_t start = 0;
  std::int64_t count = 0;
  std::int64_t stride = 1;
  bool single = false;
  bool operator==(const Slice&) const = default;
};

/// One slice for each dimension of the array; empty for the whole array.
using Region = std::vector<Slice>;

/// Prints a region as `[0:10, 5:20:3, 7]`, or as `[whole]` for the whole array.
std::string to_string(const Region& region);

}  // namespace plait
