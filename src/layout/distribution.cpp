#include <sstream>

#include "plait/layout.hpp"

namespace plait {

std::string to_string(const Distribution& distribution) {
  std::ostringstream out;
  switch (distribution.kind) {
    case Distribution::Kind::kCollapsed: return "*";
    case Distribution::Kind::kBlock:
      if (distribution.block == 0) return "block";
      out << "block(" << distribution.block << ')';
      return out.str();
    case Distribution::Kind::kBalanced: return "balanced";
    case Distribution::Kind::kCyclic:
      if (distribution.block == 1) return "cyclic";
      out << "cyclic(" << distribution.block << ')';
      return out.str();
    case Distribution::Kind::kGenBlock:
      out << "gen_block(";
      for (std::size_t i = 0; i < distribution.sizes.size(); ++i) out << (i == 0 ? "" : ", ") << distribution.sizes[i];
      out << ')';
      return out.str();
  }
  return "";
}

}  // namespace plait
