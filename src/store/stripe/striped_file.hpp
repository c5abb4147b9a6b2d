/// A new striped file that appears whole or not at all.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/process.hpp"
#include "store/new_file.hpp"
#include "store/posix/replacement.hpp"
#include "store/stripe/description.hpp"
#include "store/stripe/name.hpp"

namespace plait::store::stripe {

/// The component files have their final names from the start.  A temporary description tells of them before they are
/// made and until its renaming makes the file appear, so that one of a killed process can be cleared away by the next
/// new file of the same name.
class StripedFile : public NewFile {
 public:
  StripedFile(const Name& name, std::int64_t bytes, std::span<const std::byte> head, bool claimed = false);
  ~StripedFile() override;

  Place place() const override;
  void resize(std::int64_t bytes) override;
  void commit() override;
  void discard() noexcept override;

 private:
  base::Owner owner_;
  std::string shown_;
  std::string basename_;  // of the file that the name stands for
  Description description_;
  std::optional<posix::Replacement> file_;  // the description
  std::vector<posix::Descriptor> components_;
};

}  // namespace plait::store::stripe
