// Texts of numbers, and reading numbers from texts, also without memory.
#include "base/text.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <locale>
#include <new>
#include <string>

#include "allocations.hpp"
#include "base/text_reader.hpp"

namespace plait::base {
namespace {

TEST(Text, ConcatenatesTextsAndNumbers) {
  const std::string name = "a.npy";
  EXPECT_EQ(text(name, " has ", 3, ' ', std::string_view("dimensions"), '.'), "a.npy has 3 dimensions.");
  EXPECT_EQ(text(), "");
  EXPECT_EQ(text(true, false), "10");
  std::string out = "1";
  append_parts(out, '+', 2);
  EXPECT_EQ(out, "1+2");
}

TEST(Text, PrintsTheLongestNumbers) {
  EXPECT_EQ(text(std::numeric_limits<std::int64_t>::min()), "-9223372036854775808");
  EXPECT_EQ(text(std::numeric_limits<std::uint64_t>::max()), "18446744073709551615");
}

TEST(Text, PrintsFractionsWithSixDigits) { EXPECT_EQ(text(1.0 / 3, " ", 2.0, " ", 1e300), "0.333333 2 1e+300"); }

TEST(Text, PrintsTuplesAndBytes) {
  const std::int64_t values[] = {4, -8};
  EXPECT_EQ(tuple_text(values), "(4, -8)");
  EXPECT_EQ(tuple_text({}), "()");
  EXPECT_EQ(bytes_text(640), "640 B");
  EXPECT_EQ(bytes_text(3 << 19), "1.5 MiB");
  EXPECT_EQ(bytes_text(2 << 20), "2 MiB");
}

TEST(Text, AlignsColumns) {
  EXPECT_EQ(aligned_right("-1", 5), "   -1");
  EXPECT_EQ(aligned_left("ab", 5), "ab   ");
  EXPECT_EQ(aligned_right("longer", 5), "longer");
  EXPECT_EQ(aligned_left("longer", 5), "longer");
  EXPECT_EQ(hexadecimal_text(0xab), "00000000000000ab");
  EXPECT_EQ(hexadecimal_text(std::numeric_limits<std::uint64_t>::max()), "ffffffffffffffff");
}

/// Makes each allocation of `body` fail in turn; `body` must throw std::bad_alloc each time. Returns the number of its
/// allocations.
template <typename Body>
std::int64_t fail_each_allocation(Body&& body) {
  std::int64_t n = 1;
  for (;; ++n) {
    bool thrown = false;
    allocations::fail_at(n);
    try {
      body();
    } catch (const std::bad_alloc&) {
      thrown = true;
    }
    const bool failed = allocations::failed();
    EXPECT_EQ(thrown, failed) << n;
    if (!failed) return n - 1;
  }
}

TEST(Text, IsNeverTruncatedWithoutMemory) {
  const std::string name(300, 'a');
  EXPECT_GT(fail_each_allocation([&] { static_cast<void>(text("the file ", name, " has ", 3, ' ', name)); }), 0);
  EXPECT_GT(fail_each_allocation([&] { static_cast<void>(aligned_right(name, 400)); }), 0);
  EXPECT_GT(fail_each_allocation([&] { static_cast<void>(aligned_left(name, 400)); }), 0);
}

TEST(TextReader, DistinguishesALackOfMemoryFromTheEndOfTheText) {
  const std::string input = text(4, ' ', std::string(300, 'b'), '\n', std::string(300, 'c'));
  const auto read = [&] {
    TextReader in(input);
    int number = 0;
    std::string word;
    std::string line;
    in >> number >> word;
    in.get();
    std::getline(in, line);
    EXPECT_TRUE(number == 4 && word.size() == 300 && line.size() == 300);
  };
  EXPECT_GT(fail_each_allocation(read), 2);
}

/// A locale that separates thousands by a blank, as some languages do.
class GroupedDigits : public std::numpunct<char> {
 protected:
  char do_thousands_sep() const override { return ' '; }
  std::string do_grouping() const override { return "\3"; }
};

TEST(TextReader, ReadsNumbersIndependentlyOfTheLocale) {
  const std::locale before = std::locale::global(std::locale(std::locale::classic(), new GroupedDigits));
  TextReader in(text(12, ' ', 345, ' ', 6789));
  std::locale::global(before);
  std::int64_t first = 0;
  std::int64_t second = 0;
  std::int64_t third = 0;
  in >> first >> second >> third;
  EXPECT_EQ(first, 12);
  EXPECT_EQ(second, 345);
  EXPECT_EQ(third, 6789);
}

}  // namespace
}  // namespace plait::base
