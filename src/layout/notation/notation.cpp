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
/// Maximum number of ranks in a range such as `4:8`. A longer range is probably a typing error and would exhaust the
/// memory.
constexpr std::int64_t kMaxRangeRanks = std::int64_t{1} << 28;

/// Parses the halo of one dimension: `1` or `1:2`.
Halo parse_halo_entry(Scanner& scanner) {
  Halo halo;
  halo.lo = scanner.read_integer("the width of a halo");
  halo.hi = scanner.accept(":") ? scanner.read_integer("the width of a halo") : halo.lo;
  return halo;
}

/// Parses the content of one template dimension, such as `2*d0+1`.
Alignment parse_alignment_entry(Scanner& scanner) {
  constexpr const char* kEntry = "*, a number, or a dimension as in 2*d0+1";
  Alignment result;
  if (scanner.accept("*")) {
    result.kind = Alignment::Kind::kCopies;
    return result;
  }
  bool is_negative = false;
  const char next = scanner.peek();
  if (next == '-') {
    scanner.accept("-");
    is_negative = true;
  }
  if (scanner.peek() >= '0' && scanner.peek() <= '9') {
    const std::int64_t number = scanner.read_integer(kEntry);
    if (!scanner.accept("*")) {
      result.kind = Alignment::Kind::kConstant;
      result.offset = is_negative ? -number : number;
      return result;
    }
    result.scale = number;
  }
  const std::size_t start = scanner.position();
  if (scanner.read_word() != "d") scanner.fail(start, kEntry);
  result.dimension = scanner.read_small_integer("the number of a dimension");
  if (is_negative) result.scale = -result.scale;
  if (scanner.accept("+")) {
    result.offset = scanner.read_integer("an offset");
  } else if (scanner.peek() == '-') {
    result.offset = scanner.read_integer("an offset");
  }
  return result;
}

/// A recursive-descent parser of layouts.
class Parser {
 public:
  explicit Parser(std::string_view text) : scanner_(text, "layout") {}

  Notation parse() {
    Notation result;
    if (!scanner_.at_end() && scanner_.peek() != '(' && scanner_.peek() != '\0') result.shape = parse_shape();
    scanner_.expect(
        "(", result.shape ? "'(' before the distributions" : "a shape such as 8x12, or '(' before the distributions");
    scanner_.read_list_rest("a distribution", [&] { result.distributions.push_back(parse_distribution()); });
    scanner_.skip_blanks();
    while (!scanner_.at_end()) {
      parse_option(result);
      scanner_.skip_blanks();
    }
    return result;
  }

 private:
  Extents parse_shape() {
    constexpr const char* kShape = "a shape such as 8x12, or '(' before the distributions";
    const std::size_t start = scanner_.position();
    if (scanner_.read_word() == "scalar") return {};
    scanner_.rewind_to(start);
    Extents result{scanner_.read_integer(kShape)};
    while (scanner_.peek() == 'x' || scanner_.peek() == 'X') {
      if (!scanner_.accept("x")) scanner_.accept("X");
      result.push_back(scanner_.read_integer("the size of a dimension"));
    }
    return result;
  }

  Extents parse_integers(std::string_view what) {
    Extents result;
    scanner_.read_list(what, [&] { result.push_back(scanner_.read_integer(what)); });
    return result;
  }

  std::vector<int> parse_numbers(std::string_view what) {
    std::vector<int> result;
    const auto read_number = [&] { result.push_back(scanner_.read_small_integer(what)); };
    if (scanner_.peek() == '(') {
      scanner_.read_list(what, read_number);
    } else {
      read_number();
    }
    return result;
  }

  Distribution parse_distribution() {
    if (scanner_.accept("*") || scanner_.accept(":")) return Distribution::collapsed();
    Distribution result = parse_level();
    while (scanner_.accept("/")) result.inner.push_back(parse_level());
    return result;
  }

  Distribution parse_level() {
    Distribution result = parse_named_distribution();
    if (scanner_.accept("@")) result.axes = parse_numbers("a grid axis");
    return result;
  }

  Distribution parse_named_distribution() {
    scanner_.skip_blanks();
    const std::size_t start = scanner_.position();
    const std::string name = scanner_.read_word();
    if (name == "balanced") return Distribution::balanced();
    if (name == "block" || name == "cyclic") {
      const bool is_block = name == "block";
      if (!scanner_.accept("(")) return is_block ? Distribution::blocked() : Distribution::cyclic();
      scanner_.skip_blanks();
      const std::size_t argument = scanner_.position();
      const std::int64_t size = scanner_.read_integer("a block size");
      if (size < 1) scanner_.fail(argument, "a block size of 1 or more");
      scanner_.expect(")", "')' after the block size");
      return is_block ? Distribution::blocked(size) : Distribution::cyclic(size);
    }
    if (name == "gen_block") {
      scanner_.expect("(", "'(' before the block sizes");
      if (scanner_.peek() == '(') {
        Distribution result = Distribution::gen_block(parse_integers("a block size"));
        scanner_.expect(")", "')' after the block sizes");
        return result;
      }
      Extents sizes;
      scanner_.read_list_rest("a block size", [&] { sizes.push_back(scanner_.read_integer("a block size")); });
      return Distribution::gen_block(std::move(sizes));
    }
    if (name == "indirect") return parse_indirect();
    scanner_.fail(start, "*, block, block(m), balanced, cyclic, cyclic(k), gen_block(sizes) or indirect(owners)");
  }

