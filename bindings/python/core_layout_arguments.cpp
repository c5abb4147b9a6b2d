// The arguments of plait.Layout.
//
// The text of the distributions may contain the other arguments as well. It is parsed first; then each argument is
// merged into the result. An argument that occurs in both must be the same.
// Example: Layout((8, 12), "(block, *) onto (2) order=F", order="F") is valid. With order="C" it raises an error that
// names the text and the argument.

#include "core_layout_arguments.hpp"

#include "base/errors.hpp"
#include "layout/notation/notation.hpp"

namespace plait::python {

namespace {

/// Merges the text with the arguments. A property that both contain must be the same in both.
class Merger {
 public:
  explicit Merger(const std::string& text) : text_(text) {}

  template <typename Value>
  void set(std::optional<Value>& target, const std::optional<Value>& value, const char* what) const {
    if (!value) return;
    if (target && *target != *value) throw_contradiction(what);
    target = value;
  }
  template <typename Value>
  void set(std::vector<Value>& target, const std::optional<std::vector<Value>>& value, const char* what) const {
    if (!value) return;
    if (!target.empty() && target != *value) throw_contradiction(what);
    target = *value;
  }

 private:
  [[noreturn]] void throw_contradiction(const char* what) const {
    base::throw_argument_error(std::string(what) + " is given twice and differs: in the text \"" + text_ +
                               "\" and as an argument; leave one of them out");
  }
  const std::string& text_;
};

/// Returns the distributions of all dimensions as one text: "(block, *)" for ("block", None).
std::string join_texts(const DistributionText& dist) {
  if (const auto* whole = std::get_if<std::string>(&dist)) return *whole;
  std::string text;
  for (const auto& part : std::get<1>(dist)) text += (text.empty() ? "" : ", ") + part.value_or("*");
  return '(' + text + ')';
}

std::optional<std::vector<Halo>> to_halos(const std::optional<std::vector<HaloWidth>>& widths) {
  if (!widths) return std::nullopt;
  std::vector<Halo> result;
  for (const HaloWidth& width : *widths) {
    if (const auto* both = std::get_if<std::int64_t>(&width)) {
      result.push_back({*both, *both});
    } else {
      const auto& [lo, hi] = std::get<std::pair<std::int64_t, std::int64_t>>(width);
      result.push_back({lo, hi});
    }
  }
  return result;
}

std::optional<std::vector<Alignment>> to_alignments(const std::optional<AlignmentText>& alignments) {
  if (!alignments) return std::nullopt;
  if (const auto* text = std::get_if<std::string>(&*alignments)) return layout::parse_alignment(*text);
  std::string text;
  for (const auto& part : std::get<1>(*alignments)) {
    const auto* number = std::get_if<std::int64_t>(&part);
    text += (text.empty() ? "" : ", ") + (number != nullptr ? std::to_string(*number) : std::get<std::string>(part));
  }
  return layout::parse_alignment('(' + text + ')');
}

}  // namespace

Extents to_extents(const NumberOrNumbers& extents) {
  const auto* number = std::get_if<std::int64_t>(&extents);
  return number != nullptr ? Extents{*number} : std::get<Extents>(extents);
}

Order parse_order(const std::string& name, const char* what, bool or_list) {
  if (name == "C" || name == "c") return Order::kC;
  if (name == "F" || name == "f") return Order::kFortran;
  const char* instead =
      or_list ? "\" is not known; use \"C\" or \"F\", or a list of numbers" : "\" is not known; use \"C\" or \"F\"";
  base::throw_argument_error(std::string(what) + "=\"" + name + instead);
}

Layout make_layout(const Extents& shape, const DistributionText& dist, const Keywords& keywords) {
  const std::string text = join_texts(dist);
  layout::Notation notation = layout::parse_notation(text);
  const Merger merge(text);
  merge.set(notation.shape, std::optional(shape), "the shape");
  if (keywords.grid) merge.set(notation.grid, std::optional(to_extents(*keywords.grid)), "the grid");
  if (keywords.ranks && std::holds_alternative<std::string>(*keywords.ranks)) {
    merge.set(notation.ranks, std::optional(parse_order(std::get<std::string>(*keywords.ranks), "ranks")), "ranks");
  } else if (keywords.ranks) {
    merge.set(notation.options.rank_list, std::optional(std::get<Extents>(*keywords.ranks)), "ranks");
  }
  if (keywords.order && std::holds_alternative<std::string>(*keywords.order)) {
    merge.set(notation.order, std::optional(parse_order(std::get<std::string>(*keywords.order), "order")), "order");
  } else if (keywords.order) {
    const Extents& numbers = std::get<Extents>(*keywords.order);
    merge.set(notation.options.order, std::optional(std::vector<int>(numbers.begin(), numbers.end())), "order");
  }
  merge.set(notation.options.replicate, keywords.replicate, "replicate");
  merge.set(notation.options.source, keywords.source, "source");
  merge.set(notation.options.offset, keywords.offset, "offset");
  merge.set(notation.options.reverse, keywords.reverse, "reverse");
  merge.set(notation.options.halo, to_halos(keywords.halo), "halo");
  merge.set(notation.options.periodic, keywords.periodic, "periodic");
  merge.set(notation.options.template_shape, keywords.template_shape, "template");
  merge.set(notation.options.align, to_alignments(keywords.align), "align");
  return layout::make_layout(notation, shape);
}

}  // namespace plait::python
