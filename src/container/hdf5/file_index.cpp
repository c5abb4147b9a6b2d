// Where the chunks of a dataset lie, as the library lists them.

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/text.hpp"
#include "container/hdf5/file.hpp"
#include "container/hdf5/filters.hpp"
#include "container/refuse.hpp"
#include "plait/error.hpp"

namespace plait::container::hdf5 {

namespace {

using base::text;

/// Versions without H5Dchunk_iter look for each chunk from the first one on: a minute for twice as many.
constexpr Size kMostLookedUp = 50'000;

/// Takes chunks as the library lists them.
class Listing {
 public:
  /// short_sizes: the library gives 32 bits of a size.
  Listing(Dataset& dataset, bool short_sizes) : dataset_(dataset), grid_(dataset.grid()), short_sizes_(short_sizes) {}

  void take(const Size* first, unsigned left_out, Address address, Size bytes) {
    std::int64_t number = 0;
    for (std::size_t d = 0; d < grid_.size(); ++d) {
      const auto at = static_cast<std::int64_t>(first[d]) / dataset_.chunk[d];
      if (at < 0 || at >= grid_[d]) return;  // outside of the array
      number = number * grid_[d] + at;
    }
    if (short_sizes_) bytes &= 0xffffffffU;
    dataset_.chunks.push_back({number, static_cast<std::int64_t>(address), static_cast<std::int64_t>(bytes), left_out});
  }
  static int visit(const Size* first, unsigned left_out, Address address, Size bytes, void* listing) {
    static_cast<Listing*>(listing)->take(first, left_out, address, bytes);
    return 0;
  }

 private:
  Dataset& dataset_;
  const Extents grid_;
  const bool short_sizes_;
};

}  // namespace

void HdfFile::describe_file(Dataset& found) const {
  const Handle creation(hdf5_->H5Fget_create_plist(file_.id()), hdf5_->H5Pclose);
  Size user_block = 0;
  int strategy = 0;
  bool kept = false;
  Size threshold = 0;
  unsigned half = 0;
  if (!creation || hdf5_->H5Pget_userblock(creation.id(), &user_block) < 0 ||
      hdf5_->H5Pget_file_space_strategy(creation.id(), &strategy, &kept, &threshold) < 0 ||
      hdf5_->H5Pget_istore_k(creation.id(), &half) < 0)
    damaged("the properties of the file");
  constexpr int kInPages = 1;  // H5F_FSPACE_STRATEGY_PAGE
  if (user_block > 0)
    found.unchangeable = text("its file begins with a block of ", user_block, " bytes of a user's own");
  if (kept || strategy == kInPages)
    found.unchangeable = "its file is organized in pages, or says which parts of it are free";
  found.tree_children = 2 * std::int64_t{half};
}

void HdfFile::read_index(Id dataset, Dataset& found, const std::string& shown) const {
  Listing listing(found, !hdf5_.at_least(2, 0, 0));
  const Handle creation(hdf5_->H5Fget_create_plist(file_.id()), hdf5_->H5Pclose);
  Size user_block = 0;
  hdf5_->H5Pget_userblock(creation.id(), &user_block);
  if (user_block > 0 && !hdf5_.at_least(2, 0, 0))
    refuse(text(shown, ": its file begins with a block of ", user_block, " bytes of a user's own, and ", hdf5_.words(),
                " does not say where chunks of such files lie; name HDF5 2.0 or later in PLAIT_HDF5"));
  if (hdf5_->H5Dchunk_iter != nullptr) {
    if (hdf5_->H5Dchunk_iter(dataset, 0, Listing::visit, &listing) < 0) damaged(text("the index of chunks of ", shown));
  } else {
    // Versions that need these functions do not take H5S_ALL.
    const Handle all(hdf5_->H5Dget_space(dataset), hdf5_->H5Sclose);
    Size count = 0;
    if (hdf5_->H5Dget_num_chunks(dataset, all.id(), &count) < 0) damaged(text("the index of chunks of ", shown));
    if (count > kMostLookedUp)
      refuse(text(shown, ": ", hdf5_.words(), " takes too long to list its ", count,
                  " chunks; name HDF5 1.14 or later in PLAIT_HDF5, or install h5py for Python"));
    for (Size i = 0; i < count; ++i) {
      std::array<Size, kMaxDimensions> first{};
      unsigned left_out = 0;
      Address address = 0;
      Size bytes = 0;
      if (hdf5_->H5Dget_chunk_info(dataset, all.id(), i, first.data(), &left_out, &address, &bytes) < 0)
        damaged(text("the index of chunks of ", shown));
      listing.take(first.data(), left_out, address, bytes);
    }
  }
  std::ranges::sort(found.chunks, {}, &Chunk::number);
  const std::int64_t whole = found.chunk_bytes();
  for (std::size_t i = 0; i < found.chunks.size(); ++i) {
    const Chunk& one = found.chunks[i];
    std::string why;
    if (one.offset < 0 || one.bytes < 0 || one.offset > bytes_ || one.bytes > bytes_ - one.offset)
      why = text("the file ends at ", bytes_, "; it has been truncated");
    else if (i > 0 && found.chunks[i - 1].number == one.number)
      why = "another one has the same elements";
    else if (found.filters.empty() && one.bytes != whole)
      why = text("it should have ", whole, " bytes");
    if (!why.empty())
      throw Error(ErrorKind::kSystem,
                  text(shown, ": ", chunk_words(found, one.number), " lies at offset ", one.offset, " with ", one.bytes,
                       " bytes, but ", why, "; copy or download the file again"),
                  EIO);
  }
}

}  // namespace plait::container::hdf5
