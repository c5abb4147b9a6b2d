// Casts between element types: which casts exist, and how they convert values.
#include "copy/cast/element_cast.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace {

using plait::copy::Casting;
using plait::copy::ElementCast;

/// Casts values between element types that are named as in NumPy, such as `<i4` for little-endian 32-bit integers.
template <typename To, typename From>
std::vector<To> cast(const char* from, const char* to, std::vector<From> values, Casting casting = Casting::kSameKind) {
  const std::optional<ElementCast> element_cast = ElementCast::find(from, to, casting);
  EXPECT_TRUE(element_cast) << from << " to " << to;
  if (!element_cast) return {};
  EXPECT_EQ(element_cast->source_bytes(), static_cast<std::int64_t>(sizeof(From)));
  EXPECT_EQ(element_cast->target_bytes(), static_cast<std::int64_t>(sizeof(To)));
  std::vector<To> result(values.size() + 1, To{7});
  element_cast->run(reinterpret_cast<std::byte*>(values.data()), reinterpret_cast<std::byte*>(result.data()),
                    static_cast<std::int64_t>(values.size()));
  EXPECT_EQ(result.back(), To{7}) << "the cast has written beyond the end";
  result.pop_back();
  return result;
}

template <typename T>
T swap_bytes(T value) {
  auto* bytes = reinterpret_cast<std::byte*>(&value);
  std::reverse(bytes, bytes + sizeof value);
  return value;
}

TEST(ElementCast, WidensIntegersWithTheirSigns) {
  EXPECT_EQ((cast<std::int64_t>("|i1", "<i8", std::vector<std::int8_t>{-128, -1, 0, 127})),
            (std::vector<std::int64_t>{-128, -1, 0, 127}));
  EXPECT_EQ((cast<std::int32_t>("<u2", "<i4", std::vector<std::uint16_t>{0, 65535})),
            (std::vector<std::int32_t>{0, 65535}));
}

TEST(ElementCast, TruncatesIntegersToTheLowerBits) {
  EXPECT_EQ((cast<std::int8_t>("<i4", "|i1", std::vector<std::int32_t>{257, -129, 128})),
            (std::vector<std::int8_t>{1, 127, -128}));
}

TEST(ElementCast, RoundsToNarrowerRealNumbers) {
  const double tiny = std::numeric_limits<double>::denorm_min();
  EXPECT_EQ((cast<float>("<f8", "<f4", std::vector<double>{0.1, -2.5, tiny})), (std::vector<float>{0.1F, -2.5F, 0}));
}

TEST(ElementCast, ConvertsRealToComplexNumbers) {
  using Single = std::complex<float>;
  using Double = std::complex<double>;
  EXPECT_EQ((cast<Double>("<f4", "<c16", std::vector<float>{1.5F, -2})), (std::vector<Double>{1.5, -2}));
  EXPECT_EQ((cast<Single>("<c16", "<c8", std::vector<Double>{{0.1, -3}})), (std::vector<Single>{{0.1F, -3}}));
}

TEST(ElementCast, TreatsNonzeroBytesAsTrue) {
  EXPECT_EQ((cast<std::uint16_t>("|b1", "<u2", std::vector<std::uint8_t>{0, 1, 2, 255})),
            (std::vector<std::uint16_t>{0, 1, 1, 1}));
}

TEST(ElementCast, SwapsBytesOnEitherSide) {
  const std::vector<std::int32_t> values{1, -70000, 1 << 30};
  std::vector<std::int32_t> swapped = values;
  for (std::int32_t& value : swapped) value = swap_bytes(value);
  EXPECT_EQ(cast<std::int32_t>(">i4", "<i4", swapped, Casting::kSafe), values);
  EXPECT_EQ(cast<std::int32_t>("<i4", ">i4", values, Casting::kSafe), swapped);
  std::vector<std::int64_t> wide(values.begin(), values.end());
  for (std::int64_t& value : wide) value = swap_bytes(value);
  EXPECT_EQ(cast<std::int64_t>(">i4", ">i8", swapped), wide);
  // The bytes of each part of a complex number are swapped separately.
  const std::complex<float> value(1.25F, -3);
  const std::complex<float> swapped_value(swap_bytes(value.real()), swap_bytes(value.imag()));
  const auto result =
      cast<std::complex<float>>(">c8", "<c8", std::vector<std::complex<float>>{swapped_value}, Casting::kSafe);
  EXPECT_EQ(result, std::vector<std::complex<float>>{value});
}

/// The rules of NumPy, as `numpy.can_cast` reports them.
TEST(ElementCast, FollowsTheCastingRules) {
  struct Case {
    const char* from;
    const char* to;
    bool safe;
    bool same_kind;
  };
  for (const Case& case_ : std::vector<Case>{{"|b1", "<f4", true, true},
                                             {"|u1", "<i2", true, true},
                                             {"|u1", "|i1", false, true},
                                             {"<u8", "<i8", false, true},
                                             {"<i8", "<u8", false, false},
                                             {"<i8", "<f8", true, true},
                                             {"<u4", "<f4", false, true},
                                             {"<i2", "<f4", true, true},
                                             {"<f8", "<f4", false, true},
                                             {"<f8", "<c8", false, true},
                                             {"<f4", "<c8", true, true},
                                             {"<c8", "<f8", false, false},
                                             {"<f4", "<i8", false, false},
                                             {"<i4", "|b1", false, false}}) {
    EXPECT_EQ(ElementCast::find(case_.from, case_.to, Casting::kSafe).has_value(), case_.safe)
        << case_.from << case_.to;
    EXPECT_EQ(ElementCast::find(case_.from, case_.to, Casting::kSameKind).has_value(), case_.same_kind)
        << case_.from << case_.to;
    EXPECT_FALSE(ElementCast::find(case_.from, case_.to, Casting::kNo)) << case_.from << case_.to;
  }
}

TEST(ElementCast, RejectsOtherTypes) {
  for (const char* name : {"", "<", "<i", "|S4", "<U4", "<f2x", "<i3", "|V8", "?i4"})
    EXPECT_FALSE(ElementCast::find(name, "<f8", Casting::kSameKind)) << name;
}

TEST(ElementCast, NamesOfRulesAreParsed) {
  for (const Casting rule : {Casting::kNo, Casting::kSafe, Casting::kSameKind})
    EXPECT_EQ(plait::copy::parse_casting(plait::copy::to_string(rule)), rule);
  EXPECT_FALSE(plait::copy::parse_casting("unsafe"));
}

}  // namespace
