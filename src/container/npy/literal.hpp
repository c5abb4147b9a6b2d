/// The subset of Python literals that .npy headers use.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace plait::container::npy {

struct LiteralEntry;

/// A string (in UTF-8, with its escapes resolved), an integer, True or False, a tuple or list, or a dictionary.
struct Literal {
  enum class Kind : std::uint8_t { kString, kInteger, kBool, kSequence, kDictionary };
  Kind kind = Kind::kInteger;
  std::string string;
  std::int64_t integer = 0;           ///< 0 for False, 1 for True
  std::vector<Literal> items;         ///< of a kSequence
  std::vector<LiteralEntry> entries;  ///< of a kDictionary
  std::string text;                   ///< the source text of the literal

  /// Returns the value of a key of a dictionary; nullptr if there is none.
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