  Distribution parse_indirect() {
    std::vector<OwnerRun> runs;
    bool repeats = false;
    scanner_.read_list("an owner", [&] {
      scanner_.skip_blanks();
      if (repeats) scanner_.fail(scanner_.position(), "')' after ...");
      if (scanner_.accept("...")) {
        repeats = true;
        return;
      }
      OwnerRun run{scanner_.read_integer("an owner such as 2 or 2*5, or ..."), 1};
      if (scanner_.accept("*")) run.count = scanner_.read_integer("how often the owner is repeated");
      runs.push_back(run);
    });
    return Distribution::indirect(std::move(runs), repeats);
  }

  Extents parse_rank_list() {
    Extents result;
    scanner_.read_list("a rank", [&] {
      scanner_.skip_blanks();
      const std::size_t start = scanner_.position();
      const std::int64_t first = scanner_.read_integer("a rank");
      if (!scanner_.accept(":")) {
        result.push_back(first);
        return;
      }
      const std::int64_t end = scanner_.read_integer("the end of a range of ranks");
      if (first < 0 || end <= first || end - first > kMaxRangeRanks)
        scanner_.fail(start, "a range of ranks such as 4:8");
      for (std::int64_t rank = first; rank < end; ++rank) result.push_back(rank);
    });
    return result;
  }

  std::optional<Order> parse_order() {
    scanner_.skip_blanks();
    const std::size_t start = scanner_.position();
    const std::string value = scanner_.read_word();
    if (value != "c" && value != "f") scanner_.fail(start, "C or F, or a list in parentheses");
    return value == "c" ? Order::kC : Order::kFortran;
  }

  void parse_option(Notation& result) {
    const std::size_t start = scanner_.position();
    const std::string name = scanner_.read_word();
    if (!seen_options_.insert(name).second) scanner_.fail(start, kOptions);
    LayoutOptions& options = result.options;
    if (name == "onto") {
      scanner_.skip_blanks();
      result.grid = scanner_.peek() == '(' ? parse_integers("a grid extent")
                                           : Extents{scanner_.read_integer("a grid such as (2, 2)")};
      return;
    }
    static const std::set<std::string> kKnownOptions = {"ranks",   "order", "replicate", "source",   "offset",
                                                        "reverse", "halo",  "periodic",  "template", "align"};
    if (!kKnownOptions.contains(name)) scanner_.fail(start, kOptions);
    scanner_.expect("=", "'='");
    if (name == "ranks" && scanner_.peek() == '(') {
      options.rank_list = parse_rank_list();
    } else if (name == "ranks") {
      result.ranks = parse_order();
    } else if (name == "order" && scanner_.peek() == '(') {
      options.order = parse_numbers("a dimension");
    } else if (name == "order") {
      result.order = parse_order();
    } else if (name == "replicate") {
      options.replicate = parse_numbers("a grid axis");
    } else if (name == "source") {
      options.source = parse_integers("a coordinate");
    } else if (name == "offset") {
      options.offset = parse_integers("an offset");
    } else if (name == "reverse") {
      options.reverse = parse_numbers("a dimension");
    } else if (name == "periodic") {
      options.periodic = parse_numbers("a dimension");
    } else if (name == "halo") {
      scanner_.read_list("a halo", [&] { options.halo.push_back(parse_halo_entry(scanner_)); });
    } else if (name == "template") {
      options.template_shape = parse_shape();
    } else {
      scanner_.read_list("an alignment", [&] { options.align.push_back(parse_alignment_entry(scanner_)); });
    }
  }

  Scanner scanner_;
  std::set<std::string> seen_options_;
};

}  // namespace

Notation parse_notation(std::string_view text) { return Parser(text).parse(); }

std::vector<Alignment> parse_alignment(std::string_view text) {
  Scanner scanner(text, "align");
  std::vector<Alignment> result;
  scanner.read_list("an alignment", [&] { result.push_back(parse_alignment_entry(scanner)); });
  scanner.skip_blanks();
  if (!scanner.at_end()) scanner.fail(scanner.position(), "the end of the text");
  return result;
}

std::vector<Halo> parse_halo(std::string_view text) {
  Scanner scanner(text, "halo");
  std::vector<Halo> result;
  scanner.read_list("a halo", [&] { result.push_back(parse_halo_entry(scanner)); });
  scanner.skip_blanks();
  if (!scanner.at_end()) scanner.fail(scanner.position(), "the end of the text");
  return result;
}

Layout make_layout(const Notation& notation, const Extents& shape) {
  const bool is_distributed =
      std::any_of(notation.distributions.begin(), notation.distributions.end(),
                  [](const Distribution& d) { return d.kind != Distribution::Kind::kCollapsed; });
  if (is_distributed && !notation.grid)
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
