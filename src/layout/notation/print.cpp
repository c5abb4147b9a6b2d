// Conversion of layouts to texts.

#include <algorithm>
#include <string>

#include "base/text.hpp"
#include "layout/resolved_layout.hpp"

namespace plait {

using base::append_parts;

namespace {

using Kind = Distribution::Kind;

/// Appends a list such as `(1, 2)`; `print` appends one value.
template <typename Values, typename Print>
void append_list(std::string& out, const Values& values, Print&& print) {
  out += '(';
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i > 0) out += ", ";
    print(values[i]);
  }
  out += ')';
}

void print_level(std::string& out, const Distribution& distribution) {
  switch (distribution.kind) {
    case Kind::kCollapsed: out += '*'; break;
    case Kind::kBlock:
      out += "block";
      if (distribution.block != 0) append_parts(out, '(', distribution.block, ')');
      break;
    case Kind::kBalanced: out += "balanced"; break;
    case Kind::kCyclic:
      out += "cyclic";
      if (distribution.block != 1) append_parts(out, '(', distribution.block, ')');
      break;
    case Kind::kGenBlock:
      out += "gen_block";
      append_list(out, distribution.sizes, [&](std::int64_t size) { base::append(out, size); });
      break;
    case Kind::kIndirect:
      out += "indirect(";
      for (std::size_t i = 0; i < distribution.owners.size(); ++i) {
        append_parts(out, i == 0 ? "" : ", ", distribution.owners[i].owner);
        if (distribution.owners[i].count != 1) append_parts(out, '*', distribution.owners[i].count);
      }
      out += distribution.repeats ? ", ...)" : ")";
      break;
  }
  if (distribution.axes.empty()) return;
  out += '@';
  if (distribution.axes.size() == 1) {
    append_parts(out, distribution.axes[0]);
  } else {
    append_list(out, distribution.axes, [&](int axis) { append_parts(out, axis); });
  }
}

/// Appends a list of ranks such as `(4:8, 0)`, in which runs of at least three ranks are ranges.
void print_ranks(std::string& out, const Extents& ranks) {
  out += '(';
  for (std::size_t i = 0; i < ranks.size();) {
    std::size_t end = i + 1;
    while (end < ranks.size() && ranks[end] == ranks[end - 1] + 1) ++end;
    if (end - i < 3) end = i + 1;
    append_parts(out, i == 0 ? "" : ", ", ranks[i]);
    if (end - i > 1) append_parts(out, ':', ranks[end - 1] + 1);
    i = end;
  }
  out += ')';
}

void print_alignment(std::string& out, const Alignment& alignment) {
  if (alignment.kind == Alignment::Kind::kCopies) {
    out += '*';
  } else if (alignment.kind == Alignment::Kind::kConstant) {
    append_parts(out, alignment.offset);
  } else {
    if (alignment.scale == -1) {
      out += '-';
    } else if (alignment.scale != 1) {
      append_parts(out, alignment.scale, '*');
    }
    append_parts(out, 'd', alignment.dimension);
    if (alignment.offset > 0) out += '+';
    if (alignment.offset != 0) append_parts(out, alignment.offset);
  }
}

void print_halo(std::string& out, const Halo& halo) {
  append_parts(out, halo.lo);
  if (halo.hi != halo.lo) append_parts(out, ':', halo.hi);
}

}  // namespace

std::string to_string(const Distribution& distribution) {
  std::string out;
  print_level(out, distribution);
  for (const Distribution& inner : distribution.inner) {
    out += '/';
    print_level(out, inner);
  }
  return out;
}

std::string shape_to_string(const Extents& shape) {
  if (shape.empty()) return "scalar";
  std::string out;
  for (std::size_t d = 0; d < shape.size(); ++d) append_parts(out, d == 0 ? "" : "x", shape[d]);
  return out;
}

std::string spelling(const Layout& layout) {
  std::string out;
  const LayoutOptions& options = layout.options();
  const auto append_number = [&](std::int64_t value) { base::append(out, value); };
  append_parts(out, shape_to_string(layout.shape()), ' ');
  append_list(out, layout.distributions(), [&](const Distribution& d) { out += to_string(d); });
  if (!layout.grid().empty()) {
    out += " onto ";
    append_list(out, layout.grid(), append_number);
  }
  if (!options.rank_list.empty()) {
    out += " ranks=";
    print_ranks(out, options.rank_list);
  } else if (layout.ranks() == Order::kFortran) {
    out += " ranks=F";
  }
  const auto append_option = [&](const char* name, const auto& values, auto&& print) {
    if (values.empty()) return;
    append_parts(out, ' ', name, '=');
    append_list(out, values, print);
  };
  append_option("replicate", options.replicate, append_number);
  append_option("source", options.source, append_number);
  append_option("offset", options.offset, append_number);
  append_option("reverse", options.reverse, append_number);
  const std::vector<int>& order = layout.order();
  if (order.size() > 1 && std::is_sorted(order.rbegin(), order.rend())) {
    out += " order=F";
  } else if (!std::is_sorted(order.begin(), order.end())) {
    append_option("order", order, append_number);
  }
  append_option("halo", options.halo, [&](const Halo& halo) { print_halo(out, halo); });
  append_option("periodic", options.periodic, append_number);
  if (!options.align.empty()) {
    append_parts(out, " template=", shape_to_string(options.template_shape));
    append_option("align", options.align, [&](const Alignment& alignment) { print_alignment(out, alignment); });
  }
  return out;
}

std::string to_string(const Layout& layout) { return spelling(layout.normal_form()); }

}  // namespace plait
