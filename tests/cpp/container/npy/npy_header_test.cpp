// Headers of .npy files: the bytes that NumPy writes, headers of other writers, and damaged headers.
#include "container/npy/npy_header.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "container/npy/literal.hpp"
#include "plait/error.hpp"

namespace {

using plait::Error;
using plait::ErrorKind;
using plait::Extents;
using plait::Order;
using plait::container::npy::dtype_bytes;
using plait::container::npy::Header;
using plait::container::npy::header_bytes;
using plait::container::npy::Literal;
using plait::container::npy::make_header;
using plait::container::npy::parse_header;
using plait::container::npy::parse_literal;
using plait::container::npy::same_descr;
using Bytes = std::vector<std::byte>;

Bytes to_bytes(const std::string& text) {
  Bytes result(text.size());
  std::transform(text.begin(), text.end(), result.begin(), [](char c) { return static_cast<std::byte>(c); });
  return result;
}

std::string to_text(const Bytes& bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

/// Returns a header of format version 1 to 3 with this dictionary, without padding.
Bytes make_raw_header(const std::string& dictionary, int version = 1) {
  std::string text("\x93NUMPY", 6);
  text += static_cast<char>(version);
  text += '\0';
  for (std::size_t i = 0; i < (version == 1 ? 2U : 4U); ++i)
    text += static_cast<char>(dictionary.size() >> (8 * i) & 0xFFU);
  return to_bytes(text + dictionary);
}

Header parse(const std::string& dictionary, int version = 1) {
  return parse_header(make_raw_header(dictionary, version), "field.npy");
}

/// Returns the error of parsing a header with this dictionary; "" without an error.
std::string header_error(const std::string& dictionary) {
  try {
    parse(dictionary);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(NpyHeader, HasTheBytesThatNumpyWrites) {
  const std::string dictionary = "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }";
  std::string expected("\x93NUMPY\x01\x00\x76\x00", 10);
  expected += dictionary + std::string(118 - 1 - dictionary.size(), ' ') + '\n';
  EXPECT_EQ(to_text(make_header("<f8", Order::kC, {3, 4})), expected);
  const auto make_dictionary = [](const std::string& descr, Order order, const Extents& shape) {
    const std::string text = to_text(make_header(descr, order, shape));
    return text.substr(10, text.find('}') - 9);
  };
  EXPECT_EQ(make_dictionary("|b1", Order::kFortran, {5}), "{'descr': '|b1', 'fortran_order': True, 'shape': (5,), }");
  EXPECT_EQ(make_dictionary("<i4", Order::kC, {}), "{'descr': '<i4', 'fortran_order': False, 'shape': (), }");
  EXPECT_EQ(make_dictionary("[('a', '<f8'), ('b', '|i1', (2,))]", Order::kC, {0, 7}),
            "{'descr': [('a', '<f8'), ('b', '|i1', (2,))], 'fortran_order': False, 'shape': (0, 7), }");
}

TEST(NpyHeader, FieldNamesAreParsedInEachVersion) {
  const auto descr = [](const std::string& name) { return "[(" + name + ", '<f8')]"; };
  const auto header_version = [](const Bytes& header) { return std::to_integer<int>(header[6]); };
  const std::string long_suffix(70000, 'x');  // too long for version 1
  for (const auto& [name, version] :
       std::vector<std::pair<std::string, int>>{{"'gr\u00fc\u00df'", 1},
                                                {"'\u00ff" + long_suffix + "'", 2},
                                                {"'\u0100'", 3},
                                                {"'\u6e29\u5ea6'", 3},
                                                {"'\U0001f321" + long_suffix + "'", 3},
                                                {R"('a\'b"c\\d\n\x85\u200b\U0001f321')", 1}}) {
    const Bytes header = make_header(descr(name), Order::kC, {3});
    EXPECT_EQ(header_version(header), version);
    EXPECT_EQ(header.size() % 64, 0);
    EXPECT_EQ(parse_header(header, "a").descr, descr(name));
    EXPECT_EQ(parse_header(header, "a").element_bytes, 8);
  }
  // The same byte is another character in another version.
  EXPECT_EQ(parse("{'descr': [('\xe9', '|i1')], 'fortran_order': False, 'shape': ()}").descr, "[('\u00e9', '|i1')]");
  EXPECT_EQ(parse("{'descr': [('\xe9', '|i1')], 'fortran_order': False, 'shape': ()}", 2).descr, "[('\u00e9', '|i1')]");
  EXPECT_EQ(parse("{'descr': [('\u00e9', '|i1')], 'fortran_order': False, 'shape': ()}", 3).descr,
            "[('\u00e9', '|i1')]");
}

TEST(NpyHeader, TextThatIsNotUtf8IsAnError) {
  for (const std::string bad :
       {"\xe9", "\xc3", "\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xff"}) {
    EXPECT_THROW(parse("{'descr': [('" + bad + "', '|i1')], 'fortran_order': False, 'shape': ()}", 3), Error) << bad;
    EXPECT_THROW(make_header("[('" + bad + "', '|i1')]", Order::kC, {1}), Error) << bad;
  }
  for (const std::string bad : {R"('\q')", R"('\x8')", R"('\u12')", R"('\U00110000')", "'\\", R"('\N{DASH}')"})
    EXPECT_THROW(parse_literal(bad), Error) << bad;
}

TEST(NpyHeader, DifferentSpellingsOfOneTypeAreEqual) {
  EXPECT_TRUE(same_descr("<f8", "<f8"));
  EXPECT_FALSE(same_descr("<f8", "<f4"));
  EXPECT_TRUE(same_descr("[('a', '<f8'), ('b', '|i1', (2,))]", R"([("a","<f8"),("\x62",'|i1',(2,)),])"));
  EXPECT_FALSE(same_descr("[('a', '<f8')]", "[('b', '<f8')]"));
  EXPECT_FALSE(same_descr("[('a', '<f8')]", "[('a', '<f8'), ('b', '<f8')]"));
}

TEST(NpyHeader, ParsesToTheSameType) {
  for (const std::string descr :
       {"<f8", ">i2", "|b1", "<c16", "|S7", "<U3", "|V5", "<M8[ns]", "<m8[25s]", "[('a', '<f8'), ('b', '|i1', (2,))]"})
    for (const Order order : {Order::kC, Order::kFortran})
      for (const Extents& shape : {Extents{}, Extents{0}, Extents{1}, Extents{12, 1, 3}, Extents{1LL << 40, 1LL << 20},
                                   Extents(32, 3), Extents{9223372036854775807}}) {
        const Bytes bytes = make_header(descr, order, shape);
        EXPECT_EQ(bytes.size() % 64, 0U);
        EXPECT_EQ(bytes.back(), std::byte{'\n'});
        EXPECT_EQ(header_bytes(std::span(bytes).first(12), "x"), static_cast<std::int64_t>(bytes.size()));
        const Header header = parse_header(bytes, "x");
        EXPECT_EQ(header.descr, descr);
        EXPECT_EQ(header.order, order);
        EXPECT_EQ(header.shape, shape);
        EXPECT_EQ(header.element_bytes, dtype_bytes(descr));
        EXPECT_EQ(header.data_offset, static_cast<std::int64_t>(bytes.size()));
      }
}

TEST(NpyHeader, LongHeadersAreOfVersion2) {
  std::string descr = "[";
  for (int i = 0; i < 4000; ++i) descr += "('field_" + std::to_string(i) + "', '<f8'), ";
  descr += ']';
  const Bytes bytes = make_header(descr, Order::kC, {2});
  EXPECT_EQ(bytes[6], std::byte{2});
  EXPECT_GT(bytes.size(), 65536U);
  EXPECT_EQ(bytes.size() % 64, 0U);
  const Header header = parse_header(bytes, "x");
  EXPECT_EQ(header.element_bytes, 32000);
  EXPECT_EQ(header.descr, descr);
  for (std::size_t names = 2715; names < 2735; ++names) {  // around the length at which the version changes
    const std::string text = "[('" + std::string(names * 24, 'n') + "', '<f8')]";
    const Bytes edge_header = make_header(text, Order::kC, {2});
    ASSERT_EQ(parse_header(edge_header, "x").descr, text);
    ASSERT_EQ(edge_header.size() % 64, 0U);
  }
}

TEST(NpyHeader, ReadsHeadersOfOtherWriters) {
  const Header unusual = parse("{\"shape\":[3,4L,],\"fortran_order\":True,'more':{'a':(1,)},\"descr\":\"<f4\"}\n");
  EXPECT_EQ(unusual.shape, (Extents{3, 4}));
  EXPECT_EQ(unusual.order, Order::kFortran);
  EXPECT_EQ(unusual.element_bytes, 4);
  EXPECT_EQ(unusual.data_offset, 10 + 71);
  const std::string plain = "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)}";
  EXPECT_EQ(parse(plain, 2).data_offset, 12 + static_cast<std::int64_t>(plain.size()));
  EXPECT_EQ(parse(plain, 3).shape, Extents{1});
  EXPECT_EQ(parse("  \n{'descr': '<f4', 'fortran_order': False, 'shape': ()}   ").shape, Extents{});
}

TEST(NpyHeader, ErrorsStateWhatIsWrong) {
  const std::string other_items = ", 'fortran_order': False, 'shape': (2,)}";
  EXPECT_NE(header_error("{'fortran_order': False, 'shape': (2,)}").find("lacks descr"), std::string::npos);
  EXPECT_NE(header_error("{'descr': '<f8', 'shape': (2,)}").find("lacks"), std::string::npos);
  EXPECT_NE(header_error("{'descr': '<f8', 'fortran_order': False}").find("lacks"), std::string::npos);
  EXPECT_NE(header_error("{'descr': '<f8', 'fortran_order': 0, 'shape': (2,)}").find("lacks"), std::string::npos);
  EXPECT_NE(header_error("{'descr': '<f8', 'fortran_order': False, 'shape': 2}").find("lacks"), std::string::npos);
  for (const std::string shape : {"(-1,)", "('2',)", "(True,)", "((2,),)"})
    EXPECT_NE(header_error("{'descr': '<f8', 'fortran_order': False, 'shape': " + shape + "}").find("the shape"),
              std::string::npos)
        << shape;
  EXPECT_NE(header_error("{'descr': '|O'" + other_items).find("Python objects"), std::string::npos);
  EXPECT_NE(header_error("{'descr': [('a', '|O')]" + other_items).find("Python objects"), std::string::npos);
  for (const std::string descr :
       {"'f'", "'<x8'", "''", "'<'", "'<f8x'", "'<f8[ns]'", "7", "[('a',)]", "['a']", "[('a', '<f8', -2)]",
        "[('a', '<f8', (3, -2)), ('b', '<f8', 9)]", "[('a', '<f8', 'x')]", "[('a', '<f8', ('x',))]",
        "'<f99999999999999999999'", "[('a', '<f8', (4294967296, 4294967296))]", "'<f0'", "[]"})
    EXPECT_NE(header_error("{'descr': " + descr + other_items), "") << descr;
  for (const std::string& text :
       std::vector<std::string>{"", "{", "}", "{'descr'", "{'descr':", "{'descr': '<f8'" + other_items + "x", "(1, 2)",
                                "{'descr': '<f8\\n'" + other_items, "{1: 2}", "{'a' 'b'}", "{'a': 1 'b': 2}"})
    EXPECT_NE(header_error(text), "") << text;
  EXPECT_NE(header_error("{'descr': " + std::string(1000, '(')), "");
  EXPECT_NE(header_error("").find("field.npy"), std::string::npos);
}

TEST(NpyHeader, FilesOfOtherFormatsAreErrors) {
  const auto signature_error = [](const std::string& bytes) -> std::string {
    try {
      header_bytes(to_bytes(bytes), "x.npy");
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kSystem);
      return error.what();
    }
    return "";
  };
  EXPECT_NE(signature_error("").find("signature"), std::string::npos);
  EXPECT_NE(signature_error("PK\x03\x04 a zip archive").find("signature"), std::string::npos);
  EXPECT_NE(signature_error(std::string("\x93NUMPY\x01", 7)).find("signature"), std::string::npos);
  EXPECT_NE(signature_error(std::string("\x93NUMPY\x04\x00\x76\x00\x00\x00", 12)).find("version 4"), std::string::npos);
  EXPECT_EQ(signature_error(std::string("\x93NUMPY\x02\x00\x76\x00\x00\x01", 12)), "");
}

/// Parses damaged bytes as open() does: the result is an Error or a valid header.
void parse_damaged(const Bytes& bytes) {
  try {
    const std::int64_t length = header_bytes(std::span(bytes).first(std::min<std::size_t>(bytes.size(), 12)), "x");
    ASSERT_GT(length, 0);
    const Header header = parse_header(bytes, "x");
    ASSERT_GT(header.element_bytes, 0);
    for (const std::int64_t extent : header.shape) ASSERT_GE(extent, 0);
    ASSERT_EQ(header.data_offset, static_cast<std::int64_t>(bytes.size()));
  } catch (const Error& error) {
    ASSERT_NE(std::string(error.what()), "");
  }
}

TEST(NpyHeader, SurvivesTruncationAndEveryChangedByte) {
  for (const std::string descr : {"<f8", "[('a', '<f8'), ('b', '|i1', (2,))]"}) {
    const Bytes whole = make_header(descr, Order::kC, {3, 4});
    for (std::size_t length = 0; length < whole.size(); ++length) {
      const Bytes cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length));
      EXPECT_THROW(
          {
            header_bytes(std::span(cut).first(std::min<std::size_t>(cut.size(), 12)), "x");
            parse_header(cut, "x");
          },
          Error)
          << length;
    }
    for (std::size_t position = 0; position < whole.size(); ++position)
      for (int value = 0; value < 256; ++value) {
        Bytes changed = whole;
        changed[position] = static_cast<std::byte>(value);
        ASSERT_NO_FATAL_FAILURE(parse_damaged(changed)) << position << " = " << value;
      }
  }
}

TEST(NpyHeader, SurvivesManyChanges) {
  std::mt19937 random(3);
  const auto below = [&](std::size_t end) { return std::uniform_int_distribution<std::size_t>(0, end - 1)(random); };
  const Bytes whole = make_header("[('a', '<f8'), ('b', '|i1', (2,))]", Order::kFortran, {3, 4});
  const std::string characters = "()[]{}',:0123456789TrueFals<f |";
  for (int i = 0; i < 20000; ++i) {
    Bytes changed = whole;
    for (std::size_t n = below(6) + 1; n > 0; --n)
      changed[below(changed.size() - 10) + 10] = static_cast<std::byte>(characters[below(characters.size())]);
    ASSERT_NO_FATAL_FAILURE(parse_damaged(changed)) << to_text(changed);
  }
}

TEST(NpyHeader, DtypesHaveElementSizes) {
  const std::vector<std::pair<std::string, std::int64_t>> sizes{{"<f8", 8},
                                                                {">f2", 2},
                                                                {"|b1", 1},
                                                                {"|u1", 1},
                                                                {"<c16", 16},
                                                                {"<f16", 16},
                                                                {"f4", 4},
                                                                {"=i4", 4},
                                                                {"|S12", 12},
                                                                {"<U3", 12},
                                                                {"|V7", 7},
                                                                {"<M8[us]", 8},
                                                                {"<m8[25s]", 8},
                                                                {"[('x', '<i2')]", 2},
                                                                {"[('x', [('y', '<i2'), ('z', '|S3')], 2)]", 10},
                                                                {"[('x', '<f4', (2, 3)), ('', '|V4')]", 28}};
  for (const auto& [descr, bytes] : sizes) EXPECT_EQ(dtype_bytes(descr), bytes) << descr;
}

TEST(NpyLiteral, ReadsTheLiteralsOfHeaders) {
  const Literal literal = parse_literal(" {'a': (1, -2,), \"b\": [True, False], 'c': {}} ");
  ASSERT_EQ(literal.kind, Literal::Kind::kDictionary);
  ASSERT_NE(literal.find("a"), nullptr);
  EXPECT_EQ(literal.find("a")->items.at(1).integer, -2);
  EXPECT_EQ(literal.find("a")->text, "(1, -2,)");
  EXPECT_EQ(literal.find("b")->items.at(0).kind, Literal::Kind::kBool);
  EXPECT_EQ(literal.find("b")->items.at(0).integer, 1);
  EXPECT_EQ(literal.find("c")->kind, Literal::Kind::kDictionary);
  EXPECT_EQ(literal.find("d"), nullptr);
  EXPECT_EQ(parse_literal("9223372036854775807").integer, 9223372036854775807);
  for (const std::string text : {"9223372036854775808", "1 2", "'a", "\"a'", "None", "(1 2)", "(,)", "-", "Tru", "+1"})
    EXPECT_THROW(parse_literal(text), Error) << text;
  EXPECT_NO_THROW(parse_literal(std::string(16, '(') + std::string(16, ')')));
  EXPECT_THROW(parse_literal(std::string(18, '(') + std::string(18, ')')), Error);
}

}  // namespace
