/// Parses texts.
#pragma once

#include <ios>
#include <locale>
#include <sstream>
#include <string>
#include <utility>

namespace plait::base {

/// Reads words and numbers one after the other, by `>>` and std::getline. A stream of the standard library would
/// treat a lack of memory as the end of the text, and accept the digit separators of the program's locale in numbers.
/// errors  std::bad_alloc.
class TextReader : public std::istringstream {
 public:
  explicit TextReader(std::string text) : std::istringstream(std::move(text)) {
    imbue(std::locale::classic());
    exceptions(std::ios::badbit);
  }
};

}  // namespace plait::base
