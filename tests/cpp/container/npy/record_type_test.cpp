// Structured dtypes: gaps between fields, and texts that are not structured dtypes.
#include "container/npy/record_type.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "container/npy/npy_header.hpp"
#include "plait/error.hpp"

namespace {

using plait::Error;
using plait::Extents;
using plait::container::npy::dtype_bytes;
using plait::container::npy::parse_record;
using plait::container::npy::print_record;
using plait::container::npy::RecordField;

TEST(RecordType, GapsAreFieldsWithoutNames) {
  const std::vector<RecordField> fields{{"flag", "|u1", {}, 0, 1}, {"value", "<f8", {}, 8, 8}};
  const std::string dtype = print_record(fields, 24);
  EXPECT_EQ(dtype, "[('flag', '|u1'), ('', '|V7'), ('value', '<f8'), ('', '|V8')]");
  EXPECT_EQ(dtype_bytes(dtype), 24);
  const std::vector<RecordField> actual = parse_record(dtype);
  ASSERT_EQ(actual.size(), 2U);
  EXPECT_EQ(actual[0].name, "flag");
  EXPECT_EQ(actual[1].offset, 8);
}

TEST(RecordType, FieldsMayBeArraysAndRecords) {
  const std::string inner = "[('x', '<f4'), ('y', '<f4', (2,))]";
  const std::vector<RecordField> fields{{"at", inner, {}, 0, 12}, {"grid", inner, {2, 3}, 12, 72}};
  const std::vector<RecordField> actual = parse_record(print_record(fields, 84));
  ASSERT_EQ(actual.size(), 2U);
  EXPECT_EQ(actual[0].dtype, inner);
  EXPECT_EQ(actual[1].shape, (Extents{2, 3}));
  EXPECT_EQ(actual[1].bytes, 72);
  EXPECT_EQ(parse_record(inner)[1].shape, Extents{2});
  EXPECT_EQ(parse_record("[('n', '<i2', 4)]")[0].shape, Extents{4});
}

TEST(RecordType, NamesAreQuoted) {
  for (const std::string name : {"it's", "a \\ b", "two\nlines", "\x7f", "\"", "°C"}) {
    const std::vector<RecordField> fields{{name, "<i4", {}, 0, 4}};
    EXPECT_EQ(parse_record(print_record(fields, 4))[0].name, name);
  }
}

TEST(RecordType, TitlesAreIgnored) { EXPECT_EQ(parse_record("[(('a title', 'name'), '<i4')]")[0].name, "name"); }

TEST(RecordType, OtherTextsAreErrors) {
  for (const std::string dtype : {"[", "[('a',)]", "[('a', '|O')]", "[('a', '<f8', (-1,))]", "[1]",
                                  "[('a', '|V4611686018427387904', (4,))]", "[('a', '|S0')]"})
    EXPECT_THROW((void)parse_record(dtype), Error) << dtype;
}

}  // namespace
