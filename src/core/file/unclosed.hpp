/// New files that nobody closes, of which nothing stays: that is told.
#pragma once

#include <functional>
#include <string>

#include "base/process.hpp"

namespace plait::core {

/// A new file under construction, as the process that makes it has it.
///
/// Where it is neither closed nor given up until it is destroyed, or until the program ends, a line on the standard
/// error says so, once: not in forked children, nor where an exception destroys it, which says enough.
class NewFileWatch {
 public:
  NewFileWatch() = default;
  ~NewFileWatch();
  NewFileWatch(const NewFileWatch&) = delete;
  NewFileWatch& operator=(const NewFileWatch&) = delete;

  /// `clear` is called where the program ends first, after the line: it removes what has been made, if it can.
  /// Without memory for it nothing is watched for.
  void begin(const std::string& name, std::function<void()> clear = nullptr) noexcept;
  /// It has been closed, or given up.
  void end() noexcept;

 private:
  friend class NewFiles;
  void tell() const noexcept;

  base::Owner owner_;
  bool begun_ = false;
  bool watching_ = false;  // under the lock of all of them
  std::string name_;
  int exceptions_ = 0;  // that were under way when it began
  std::function<void()> clear_;
};

/// While it lives, what this thread begins and destroys is not told: the caller tells it in its own words, or watches
/// for a whole of which the file is a part.
class Untold {
 public:
  Untold() noexcept { ++depth_; }
  ~Untold() { --depth_; }
  Untold(const Untold&) = delete;
  Untold& operator=(const Untold&) = delete;
  static bool here() noexcept { return depth_ > 0; }

 private:
  static thread_local int depth_;
};

}  // namespace plait::core
