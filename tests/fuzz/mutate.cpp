#include "mutate.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace plait::fuzz {

namespace {

constexpr std::size_t kLongest = 4096;
constexpr std::size_t kMaxInputs = 8192;
constexpr std::size_t kMaxMessage = 2048;
constexpr std::array<std::string_view, 20> kNumbers{"0",
                                                    "1",
                                                    "-1",
                                                    "7f",
                                                    "80",
                                                    "ff",
                                                    "255",
                                                    "256",
                                                    "65536",
                                                    "2147483647",
                                                    "4294967295",
                                                    "4294967296",
                                                    "FFFFFFFF",
                                                    "7FFFFFFFFFFFFFFF",
                                                    "8000000000000000",
                                                    "9223372036854775807",
                                                    "-9223372036854775808",
                                                    "18446744073709551615",
                                                    "1e300",
                                                    ""};

bool is_word(char letter) {
  return (letter >= '0' && letter <= '9') || (letter >= 'A' && letter <= 'Z') || (letter >= 'a' && letter <= 'z') ||
         letter == '_' || letter == '-' || letter == '.';
}

}  // namespace

void Corpus::add(std::string input) {
  input.resize(std::min(input.size(), kLongest));
  for (std::size_t at = 0; at < input.size() && words_.size() < kMaxMessage;) {
    std::size_t end = at;
    while (end < input.size() && is_word(input[end])) ++end;
    if (end > at && end - at < 32) words_.push_back(input.substr(at, end - at));
    at = end + 1;
  }
  if (inputs_.size() < kMaxInputs)
    inputs_.push_back(std::move(input));
  else
    inputs_[below(inputs_.size())] = std::move(input);
}

std::string Corpus::mutated() {
  std::string text = some();
  for (std::size_t changes = std::size_t{1} << below(4); changes > 0; --changes) change(text);
  text.resize(std::min(text.size(), kLongest));
  return text;
}

void Corpus::change(std::string& text) {
  const std::size_t at = below(text.size() + 1);
  const std::size_t count = std::min(below(2) == 0 ? 1 + below(4) : 1 + below(64), text.size() - at);
  switch (below(12)) {
    case 0:
      if (at < text.size()) text[at] = static_cast<char>(text[at] ^ (1 << below(8)));
      break;
    case 1:
      if (at < text.size()) text[at] = static_cast<char>(random_());
      break;
    case 2: text.insert(at, 1 + below(4), static_cast<char>(random_())); break;
    case 3: text.erase(at, count); break;
    case 4: text.insert(below(text.size() + 1), text.substr(at, count)); break;
    case 5: {
      const std::string& other = some();
      const std::size_t from = below(other.size() + 1);
      text.insert(at, other.substr(from, 1 + below(200)));
      break;
    }
    case 6:
      if (!words_.empty()) text.insert(at, words_[below(words_.size())]);
      break;
    case 7:
      if (!words_.empty()) text.replace(at, count, words_[below(words_.size())]);
      break;
    case 8: text.resize(at); break;
    case 9: {  // overwrite 1, 2, 4 or 8 bytes by a binary number
      const std::uint64_t value = below(2) == 0 ? random_() >> below(64) : std::uint64_t{0} - below(3);
      for (std::size_t i = 0; i < (std::size_t{1} << below(4)) && at + i < text.size(); ++i)
        text[at + i] = static_cast<char>(value >> (8 * i % 64));
      break;
    }
    case 10: change_number(text); break;
    default: change_lines(text); break;
  }
}

void Corpus::change_number(std::string& text) {
  const auto digit = [](char letter) { return letter >= '0' && letter <= '9'; };
  std::size_t begin = text.find_first_of("0123456789", below(text.size() + 1));
  if (begin == std::string::npos) return;
  std::size_t end = begin;
  while (end < text.size() && digit(text[end])) ++end;
  text.replace(begin, end - begin, kNumbers[below(kNumbers.size())]);
}

void Corpus::change_lines(std::string& text) {
  std::vector<std::string> lines(1);
  for (const char letter : text) {
    lines.back() += letter;
    if (letter == '\n') lines.emplace_back();
  }
  const std::size_t line = below(lines.size());
  const std::size_t other = below(lines.size());
  switch (below(4)) {
    case 0: lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(line)); break;
    case 1: lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(line), std::string(lines[other])); break;
    case 2: std::swap(lines[line], lines[other]); break;
    default: lines.resize(line + 1); break;
  }
  text.clear();
  for (const std::string& each : lines) text += each;
}

}  // namespace plait::fuzz
