#include "container/gzip/container.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "container/foreign.hpp"
#include "container/gzip/store.hpp"
#include "container/raw/container.hpp"
#include "container/registry.hpp"
#include "plait/error.hpp"

namespace plait::container::gzip {

namespace {

constexpr std::string_view kSuffix = ".gz";
/// The signature, and the only method of packing that there is.
constexpr std::string_view kFront = "\x1f\x8b\x08";

/// What is packed may have a header, which would pass for elements.
void check_packed_name(const std::string& name) {
  const std::string_view packed = std::string_view(name).substr(0, name.size() - kSuffix.size());
  const std::string_view format = foreign_by_name(packed);
  if (format.empty()) return;
  throw Error(ErrorKind::kArgument, base::text(name, ": the name is that of a gzipped ", format,
                                               " file, but only raw elements are read from gzipped files; unpack it "
                                               "by gunzip first"));
}

void check_front(store::Store& file, const Container& container) {
  if (begins_as(container, file)) return;
  throw Error(ErrorKind::kSystem,
              base::text("cannot open ", file.name(), " as gzipped elements: it does not begin like a ",
                         "gzip file; rename it, or write raw:", file.name(), " for elements as they are"));
}

class Gzip : public Container {
 public:
  bool tells() const override { return false; }
  std::string_view suffix() const override { return kSuffix; }
  std::string kind() const override { return base::text(raw::container().kind(), ", packed by gzip"); }
  bool begins(std::span<const std::byte> front) const override {
    return front.size() >= kFront.size() &&
           std::equal(kFront.begin(), kFront.end(), reinterpret_cast<const char*>(front.data()));
  }
  std::shared_ptr<store::Store> view(std::shared_ptr<store::Store> store, const std::string& /*path*/,
                                     std::string_view told) const override {
    if (!told.empty()) return std::make_shared<GzipStore>(std::move(store), Index::parse(told));
    check_packed_name(store->name());
    check_front(*store, *this);
    Index index = make_index(*store);
    return std::make_shared<GzipStore>(std::move(store), std::move(index));
  }
  std::string tell(const store::Store& view) const override {
    return dynamic_cast<const GzipStore&>(view).index().to_text();
  }
  Content inspect(store::Store& store, const std::string& path, const FileOptions& options) const override {
    return raw::container().inspect(store, path, options);
  }
  NewContent create(const std::string& path, const FileOptions& /*options*/) const override { refuse_write(path); }
  void check_writable(const std::string& path) const override { refuse_write(path); }
};

}  // namespace

const Container& container() {
  static const Gzip kContainer;
  return kContainer;
}

}  // namespace plait::container::gzip
