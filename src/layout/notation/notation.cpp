// The parser of layouts. In its grammar, * after a part means any number of repetitions, and [ ] an optional part:
//
//   layout        [shape] ( distribution, ... ) option *
//   shape         scalar, or sizes separated by x
//   distribution  * or :, or level / level / ...
//   level         block, block(m), balanced, cyclic, cyclic(k), gen_block(sizes) or indirect(owners), [@axes]
//   option        onto grid, or name=value
//
// Example: `8x12 (block, cyclic(3)@1) onto (2, 2) ranks=F` has the shape (8, 12), two distributions, of which the
// second one names its axis, and two options.

#include "layout/notation/notation.hpp"

#include <algorithm>
#include <set>
#include <string>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "layout/notation/scanner.hpp"

namespace plait::layout {

namespace {

constexpr const char* kOptions =
    "onto (grid), ranks=, order=, replicate=, source=, offset=, reverse=, halo=, periodic=, template= or align=, each "
    "at most once";
/// Maximum length of a range of ranks. A longer range is probably a typing error and would exhaust the memory.
constexpr std::int64_t kMaxListed = std::int64_t{1} << 28;

Halo halo_entry(Scanner& scanner) {
  Halo halo;
  halo.lo = scanner.integer("the width of a halo");
  halo.hi = scanner.accept(":") ? scanner.integer("the width of a halo") : halo.lo;
  return halo;
}

Alignment alignment_entry(Scanner& scanner) {
  constexpr const char* kEntry = "*, a number, or a dimension as in 2*d0+1";
  Alignment result;
  if (scanner.accept("*")) {
    result.kind = Alignment::Kind::kCopies;
    return result;
  }
  bool negative = false;
  const char next = scanner.peek();
  if (next == '-') {
    scanner.accept("-");
    negative = true;
  }
  if (scanner.peek() >= '0' && scanner.peek() <= '9') {
    const std::int64_t number = scanner.integer(kEntry);
    if (!scanner.accept("*")) {
      result.kind = Alignment::Kind::kConstant;
      result.offset = negative ? -number : number;
      return result;
    }
    result.scale = number;
  }
  const std::size_t start = scanner.position();
  if (scanner.word() != "d") scanner.fail(start, kEntry);
  result.dimension = scanner.small_integer("the number of a dimension");
  if (negative) result.scale = -result.scale;
  if (scanner.accept("+")) {
    result.offset = scanner.integer("an offset");
  } else if (scanner.peek() == '-') {
    result.offset = scanner.integer("an offset");
  }
  return result;
}

/// A recursive-descent parser of layouts.
class Parser {
 public:
  explicit Parser(std::string_view text) : in_(text, "layout") {}

  Notation parse() {
    Notation result;
    if (!in_.at_end() && in_.peek() != '(' && in_.peek() != '\0') result.shape = shape();
    in_.expect("(",
               result.shape ? "'(' before the distributions" : "a shape such as 8x12, or '(' before the distributions");
    in_.rest_of_list("a distribution", [&] { result.distributions.push_back(distribution()); });
    in_.skip();
    while (!in_.at_end()) {
      option(result);
      in_.skip();
    }
    return result;
  }

 private:
  Extents shape() {
    constexpr const char* kShape = "a shape such as 8x12, or '(' before the distributions";
    const std::size_t start = in_.position();
    if (in_.word() == "scalar") return {};
    in_.back_to(start);
    Extents result{in_.integer(kShape)};
    while (in_.peek() == 'x' || in_.peek() == 'X') {
      if (!in_.accept("x")) in_.accept("X");
      result.push_back(in_.integer("the size of a dimension"));
    }
    return result;
  }

  Extents integers(std::string_view what) {
    Extents result;
    in_.list(what, [&] { result.push_back(in_.integer(what)); });
    return result;
  }

  std::vector<int> numbers(std::string_view what) {
    std::vector<int> result;
    const auto read_number = [&] { result.push_back(in_.small_integer(what)); };
    if (in_.peek() == '(') {
      in_.list(what, read_number);
    } else {
      read_number();
    }
    return result;
  }

  Distribution distribution() {
    if (in_.accept("*") || in_.accept(":")) return Distribution::collapsed();
    Distribution result = level();
    while (in_.accept("/")) result.inner.push_back(level());
    return result;
  }

  Distribution level() {
    Distribution result = named();
    if (in_.accept("@")) result.axes = numbers("a grid axis");
    return result;
  }

  Distribution named() {
    in_.skip();
    const std::size_t start = in_.position();
    const std::string name = in_.word();
    if (name == "balanced") return Distribution::balanced();
    if (name == "block" || name == "cyclic") {
      const bool block = name == "block";
      if (!in_.accept("(")) return block ? Distribution::blocked() : Distribution::cyclic();
      in_.skip();
      const std::size_t argument = in_.position();
      const std::int64_t size = in_.integer("a block size");
      if (size < 1) in_.fail(argument, "a block size of 1 or more");
      in_.expect(")", "')' after the block size");
      return block ? Distribution::blocked(size) : Distribution::cyclic(size);
    }
    if (name == "gen_block") {
      in_.expect("(", "'(' before the block sizes");
      if (in_.peek() == '(') {
        Distribution result = Distribution::gen_block(integers("a block size"));
        in_.expect(")", "')' after the block sizes");
        return result;
      }
      Extents sizes;
      in_.rest_of_list("a block size", [&] { sizes.push_back(in_.integer("a block size")); });
      return Distribution::gen_block(std::move(sizes));
    }
    if (name == "indirect") return indirect();
    in_.fail(start, "*, block, block(m), balanced, cyclic, cyclic(k), gen_block(sizes) or indirect(owners)");
  }

