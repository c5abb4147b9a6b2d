// Decodes any bytes as a record with fields of all types; bytes that can be decoded must be the encoding of the value.
#include "encoding_target.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <variant>

#include "base/encoding/decoder.hpp"
#include "base/encoding/encoder.hpp"
#include "container/encoding.hpp"
#include "plait/error.hpp"
#include "plait/step.hpp"

namespace plait::fuzz {

namespace {

/// A record with a field of each type that the encoder supports.
struct AllTypes {
  std::variant<bool, Order, std::string> variant;
  std::vector<std::optional<std::string>> texts;
  std::map<std::int16_t, Region> regions;
  Attributes attributes;
  ArrayAttributes values;
  std::vector<ArrayType> types;
  std::vector<std::vector<double>> numbers;
  std::tuple<float, std::pair<Order, std::uint8_t>, std::array<bool, 3>> tuple;
  std::vector<std::byte> bytes;
  std::vector<std::int32_t> compact;
};

template <class Codec>
void fields(Codec& codec, base::Record<Codec, AllTypes>& all) {
  codec(all.variant, all.texts, all.regions, all.attributes, all.values, all.types, all.numbers, all.tuple, all.bytes);
  const std::size_t count = codec.length(all.compact.size(), 1);
  if constexpr (Codec::kDecodes) all.compact.resize(count);
  for (auto& value : all.compact) codec.compact(value);
}

void demand_of_encoding(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "fuzz: encoding: %s\n", what);
  std::abort();
}

void run_encoding(std::string_view bytes) {
  try {
    const auto all = base::decode<AllTypes>(bytes, base::kAnotherRank);
    demand_of_encoding(base::encode(all) == bytes, "two encodings of one value");
  } catch (const Error& error) {
    demand_of_encoding(error.what()[0] != '\0', "an error says nothing");
  }
}

std::vector<std::string> valid_encodings() {
  AllTypes all;
  std::vector<std::string> encoded{base::encode(all)};
  all.variant = Order::kFortran;
  all.texts = {std::nullopt, "b", std::string(200, 'c')};
  all.regions = {{std::int16_t{-3}, {{1, 2, 3, true}}}, {std::int16_t{4}, {}}};
  all.attributes = {{"count", std::int64_t{3}}, {"name", std::string("x")}, {"time", 0.5}};
  all.values.push_back({"units", ArrayAttribute::kTexts, {1}});
  all.values.back().texts = {"m/s"};
  all.types = {{{3, 4}, "<f8", 8, Order::kC}};
  all.numbers = {{1.5, -2}, {}};
  all.tuple = {0.25F, {Order::kC, std::uint8_t{7}}, {true, false, true}};
  all.bytes = {std::byte{1}, std::byte{255}};
  all.compact = {0, -1, 1 << 30, INT32_MIN};
  encoded.push_back(base::encode(all));
  all.variant = std::string("text");
  encoded.push_back(base::encode(all));
  return encoded;
}

}  // namespace

std::vector<MessageKind> encoding_kinds() { return {{"encoding", run_encoding, valid_encodings}}; }

}  // namespace plait::fuzz
