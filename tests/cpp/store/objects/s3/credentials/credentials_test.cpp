// The times at which temporary credentials expire, as servers write them.
#include "store/objects/s3/credentials/credentials.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>

namespace {

using plait::store::s3::parse_timestamp;

TEST(S3Credentials, TimesOfAllZonesAreParsed) {
  // The numbers are those of `date --date=... +%s`.
  constexpr std::int64_t kTenOClock = 1795946400;  // 2026-11-29T10:00:00Z
  for (const char* time : {"2026-11-29T10:00:00Z", "2026-11-29t10:00:00z", "2026-11-29 10:00:00Z",
                           "2026-11-29T10:00:00.123456789Z", "2026-11-29T10:00:00+00:00", "2026-11-29T11:30:00+01:30",
                           "2026-11-29T11:30:00.5+0130", "2026-11-28T23:00:00-11:00"})
    EXPECT_EQ(parse_timestamp(time), kTenOClock) << time;
  EXPECT_EQ(parse_timestamp("1970-01-01T00:00:00Z"), 0);
  EXPECT_EQ(parse_timestamp("2024-02-29T23:59:59Z"), 1709251199);
}

TEST(S3Credentials, OtherTextsAreNoTimes) {
  for (const std::string time :
       {"", "soon", "2026-11-29", "2026-11-29T10:00:00", "2026-11-29T10:00Z", "2026-13-29T10:00:00Z",
        "2023-02-29T10:00:00Z", "2026-11-29T24:00:00Z", "2026-11-29T10:60:00Z", "2026-11-29T10:00:00Zx",
        "2026-11-29T10:00:00+1", "26-11-29T10:00:00Z", "2026-11--1T10:00:00Z", "2026-11-29T10:00:00+0a:00"})
    EXPECT_EQ(parse_timestamp(time), std::nullopt) << time;
}

}  // namespace
