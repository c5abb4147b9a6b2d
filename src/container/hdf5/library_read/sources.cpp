// Checking the sources of virtual datasets.
//
// Problem: a virtual dataset names other files and datasets in them. These may be virtual themselves, be in external
// storage, or be reached by external links, each of which may name any file of the user. The library opens all of them
// unchecked when elements are read.
//
// Idea: open the sources first, each by its own name, and apply the rule for other files (other_files.hpp) to every
// name on the way. A dataset is read only if all of them pass.
//
// Example: all.h5 maps day1.h5::t and day2.h5::t. In day2.h5, t is an external link to /data/b.h5::t. The check of
// all.h5 opens day1.h5, then day2.h5, meets the link, and rejects the dataset of all.h5.
//
// A name with %b stands for a series: block-%b.h5 means block-0.h5, block-1.h5 and so on, up to the first missing file.

#include "container/hdf5/library_read/sources.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "base/text.hpp"
#include "container/hdf5/filters.hpp"
#include "container/hdf5/library_read/external_links.hpp"

namespace plait::container::hdf5 {

namespace {

using base::text;

constexpr std::string_view kReasonBegin = "its elements are in the file ";
constexpr int kMaxSourceDepth = 16;
constexpr std::size_t kMaxSources = 1'000'000;

/// Replaces %b by a block number and %% by %, as the library does.
std::string expand_name(const std::string& name, std::size_t block) {
  std::string result;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] != '%' || i + 1 == name.size()) {
      result += name[i];
      continue;
    }
    ++i;
    if (name[i] == 'b')
      base::append_parts(result, block);
    else
      result += name[i];
  }
  return result;
}

/// The name of a source: the file, which is `.` for the file of the virtual dataset itself, and the dataset.
struct SourceName {
  std::string file;
  std::string dataset;
  auto operator<=>(const SourceName&) const = default;
};

/// Opens the sources of a virtual dataset one by one, and records the first reason why one of them must not be read.
class SourceCheck {
 public:
  SourceCheck(const Library& hdf5, FollowRule rule) : hdf5_(hdf5), rule_(rule), links_(hdf5, rule) {}

  /// Checks the sources of a virtual dataset. file: the name of its file. depth: the number of virtual datasets above
  /// it.
  void check_virtual(hid_t dataset, hid_t properties, const std::string& file, int depth) {
    std::size_t count = 0;
    if (hdf5_->H5Pget_virtual_count(properties, &count) < 0)
      return reject(base::Rejection("its sources cannot be read; copy the file again"));
    for (std::size_t i = 0; i < count && !rejection_; ++i) {
      const SourceName pattern{
          read_text([&](char* into, std::size_t n) { return hdf5_->H5Pget_virtual_filename(properties, i, into, n); }),
          read_text([&](char* into, std::size_t n) { return hdf5_->H5Pget_virtual_dsetname(properties, i, into, n); })};
      const bool is_series = expand_name(pattern.file, 0) != expand_name(pattern.file, 1) ||
                             expand_name(pattern.dataset, 0) != expand_name(pattern.dataset, 1);
      for (std::size_t block = 0; !rejection_; ++block) {
        const bool exists = check_source(
            dataset, {expand_name(pattern.file, block), expand_name(pattern.dataset, block)}, file, {depth, is_series});
        if (!is_series || !exists) break;
      }
    }
  }

  SourceFiles result() const {
    std::string description =
        text("virtual dataset of ", checked_.size(), checked_.size() == 1 ? " source" : " sources");
    if (missing_ > 0) base::append_parts(description, ", ", missing_, " of them missing");
    return {std::move(description), rejection_, chunk_.value_or(Extents())};
  }

 private:
  struct Context {
    int depth;       // number of virtual datasets that lead to the source
    bool is_series;  // true if the name has %b, so that a missing source ends the series
  };

  void reject(const base::Rejection& rejection) {
    if (!rejection_) rejection_ = rejection;
  }

  /// Checks a source. Returns false if it is missing.
  bool check_source(hid_t dataset, const SourceName& name, const std::string& from, Context context) {
    std::string path = from;
    Handle file;
    if (name.file == ".") {
      if (checked_.contains({path, name.dataset})) return true;
      file = Handle(hdf5_->H5Iget_file_id(dataset), hdf5_->H5Fclose);
    } else {
      const OtherFile other = find_other_file(from, name.file, Naming::kVirtual, rule_);
      if (other.rejection) return reject(base::Rejection::because(kReasonBegin, other.rejection.reason())), false;
      path = other.path;
      if (checked_.contains({path, name.dataset})) return true;
      if (other.exists) file = Handle(hdf5_->H5Fopen(path.c_str(), kReadOnly, 0), hdf5_->H5Fclose);
      // Fail here: if the library cannot open this file, it searches other folders for a file of this name.
      if (other.exists && !file)
        return reject(base::Rejection::because(kReasonBegin, name.file, ", which cannot be opened as an HDF5 file",
                                               hdf5_.last_error(), "; copy it again")),
               false;
    }
    Handle source;
    links_.clear();
    if (file) source = Handle(hdf5_->H5Oopen(file.id(), name.dataset.c_str(), links_.id()), hdf5_->H5Oclose);
    if (links_.rejection() && !links_.is_missing())
      return reject(base::Rejection::because(kReasonBegin, name.file, ", in which ", name.dataset,
                                             " is not there: ", links_.rejection().reason())),
             false;
    if (!source && context.is_series) return false;
    if (context.depth >= kMaxSourceDepth || checked_.size() >= kMaxSources)
      return reject(base::Rejection::because("its sources are virtual datasets in more than ", kMaxSourceDepth,
                                             " levels, or more than ", kMaxSources, "; open one of them")),
             false;
    checked_.insert({path, name.dataset});
    if (source && hdf5_->H5Iget_type(source.id()) == H5I_DATASET)
      check_dataset(source.id(), path, context.depth);
    else
      ++missing_;
    return static_cast<bool>(source);
  }

