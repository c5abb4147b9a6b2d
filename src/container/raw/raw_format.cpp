#include "container/raw/raw_format.hpp"

#include <memory>
#include <utility>

#include "base/errors.hpp"
#include "container/array_type.hpp"

namespace plait::container::raw {

namespace {

class RawFile : public OpenedFile {
 public:
  RawFile(std::shared_ptr<store::Store> store, std::string name) : store_(std::move(store)), name_(std::move(name)) {}
  std::unique_ptr<Dataset> dataset(const FileOptions& stated) override {
    return std::make_unique<Dataset>(stated_content(name_, stated), store_);
  }

 private:
  std::shared_ptr<store::Store> store_;
  std::string name_;
};

/// A file of elements without a header. It has no signature, so that only the lack of any other format leads to it.
class Raw : public Format {
 public:
  Raw() : Format({.kind = "raw elements", .states_type = false}) {}
  bool has_signature(std::span<const std::byte> /*header*/) const override { return false; }
  std::unique_ptr<OpenedFile> open(std::shared_ptr<store::Store> store, const std::string& name) const override {
    return std::make_unique<RawFile>(std::move(store), name);
  }
  std::unique_ptr<NewFile> create(const std::string& name, const FileOptions& options) const override {
    NewContent content;
    content.type = make_array_type(options, name, /*is_new=*/false);
    if (options.offset != 0)
      base::throw_argument_error(name, ": offset=", options.offset, " in mode w; a new file begins with its array");
    return std::make_unique<NewFile>(std::move(content));
  }
};

}  // namespace

Content stated_content(const std::string& name, const FileOptions& options) {
  Content content{make_array_type(options, name, /*is_new=*/false), options.offset};
  if (options.offset < 0)
    base::throw_argument_error(name, ": offset=", options.offset, " is negative; give a number of bytes");
  return content;
}

const Format& format() {
  static const Raw kFormat;
  return kFormat;
}

}  // namespace plait::container::raw
