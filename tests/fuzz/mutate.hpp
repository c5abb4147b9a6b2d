/// The corpus of a fuzzing program: its inputs, and their mutation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace plait::fuzz {

/// Inputs that are worth mutating, and the words that occur in them.
class Corpus {
 public:
  explicit Corpus(std::uint64_t seed) : random_(seed) {}
  /// Adds an input; if the corpus is full, it replaces a random one.
  void add(std::string input);
  std::size_t size() const { return inputs_.size(); }
  const std::string& input(std::size_t i) const { return inputs_[i]; }
  /// Returns one of the inputs with 1, 2, 4 or 8 random changes.
  std::string make_mutated();

 private:
  /// Returns a random number from 0 to bound - 1; 0 if bound is 0.
  std::size_t below(std::size_t bound) { return bound == 0 ? 0 : static_cast<std::size_t>(random_() % bound); }
  const std::string& random_input() { return inputs_[below(inputs_.size())]; }
  /// Makes one random change of any kind; replaces a decimal number; removes, copies, swaps or truncates lines.
  void change(std::string& text);
  void change_number(std::string& text);
  void change_lines(std::string& text);

  std::mt19937_64 random_;
  std::vector<std::string> inputs_;
  std::vector<std::string> words_;
};

}  // namespace plait::fuzz