  /// Checks a source that has been opened. path: the file that has been opened to find it.
  void check_dataset(hid_t dataset, const std::string& path, int depth) {
    // An external link may have led to another file than the one of `path`.
    const std::string file = read_text([&](char* into, std::size_t n) { return hdf5_->H5Fget_name(dataset, into, n); });
    const Handle properties(hdf5_->H5Dget_create_plist(dataset), hdf5_->H5Pclose);
    if (!properties || file.empty())
      return reject(base::Rejection::because("its source in ", path, " cannot be read", hdf5_.last_error()));
    const int layout = hdf5_->H5Pget_layout(properties.id());
    if (layout == H5D_VIRTUAL) return check_virtual(dataset, properties.id(), file, depth + 1);
    // Reject these: the library would search for the files of external storage in the working directory.
    if (hdf5_->H5Pget_external_count(properties.id()) > 0)
      return reject(
          base::Rejection::because(kReasonBegin, path, ", in which they are in external storage; open that file"));
    if (layout != H5D_CHUNKED) return;
    if (!chunk_) {
      std::array<hsize_t, H5S_MAX_RANK> extents{};
      const int count = hdf5_->H5Pget_chunk(properties.id(), H5S_MAX_RANK, extents.data());
      chunk_.emplace(extents.begin(), extents.begin() + std::max(count, 0));
    }
    const int filters = hdf5_->H5Pget_nfilters(properties.id());
    for (int i = 0; i < filters; ++i) {
      Filter filter;
      std::array<char, 128> name{};
      std::size_t value_count = 0;
      unsigned flags = 0;
      unsigned config = 0;
      filter.id = static_cast<std::uint32_t>(hdf5_->H5Pget_filter2(
          properties.id(), static_cast<unsigned>(i), &flags, &value_count, nullptr, name.size(), name.data(), &config));
      name.back() = '\0';
      filter.name = name.data();
      reject(library_filter_rejection(hdf5_, filter.id, describe_filter(filter)));
    }
  }

  const Library& hdf5_;
  FollowRule rule_;
  ExternalLinks links_;
  std::set<SourceName> checked_;  // the sources that have been opened, with the paths of their files
  std::size_t missing_ = 0;       // number of missing sources
  std::optional<Extents> chunk_;  // chunk shape of the first source that has chunks
  base::Rejection rejection_;
};

}  // namespace

SourceFiles find_virtual_sources(const Library& hdf5, hid_t dataset, hid_t properties, const std::string& file) {
  SourceCheck check(hdf5, follow_rule());
  check.check_virtual(dataset, properties, file, /*depth=*/0);
  return check.result();
}

SourceFiles find_storage_files(const Library& hdf5, hid_t properties, const std::string& file) {
  const FollowRule rule = follow_rule();
  SourceFiles result;
  const int count = hdf5->H5Pget_external_count(properties);
  for (int i = 0; i < count; ++i) {
    std::array<char, 4096> name{};
    off_t offset = 0;
    hsize_t bytes = 0;
    if (hdf5->H5Pget_external(properties, static_cast<unsigned>(i), name.size(), name.data(), &offset, &bytes) < 0)
      return {{}, base::Rejection("the names of its external files cannot be read; copy the file again"), {}};
    name.back() = '\0';
    const OtherFile other = find_other_file(file, name.data(), Naming::kStorage, rule);
    if (other.rejection) return {{}, base::Rejection::because(kReasonBegin, other.rejection.reason()), {}};
    if (!other.exists)
      return {{}, base::Rejection::because(kReasonBegin, other.path, ", which is missing; copy it there"), {}};
    if (i == 0) result.description = text("external storage in ", name.data());
  }
  if (count > 1)
    base::append_parts(result.description, " and ", count - 1, count == 2 ? " other file" : " other files");
  return result;
}

base::Rejection library_filter_rejection(const Library& hdf5, unsigned id, const std::string& description) {
  if (hdf5.has_filter(id)) return {};
  return base::Rejection::because("its chunks are compressed by ", description, ", filter ", id,
                                  ", which neither Plait nor ", hdf5.describe(),
                                  " decodes; install its plug-in (pip install hdf5plugin), or name the folder of the "
                                  "plug-in in HDF5_PLUGIN_PATH");
}

}  // namespace plait::container::hdf5
