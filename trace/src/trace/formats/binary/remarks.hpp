/// Remarks of a reader, limited in number.
#pragma once

#include <cstddef>
#include <string>

#include "base/text.hpp"
#include "plait/trace.hpp"

namespace plait::trace::binary {

/// Remarks of one kind: the first 8 as texts, the others as a count.
class Remarks {
 public:
  explicit Remarks(std::string others) : others_(std::move(others)) {}

  void add(Description& to, const std::string& remark) {
    if (++count_ <= kMax) return to.notes.push_back(remark);
    const std::string more = base::text(others_, ": ", count_ - kMax, " more");
    if (count_ == kMax + 1) {
      index_ = to.notes.size();
      to.notes.push_back(more);
    } else {
      to.notes[index_] = more;
    }
  }

 private:
  static constexpr std::size_t kMax = 8;

  std::string others_;
  std::size_t count_ = 0;
  std::size_t index_ = 0;
};

}  // namespace plait::trace::binary