  Distribution indirect() {
    std::vector<OwnerRun> runs;
    bool repeats = false;
    in_.list("an owner", [&] {
      in_.skip();
      if (repeats) in_.fail(in_.position(), "')' after ...");
      if (in_.accept("...")) {
        repeats = true;
        return;
      }
      OwnerRun run{in_.integer("an owner such as 2 or 2*5, or ..."), 1};
      if (in_.accept("*")) run.count = in_.integer("how often the owner is repeated");
      runs.push_back(run);
    });
    return Distribution::indirect(std::move(runs), repeats);
  }

  Extents rank_list() {
    Extents result;
    in_.list("a rank", [&] {
      in_.skip();
      const std::size_t start = in_.position();
      const std::int64_t first = in_.integer("a rank");
      if (!in_.accept(":")) {
        result.push_back(first);
        return;
      }
      const std::int64_t end = in_.integer("the end of a range of ranks");
      if (first < 0 || end <= first || end - first > kMaxListed) in_.fail(start, "a range of ranks such as 4:8");
      for (std::int64_t rank = first; rank < end; ++rank) result.push_back(rank);
    });
    return result;
  }

  std::optional<Order> c_or_fortran() {
    in_.skip();
    const std::size_t start = in_.position();
    const std::string value = in_.word();
    if (value != "c" && value != "f") in_.fail(start, "C or F, or a list in parentheses");
    return value == "c" ? Order::kC : Order::kFortran;
  }

  void option(Notation& result) {
    const std::size_t start = in_.position();
    const std::string name = in_.word();
    if (!seen_.insert(name).second) in_.fail(start, kOptions);
    LayoutOptions& options = result.options;
    if (name == "onto") {
      in_.skip();
      result.grid = in_.peek() == '(' ? integers("a grid extent") : Extents{in_.integer("a grid such as (2, 2)")};
      return;
    }
    static const std::set<std::string> known = {"ranks",   "order", "replicate", "source",   "offset",
                                                "reverse", "halo",  "periodic",  "template", "align"};
    if (!known.contains(name)) in_.fail(start, kOptions);
    in_.expect("=", "'='");
    if (name == "ranks" && in_.peek() == '(') {
      options.rank_list = rank_list();
    } else if (name == "ranks") {
      result.ranks = c_or_fortran();
    } else if (name == "order" && in_.peek() == '(') {
      options.order = numbers("a dimension");
    } else if (name == "order") {
      result.order = c_or_fortran();
    } else if (name == "replicate") {
      options.replicate = numbers("a grid axis");
    } else if (name == "source") {
      options.source = integers("a coordinate");
    } else if (name == "offset") {
      options.offset = integers("an offset");
    } else if (name == "reverse") {
      options.reverse = numbers("a dimension");
    } else if (name == "periodic") {
      options.periodic = numbers("a dimension");
    } else if (name == "halo") {
      in_.list("a halo", [&] { options.halo.push_back(halo_entry(in_)); });
    } else if (name == "template") {
      options.template_shape = shape();
    } else {
      in_.list("an alignment", [&] { options.align.push_back(alignment_entry(in_)); });
    }
  }

  Scanner in_;
  std::set<std::string> seen_;
};

}  // namespace

Notation parse_notation(std::string_view text) { return Parser(text).parse(); }

std::vector<Alignment> parse_alignment(std::string_view text) {
  Scanner in(text, "align");
  std::vector<Alignment> result;
  in.list("an alignment", [&] { result.push_back(alignment_entry(in)); });
  in.skip();
  if (!in.at_end()) in.fail(in.position(), "the end of the text");
  return result;
}

std::vector<Halo> parse_halo(std::string_view text) {
  Scanner in(text, "halo");
  std::vector<Halo> result;
  in.list("a halo", [&] { result.push_back(halo_entry(in)); });
  in.skip();
  if (!in.at_end()) in.fail(in.position(), "the end of the text");
  return result;
}

Layout make_layout(const Notation& notation, const Extents& shape) {
  const bool distributed = std::any_of(notation.distributions.begin(), notation.distributions.end(),
                                       [](const Distribution& d) { return d.kind != Distribution::Kind::kCollapsed; });
  if (distributed && !notation.grid)
    base::throw_argument_error("the layout distributes dimensions but has no grid; add one, as in \"onto (2, 2)\"");
  return Layout(shape, notation.distributions, notation.grid.value_or(Extents{}), notation.ranks.value_or(Order::kC),
                notation.order.value_or(Order::kC), notation.options);
}

}  // namespace plait::layout

namespace plait {

Layout Layout::parse(std::string_view text) {
  const layout::Notation notation = layout::parse_notation(text);
  if (!notation.shape)
    base::throw_argument_error("layout \"", text, "\": no shape; put it in front, as in \"8x12 (block, *) onto (4)\"");
  return layout::make_layout(notation, *notation.shape);
}

Layout Layout::parse(std::string_view text, const Extents& shape) {
  const layout::Notation notation = layout::parse_notation(text);
  if (notation.shape && *notation.shape != shape)
    base::throw_argument_error("layout \"", text, "\" is of an array ", shape_to_string(*notation.shape),
                               ", but the array is ", shape_to_string(shape), "; give the shape once");
  return layout::make_layout(notation, shape);
}

}  // namespace plait
