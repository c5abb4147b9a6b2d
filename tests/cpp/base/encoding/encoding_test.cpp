// The binary encoding of messages between ranks: round trips, and errors for truncated or damaged bytes.
#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "allocations.hpp"
#include "base/encoding/decoder.hpp"
#include "base/encoding/encoder.hpp"
#include "plait/error.hpp"

namespace plait::base {
namespace {

constexpr EncodingSource kTest{"a test's message", "repair the test", EBADMSG};

enum class Colour : std::uint8_t { kRed, kGreen, kBlue };
constexpr Colour last_value(Colour /*any*/) { return Colour::kBlue; }

/// A record whose fields are contiguous, so that vectors of it are copied as a whole.
struct Entry {
  static constexpr bool kContiguousFields = true;
  std::int64_t offset = 0;
  std::uint32_t bytes = 0;
  std::uint32_t mask = 0;
  bool operator==(const Entry&) const = default;
};

template <class Codec>
void fields(Codec& codec, Record<Codec, Entry>& entry) {
  codec(entry.offset, entry.bytes, entry.mask);
}

struct Inner {
  std::string name;
  std::optional<std::vector<std::string>> words;
  bool operator==(const Inner&) const = default;
};

template <class Codec>
void fields(Codec& codec, Record<Codec, Inner>& inner) {
  codec(inner.name, inner.words);
  if constexpr (Codec::kDecodes)
    if (inner.name.starts_with('!')) codec.fail("a name begins with !");
}

struct Outer {
  bool flag = false;
  Colour colour = Colour::kRed;
  std::int8_t small = 0;
  std::uint64_t large = 0;
  float single = 0;
  double real = 0;
  std::vector<std::int64_t> extents;
  std::vector<std::byte> raw;
  std::vector<Entry> entries;
  std::vector<Inner> inner;
  std::map<std::string, std::variant<std::int64_t, double, std::string>> attributes;
  std::pair<int, std::string> pair;
  std::tuple<Colour, bool> tuple;
  std::array<std::uint16_t, 3> triple{};
  bool operator==(const Outer&) const = default;
};

template <class Codec>
void fields(Codec& codec, Record<Codec, Outer>& outer) {
  codec(outer.flag, outer.colour, outer.small, outer.large, outer.single, outer.real, outer.extents, outer.raw,
        outer.entries, outer.inner, outer.attributes, outer.pair, outer.tuple, outer.triple);
}

class RandomValues {
 public:
  explicit RandomValues(std::uint64_t seed) : random_(seed) {}

  /// Returns a random number in [0, end).
  std::uint64_t below(std::uint64_t end) { return random_() % end; }
  std::string text() {
    std::string created(below(10) == 0 ? below(400) : below(6), ' ');
    for (char& letter : created) letter = static_cast<char>(below(256));
    if (created.starts_with('!')) created[0] = '?';  // fields() rejects such names
    return created;
  }
  Inner inner() {
    Inner created{text(), std::nullopt};
    if (below(2) == 0) {
      created.words.emplace();
      fill(*created.words, [this] { return text(); });
    }
    return created;
  }
  Outer outer() {
    Outer created;
    created.flag = below(2) == 1;
    created.colour = static_cast<Colour>(below(3));
    created.small = static_cast<std::int8_t>(random_());
    created.large = random_() >> below(64);
    created.single = static_cast<float>(below(1000)) / 7;
    created.real = static_cast<double>(random_()) * 1e-300;
    fill(created.extents, [this] { return static_cast<std::int64_t>(random_()); });
    fill(created.raw, [this] { return static_cast<std::byte>(below(256)); });
    fill(created.entries,
         [this] { return Entry{static_cast<std::int64_t>(random_()), static_cast<std::uint32_t>(random_()), 7}; });
    fill(created.inner, [this] { return inner(); });
    created.attributes = {{text(), std::int64_t{-4}}, {text(), 0.25}, {text(), text()}};
    created.pair = {static_cast<int>(random_()), text()};
    created.tuple = {static_cast<Colour>(below(3)), below(2) == 1};
    for (std::uint16_t& number : created.triple) number = static_cast<std::uint16_t>(random_());
    return created;
  }
  /// Returns the bytes after one to three random changes.
  std::string damage(std::string bytes) {
    for (std::uint64_t times = 1 + below(3); times > 0 && !bytes.empty(); --times) {
      const std::uint64_t offset = below(bytes.size());
      switch (below(4)) {
        case 0: bytes[offset] = static_cast<char>(below(256)); break;
        case 1: bytes[offset] = static_cast<char>(bytes[offset] ^ (1 << below(8))); break;
        case 2: bytes.erase(offset, 1 + below(9)); break;
        default: bytes.insert(offset, 1 + below(9), static_cast<char>(255 * below(2))); break;
      }
    }
    return bytes;
  }

 private:
  template <class Vector, class Make>
  void fill(Vector& values, const Make& make) {
    values.resize(below(5));
    for (auto& value : values) value = make();
  }

