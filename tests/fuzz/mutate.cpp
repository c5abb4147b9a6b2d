// Mutations of texts and binary inputs: bits, bytes, parts, words of other inputs, numbers and lines.
#include "mutate.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace plait::fuzz {

namespace {

constexpr std::size_t kMaxInputBytes = 4096;
constexpr std::size_t kMaxInputs = 8192;
constexpr std::size_t kMaxWords = 2048;
// Numbers at the limits of types, in decimal and hexadecimal notation.
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

bool is_in_word(char letter) {
  return (letter >= '0' && letter <= '9') || (letter >= 'A' && letter <= 'Z') || (letter >= 'a' && letter <= 'z') ||
         letter == '_' || letter == '-' || letter == '.';
}

}  // namespace

void Corpus::add(std::string input) {
  input.resize(std::min(input.size(), kMaxInputBytes));
  for (std::size_t begin = 0; begin < input.size() && words_.size() < kMaxWords;) {
    std::size_t end = begin;
    while (end < input.size() && is_in_word(input[end])) ++end;
    if (end > begin && end - begin < 32) words_.push_back(input.substr(begin, end - begin));
    begin = end + 1;
  }
  if (inputs_.size() < kMaxInputs)
    inputs_.push_back(std::move(input));
  else
    inputs_[below(inputs_.size())] = std::move(input);
}

std::string Corpus::make_mutated() {
  std::string text = random_input();
  for (std::size_t changes = std::size_t{1} << below(4); changes > 0; --changes) change(text);
  text.resize(std::min(text.size(), kMaxInputBytes));
  return text;
}

void Corpus::change(std::string& text) {
  const std::size_t position = below(text.size() + 1);
  const std::size_t count = std::min(below(2) == 0 ? 1 + below(4) : 1 + below(64), text.size() - position);
  switch (below(12)) {
    case 0:
      if (position < text.size()) text[position] = static_cast<char>(text[position] ^ (1 << below(8)));
      break;
    case 1:
      if (position < text.size()) text[position] = static_cast<char>(random_());
      break;
    case 2: text.insert(position, 1 + below(4), static_cast<char>(random_())); break;
    case 3: text.erase(position, count); break;
    case 4: text.insert(below(text.size() + 1), text.substr(position, count)); break;
    case 5: {
      const std::string& other = random_input();
      const std::size_t from = below(other.size() + 1);
      text.insert(position, other.substr(from, 1 + below(200)));
      break;
    }
    case 6:
      if (!words_.empty()) text.insert(position, words_[below(words_.size())]);
      break;
    case 7:
      if (!words_.empty()) text.replace(position, count, words_[below(words_.size())]);
      break;
    case 8: text.resize(position); break;
    case 9: {  // overwrite 1, 2, 4 or 8 bytes by a binary number
      const std::uint64_t value = below(2) == 0 ? random_() >> below(64) : std::uint64_t{0} - below(3);
      for (std::size_t i = 0; i < (std::size_t{1} << below(4)) && position + i < text.size(); ++i)
        text[position + i] = static_cast<char>(value >> (8 * i % 64));
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
  for (const std::string& part : lines) text += part;
}

}  // namespace plait::fuzz
