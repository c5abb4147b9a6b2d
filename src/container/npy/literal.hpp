/// The subset of Python literals that .npy headers use.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace plait::container::npy {

struct LiteralEntry;

/// A string (in UTF-8, with its escapes resolved), an integer, True or False, a tuple or list, or a dictionary. `text`
/// is the source text of the literal.
struct Literal {
  enum class Kind : std::uint8_t { kString, kInteger, kBool, kSequence, kDictionary };
  Kind kind = Kind::kInteger;
  std::string string;
  std::int64_t integer = 0;  // 0 and 1 for kBool
  std::vector<Literal> items;
  std::vector<LiteralEntry> entries;
  std::string text;

  const Literal* find(std::string_view key) const;
};

/// A key of a dictionary and its value.
struct LiteralEntry {
  std::string key;
  Literal value;
};

/// Returns true if two literals have the same value, regardless of their spelling.
bool same_value(const Literal& left, const Literal& right);

/// Parses a literal in UTF-8.  errors  kArgument: the text is anything else, or nested deeper than 16.
Literal parse_literal(std::string_view text);

}  // namespace plait::container::npy
