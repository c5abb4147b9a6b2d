/// Reads what stands in a text.
#pragma once

#include <ios>
#include <locale>
#include <sstream>
#include <string>
#include <utility>

namespace plait::base {

/// Words and numbers one behind the other, by `>>` and std::getline.  A stream of the standard library would take a
/// lack of memory for the end of the text, and what the program's own locale puts between digits for a part of numbers.
/// errors  std::bad_alloc.
class TextReader : public std::istringstream {
 public:
  explicit TextReader(std::string text) : std::istringstream(std::move(text)) {
    imbue(std::locale::classic());
    exceptions(std::ios::badbit);
  }
};

}  // namespace plait::base
