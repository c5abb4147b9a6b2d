#include "container/npy/npy_format.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "container/array_type.hpp"
#include "container/npy/npy_dataset.hpp"
#include "container/npy/npy_header.hpp"

namespace plait::container::npy {

namespace {

using base::text;

constexpr std::string_view kSignature = "\x93NUMPY";

Content to_content(Header header) {
  return {{std::move(header.shape), std::move(header.descr), header.element_bytes, header.order}, header.data_offset};
}

void reject_several(const std::string& name, const FileOptions& options) {
  if (options.several)
    base::throw_argument_error(
        name, ": a .npy file holds one array, but the file is opened for several; use a name without that ending");
}

class NpyFile : public OpenedFile {
 public:
  NpyFile(std::shared_ptr<store::Store> store, std::string name) : store_(std::move(store)), name_(std::move(name)) {}
  std::unique_ptr<Dataset> dataset(const FileOptions& stated) override {
    reject_several(name_, stated);
    return std::make_unique<NpyDataset>(to_content(read_header(*store_, name_, header())), store_, name_);
  }

 private:
  std::shared_ptr<store::Store> store_;
  std::string name_;
};

class Npy : public Format {
 public:
  Npy() : Format({.name = "npy", .suffix = ".npy", .kind = "a .npy file"}) {}
  bool has_signature(std::span<const std::byte> header) const override {
    return header.size() >= kSignature.size() &&
           std::equal(kSignature.begin(), kSignature.end(), reinterpret_cast<const char*>(header.data()));
  }
  std::unique_ptr<OpenedFile> open(std::shared_ptr<store::Store> store, const std::string& name) const override {
    return std::make_unique<NpyFile>(std::move(store), name);
  }
  std::unique_ptr<container::Dataset> attach(Content content, std::shared_ptr<store::Store> store,
                                             const std::string& name, std::string_view /*encoded*/) const override {
    return std::make_unique<NpyDataset>(std::move(content), std::move(store), name);
  }
  std::unique_ptr<NewFile> create(const std::string& name, const FileOptions& options) const override;
};

std::unique_ptr<NewFile> Npy::create(const std::string& name, const FileOptions& options) const {
  NewContent content;
  content.type = make_array_type(options, name, /*is_new=*/true);
  reject_several(name, options);
  if (content.type.dtype.empty()) base::throw_argument_error(name, ": a .npy file needs a dtype");
  if (const std::int64_t bytes_of_dtype = dtype_bytes(content.type.dtype); bytes_of_dtype != content.type.element_bytes)
    base::throw_argument_error(name, ": elements of dtype ", content.type.dtype, " have ", bytes_of_dtype,
                               " bytes, but ", content.type.element_bytes,
                               " were given; leave them out or correct them");
  content.head = make_header(content.type.dtype, content.type.order, content.type.shape);
  content.data_offset = static_cast<std::int64_t>(content.head.size());
  return std::make_unique<NewFile>(std::move(content));
}

}  // namespace

Content read_content(store::Store& store, const std::string& name) { return to_content(read_header(store, name)); }

const Format& format() {
  static const Npy kFormat;
  return kFormat;
}

}  // namespace plait::container::npy