  std::mt19937_64 random_;
};

/// Returns the error of decoding; "" without an error.
std::string catch_error(const std::string& bytes) {
  try {
    (void)decode<Outer>(bytes, kTest);
  } catch (const Error& error) {
    EXPECT_EQ(error.system_code(), EBADMSG);
    return error.what();
  }
  return "";
}

TEST(Encoding, DecodesToTheEncodedValue) {
  RandomValues random(1);
  for (int times = 0; times < 2000; ++times) {
    const Outer value = random.outer();
    ASSERT_EQ(decode<Outer>(encode(value), kTest), value) << times;
  }
}

TEST(Encoding, HasTheDocumentedBytes) {
  using namespace std::string_literals;
  EXPECT_EQ(encode("t"s, std::vector<std::int64_t>{3}, std::optional(0.5)),
            "\1t\1\3\0\0\0\0\0\0\0\1\0\0\0\0\0\0\xe0\x3f"s);
  EXPECT_EQ(encode(std::int32_t{-2}, true, Colour::kBlue, std::optional<int>()), "\xfe\xff\xff\xff\1\2\0"s);
  EXPECT_EQ(encode(std::string(300, 'x')), "\xac\2"s + std::string(300, 'x'));
  EXPECT_EQ(encode(std::variant<int, std::string>("a"s), std::map<std::string, bool>{{"b", true}}), "\1\1a\1\1b\1"s);
}

TEST(Encoding, CopiesContiguousRecordsAsAWholeWithTheSameBytes) {
  const Entry entry{1LL << 40, 5, 6};
  EXPECT_EQ(encode(std::vector{entry, entry}), '\2' + encode(entry) + encode(entry));
}

TEST(Encoding, TruncatedBytesAreAnError) {
  RandomValues random(2);
  for (int times = 0; times < 30; ++times) {
    const std::string bytes = encode(random.outer());
    for (std::size_t length = 0; length < bytes.size(); ++length)
      ASSERT_NE(catch_error(bytes.substr(0, length)), "") << length;
    EXPECT_NE(catch_error(bytes + '\0').find("bytes follow"), std::string::npos);
  }
}

TEST(Encoding, DamagedBytesAreAnErrorOrTheOnlyEncodingOfAnotherValue) {
  RandomValues random(3);
  int errors = 0;
  for (int times = 0; times < 20000; ++times) {
    const std::string bytes = random.damage(encode(random.outer()));
    std::optional<Outer> value;
    try {
      value = decode<Outer>(bytes, kTest);
    } catch (const Error&) {
      ++errors;
    }
    if (value) {
      ASSERT_EQ(encode(*value), bytes) << times;
    }
  }
  EXPECT_GT(errors, 1000);
  EXPECT_LT(errors, 20000);
}

TEST(Encoding, ReservesNoMemoryForMissingElements) {
  // The longest length that fits 64 bits, with few bytes after it; and a length of 2 with too few bytes after it.
  const std::string longest = std::string(9, '\xff') + '\1';
  for (const std::string& bytes : {longest, longest + std::string(80, '\0'), '\2' + std::string(15, '\0')}) {
    allocations::restart_peak();
    const std::int64_t before = allocations::live_bytes();
    EXPECT_THROW(decode<std::vector<std::int64_t>>(bytes, kTest), Error);
    EXPECT_THROW(decode<std::vector<Entry>>(bytes, kTest), Error);
    EXPECT_THROW(decode<std::string>(longest, kTest), Error);
    EXPECT_THROW(decode<std::vector<Inner>>(longest, kTest), Error);
    EXPECT_LT(allocations::peak_bytes() - before, 1 << 13);
  }
}

TEST(Encoding, RejectsOtherEncodingsOfAValue) {
  using namespace std::string_literals;
  const auto rejects = [](auto value, const std::string& bytes) {
    EXPECT_THROW(decode(bytes, kTest, value), Error) << testing::PrintToString(bytes);
  };
  rejects(false, "\2"s);
  rejects(Colour::kRed, "\3"s);
  rejects(std::optional<bool>(), "\2\1"s);
  rejects(std::variant<bool, bool>(), "\2\1"s);
  rejects(std::string(), "\x80\0"s);
  rejects(std::string(), std::string(9, '\x80') + '\2');
  rejects(std::map<std::string, bool>(), "\2\1b\0\1a\0"s);
  rejects(std::map<std::string, bool>(), "\2\1a\0\1a\1"s);
}

TEST(Encoding, ErrorsStateThePositionAndWhatToDo) {
  std::string why;
  try {
    (void)decode<std::vector<std::string>>(std::string("\2\1ab"), kTest);
  } catch (const Error& error) {
    why = error.what();
  }
  EXPECT_EQ(why, "a test's message is damaged at byte 4 of 4: a length exceeds its bytes; repair the test");
  EXPECT_THROW(decode<Inner>(encode(Inner{"!", {}}), kTest), Error);
}

}  // namespace
}  // namespace plait::base
