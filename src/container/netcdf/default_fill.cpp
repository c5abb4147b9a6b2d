#include "container/netcdf/default_fill.hpp"

#include <nlohmann/json.hpp>

#include "container/fill_value.hpp"

namespace plait::container::netcdf {

namespace {

using nlohmann::json;

json float_fill(char size) {
  return size == '4' ? json(static_cast<double>(9.9692099683868690e+36F)) : json(9.9692099683868690e+36);
}

json signed_fill(char size) {
  switch (size) {
    case '1': return -127;
    case '2': return -32767;
    case '4': return -2147483647;
    default: return -9223372036854775806;
  }
}

json unsigned_fill(char size) {
  switch (size) {
    case '1': return 255U;
    case '2': return 65535U;
    case '4': return 4294967295U;
    default: return 18446744073709551614U;
  }
}

}  // namespace

std::vector<std::byte> default_fill(const std::string& dtype) {
  const char kind = dtype[1];
  const char size = dtype[2];
  if (kind == 'f' && (size == '4' || size == '8')) return zarr::encode_fill(float_fill(size), dtype);
  if (kind == 'i') return zarr::encode_fill(signed_fill(size), dtype);
  if (kind == 'u') return zarr::encode_fill(unsigned_fill(size), dtype);
  return {};
}

}  // namespace plait::container::netcdf
