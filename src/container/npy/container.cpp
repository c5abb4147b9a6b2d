#include "container/npy/container.hpp"

#include <algorithm>
#include <string_view>

#include "base/text.hpp"
#include "container/array_type.hpp"
#include "container/npy/header.hpp"
#include "container/refuse.hpp"
#include "plait/error.hpp"

namespace plait::container::npy {

namespace {

using base::text;

constexpr std::string_view kMagic = "\x93NUMPY";

Header read_header(store::Store& store, const std::string& path) {
  const std::int64_t size = store.size();
  std::vector<std::byte> bytes(static_cast<std::size_t>(std::min<std::int64_t>(size, kPreambleBytes)));
  store.read({{0, bytes.data(), static_cast<std::int64_t>(bytes.size())}});
  const std::int64_t length = header_bytes(bytes, path);
  if (length > size)
    throw Error(ErrorKind::kSystem, text("cannot open ", path, " as .npy: the header has ", length,
                                         " bytes, but the file has only ", size, "; it has been truncated"));
  bytes.resize(static_cast<std::size_t>(length));
  store.read({{0, bytes.data(), length}});
  return parse_header(bytes, path);
}

void refuse_several(const std::string& path, const FileOptions& options) {
  if (options.several)
    refuse(text(path,
                ": a .npy file holds one array, but the file is opened for several; use a name without that ending"));
}

class Npy : public Container {
 public:
  bool tells() const override { return true; }
  std::string_view suffix() const override { return ".npy"; }
  std::string_view format() const override { return "npy"; }
  bool begins(std::span<const std::byte> front) const override {
    return front.size() >= kMagic.size() &&
           std::equal(kMagic.begin(), kMagic.end(), reinterpret_cast<const char*>(front.data()));
  }
  Content inspect(store::Store& store, const std::string& path, const FileOptions& options) const override;
  NewContent create(const std::string& path, const FileOptions& options) const override;
};

Content Npy::inspect(store::Store& store, const std::string& path, const FileOptions& options) const {
  refuse_several(path, options);
  const Header header = read_header(store, path);
  const Content found{{header.shape, header.descr, header.element_bytes, header.order}, header.data_offset};
  check_told(found, path, options);
  return found;
}

NewContent Npy::create(const std::string& path, const FileOptions& options) const {
  NewContent result;
  result.type = described_type(options, path, true);
  refuse_several(path, options);
  if (result.type.dtype.empty()) refuse(text(path, ": a .npy file needs a dtype"));
  if (const std::int64_t told = element_bytes_of(result.type.dtype); told != result.type.element_bytes)
    refuse(text(path, ": elements of dtype ", result.type.dtype, " have ", told, " bytes, but ",
                result.type.element_bytes, " were given; leave them out or correct them"));
  result.head = make_header(result.type.dtype, result.type.order, result.type.shape);
  result.data_offset = static_cast<std::int64_t>(result.head.size());
  return result;
}

}  // namespace

const Container& container() {
  static const Npy kContainer;
  return kContainer;
}

}  // namespace plait::container::npy
