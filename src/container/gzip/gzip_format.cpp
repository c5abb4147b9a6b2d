#include "container/gzip/gzip_format.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "container/foreign.hpp"
#include "container/format_registry.hpp"
#include "container/gzip/gzip_store.hpp"
#include "container/raw/raw_format.hpp"

namespace plait::container::gzip {

namespace {

constexpr std::string_view kSuffix = ".gz";
/// The two bytes of gzip's signature, and the number of the method deflate, the only one that gzip defines.
constexpr std::string_view kSignature = "\x1f\x8b\x08";

/// Rejects names such as `a.npy.gz`, whose header would be mistaken for elements.
void check_gzip_name(const std::string& name) {
  const std::string_view compressed = std::string_view(name).substr(0, name.size() - kSuffix.size());
  const std::string_view format = foreign_by_name(compressed);
  if (format.empty()) return;
  base::throw_argument_error(name, ": the name is that of a gzipped ", format,
                             " file, but only raw elements are read from gzipped files; unpack it "
                             "by gunzip first");
}

/// Checks that a file begins like a gzip file.  errors  kSystem: it does not.
void check_signature(store::Store& file, const Format& format) {
  if (store_has_signature(format, file)) return;
  base::throw_system_error(0, "cannot open ", file.name(), " as gzipped elements: it does not begin like a ",
                           "gzip file; rename it, or write raw:", file.name(), " for elements as they are");
}

class GzipDataset : public Dataset {
 public:
  GzipDataset(Content content, std::shared_ptr<GzipStore> store)
      : Dataset(std::move(content), store), index_(store->index()) {}
  std::string encoded() const override { return index_.to_text(); }

 private:
  const Index& index_;  ///< owned by the store
};

class GzipFile : public OpenedFile, public FileChanges {
 public:
  GzipFile(std::shared_ptr<store::Store> store, std::string name) : store_(std::move(store)), name_(std::move(name)) {}
  FileChanges* changes() override { return this; }
  void check() const override { throw_read_only(name_); }
  std::unique_ptr<Dataset> dataset(const FileOptions& stated) override {
    check_gzip_name(store_->name());
    check_signature(*store_, format());
    Index index = make_index(*store_);
    auto store = std::make_shared<GzipStore>(store_, std::move(index));
    return std::make_unique<GzipDataset>(raw::stated_content(name_, stated), std::move(store));
  }

 private:
  std::shared_ptr<store::Store> store_;
  std::string name_;
};

class Gzip : public Format {
 public:
  Gzip()
      : Format({.suffix = kSuffix,
                .kind = base::text(raw::format().traits().kind, ", packed by gzip"),
                .states_type = false}) {}
  bool has_signature(std::span<const std::byte> header) const override {
    return header.size() >= kSignature.size() &&
           std::equal(kSignature.begin(), kSignature.end(), reinterpret_cast<const char*>(header.data()));
  }
  std::unique_ptr<OpenedFile> open(std::shared_ptr<store::Store> store, const std::string& name) const override {
    return std::make_unique<GzipFile>(std::move(store), name);
  }
  std::unique_ptr<Dataset> attach(Content content, std::shared_ptr<store::Store> store, const std::string& /*name*/,
                                  std::string_view encoded) const override {
    auto inflated = std::make_shared<GzipStore>(std::move(store), Index::parse(encoded));
    return std::make_unique<GzipDataset>(std::move(content), std::move(inflated));
  }
  std::unique_ptr<NewFile> create(const std::string& name, const FileOptions& /*options*/) const override {
    throw_read_only(name);
  }
};

}  // namespace

const Format& format() {
  static const Gzip kFormat;
  return kFormat;
}

}  // namespace plait::container::gzip
