#include "layout/notation.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <string>

#include "base/text.hpp"
#include "plait/error.hpp"

namespace plait::layout {

namespace {

/// A recursive-descent parser; the position is where the next unread character stands.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Notation parse() {
    Notation result;
    skip();
    if (!at_end() && text_[position_] != '(') result.shape = shape();
    expect('(',
           result.shape ? "'(' before the distributions" : "a shape such as 8x12, or '(' before the distributions");
    skip();
    if (!accept(')')) {
      do {
        result.distributions.push_back(distribution());
      } while (accept(','));
      expect(')', "',' or ')' behind a distribution");
    }
    skip();
    while (!at_end()) {
      option(result);
      skip();
    }
    return result;
  }

 private:
  void skip() {
    while (position_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[position_])) != 0) ++position_;
  }
  bool at_end() const { return position_ >= text_.size(); }

  bool accept(char wanted) {
    skip();
    if (at_end() || text_[position_] != wanted) return false;
    ++position_;
    return true;
  }

  void expect(char wanted, std::string_view what) {
    if (!accept(wanted)) fail(position_, what);
  }

  [[noreturn]] void fail(std::size_t position, std::string_view expected) const {
    std::string found = "the end of the text";
    if (position < text_.size()) {
      std::size_t end = position;
      while (end < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[end])) != 0 || text_[end] == '_'))
        ++end;
      found = base::text('"', text_.substr(position, std::max<std::size_t>(end - position, 1)), '"');
    }
    throw Error(ErrorKind::kArgument, base::text("layout \"", text_, "\", position ", position + 1, ": found ", found,
                                                 ", expected ", expected));
  }

  std::string word() {
    skip();
    std::string result;
    while (!at_end() && (std::isalpha(static_cast<unsigned char>(text_[position_])) != 0 || text_[position_] == '_'))
      result += static_cast<char>(std::tolower(static_cast<unsigned char>(text_[position_++])));
    return result;
  }

  std::int64_t integer(std::string_view what) {
    skip();
    std::int64_t value = 0;
    const char* first = text_.data() + position_;
    const auto [last, error] = std::from_chars(first, text_.data() + text_.size(), value);
    if (error == std::errc::result_out_of_range) fail(position_, "a number below 2^63");
    if (error != std::errc()) fail(position_, what);
    position_ += static_cast<std::size_t>(last - first);
    return value;
  }

  Extents shape() {
    const std::size_t start = position_;
    if (word() == "scalar") return {};
    position_ = start;
    Extents result{integer("a shape such as 8x12, or '(' before the distributions")};
    while (position_ < text_.size() && (text_[position_] == 'x' || text_[position_] == 'X')) {
      ++position_;
      result.push_back(integer("the size of a dimension"));
    }
    return result;
  }

  /// `(4, 8)`; the opening parenthesis is read already.
  Extents integers(std::string_view what) {
    Extents result;
    if (accept(')')) return result;
    do {
      result.push_back(integer(what));
    } while (accept(','));
    expect(')', "',' or ')' behind a number");
    return result;
  }

  Distribution distribution() {
    if (accept('*')) return Distribution::collapsed();
    skip();
    const std::size_t start = position_;
    const std::string name = word();
    if (name == "balanced") return Distribution::balanced();
    if (name == "block" || name == "cyclic") {
      const bool block = name == "block";
      if (!accept('(')) return block ? Distribution::block_of() : Distribution::cyclic();
      skip();
      const std::size_t argument = position_;
      const std::int64_t size = integer("a block size");
      if (size < 1) fail(argument, "a block size of 1 or more");
      expect(')', "')' behind the block size");
      return block ? Distribution::block_of(size) : Distribution::cyclic(size);
    }
    if (name == "gen_block") {
      expect('(', "'(' before the block sizes");
      if (!accept('(')) return Distribution::gen_block(integers("a block size"));
      Distribution result = Distribution::gen_block(integers("a block size"));
      expect(')', "')' behind the block sizes");
      return result;
    }
    fail(start, "*, block, block(m), balanced, cyclic, cyclic(k) or gen_block(sizes)");
  }

  void option(Notation& result) {
    const std::size_t start = position_;
    const std::string name = word();
    if (name == "onto" && !result.grid) {
      skip();
      result.grid = accept('(') ? integers("a grid extent") : Extents{integer("a grid such as (2, 2)")};
      return;
    }
    std::optional<Order>* target = name == "ranks" && !result.ranks   ? &result.ranks
                                   : name == "order" && !result.order ? &result.order
                                                                      : nullptr;
    if (target == nullptr) fail(start, "onto (grid), ranks=C, ranks=F, order=C or order=F, each at most once");
    expect('=', "'='");
    skip();
    const std::size_t value_start = position_;
    const std::string value = word();
    if (value != "c" && value != "f") fail(value_start, "C or F");
    *target = value == "c" ? Order::kC : Order::kFortran;
  }

  std::string_view text_;
  std::size_t position_ = 0;
};

}  // namespace

Notation parse_notation(std::string_view text) { return Parser(text).parse(); }

Layout make_layout(const Notation& notation, const Extents& shape) {
  const bool dealt = std::any_of(notation.distributions.begin(), notation.distributions.end(),
                                 [](const Distribution& d) { return d.kind != Distribution::Kind::kCollapsed; });
  if (dealt && !notation.grid)
    throw Error(ErrorKind::kArgument, "the layout deals dimensions but names no grid; add one, as in \"onto (2, 2)\"");
  return Layout(shape, notation.distributions, notation.grid.value_or(Extents{}), notation.ranks.value_or(Order::kC),
                notation.order.value_or(Order::kC));
}

}  // namespace plait::layout

namespace plait {

Layout Layout::parse(std::string_view text) {
  const layout::Notation notation = layout::parse_notation(text);
  if (!notation.shape)
    throw Error(ErrorKind::kArgument,
                base::text("layout \"", text, "\": no shape; put it in front, as in \"8x12 (block, *) onto (4)\""));
  return layout::make_layout(notation, *notation.shape);
}

Layout Layout::parse(std::string_view text, const Extents& shape) {
  const layout::Notation notation = layout::parse_notation(text);
  if (notation.shape && *notation.shape != shape)
    throw Error(ErrorKind::kArgument,
                base::text("layout \"", text, "\" is of an array ", shape_to_string(*notation.shape),
                           ", but the array is ", shape_to_string(shape)));
  return layout::make_layout(notation, shape);
}

}  // namespace plait
