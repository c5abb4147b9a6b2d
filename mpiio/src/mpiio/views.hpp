/// The file views of all ranks of a file.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <optional>

#include "mpiio/agreement/agreement.hpp"
#include "mpiio/datatype.hpp"
#include "mpiio/entry.h"
#include "mpiio/lists/runs.hpp"

namespace plait::mpiio {

/// The view of one rank.
struct FileView {
  ArrayDatatype filetype;  ///< std::monostate if it is no part of an array
  Runs runs;               ///< of the filetype, if it is no part of an array; nullptr if they are unknown
  std::int64_t displacement = 0;
  std::int64_t etype_bytes = 1;
  std::int64_t bytes = 0;         ///< of the data of one filetype
  std::int64_t extent_bytes = 0;  ///< from one filetype to the next
};

/// Returns the runs of the filetype of a view; nullptr if they are unknown.
Runs find_runs(const FileView& view);

/// True if the view of one rank is the whole file, or one piece of it, for which Plait gains nothing.
/// comm  returns errors
bool is_contiguous(const plait_mpiio_view& view, MPI_Comm comm);

/// Decodes a view. Returns nothing if its data representation is not "native", or if an argument is not valid.
/// comm  returns errors
std::optional<FileView> decode(const plait_mpiio_view& view, MPI_Comm comm);

/// Returns the number of pieces of the file that a rank accesses with each filetype. Only blocks with gaps may have one
/// piece for each of several filetypes.
std::int64_t count_pieces(const FileView& view);

/// Numbers that summarize the view of one rank or, after the ranks have agreed on the smallest of each, all views.
class ViewSummary {
 public:
  ViewSummary() = default;
  /// rank, ranks  of the file
  ViewSummary(const std::optional<FileView>& view, int rank, int ranks);
  /// Lets this rank vote for holding the view, without passing it to the MPI.
  void vote_for_holding();
  explicit ViewSummary(const Agreement::Numbers& smallest) : numbers_(smallest) {}

  /// Ranks agree on these numbers.
  const Agreement::Numbers& numbers() const { return numbers_; }
  /// True if all ranks have the same darray.
  bool is_one_darray() const;
  bool is_array() const { return is_one_darray() || is_one_array_of_boxes(); }
  /// True if all ranks have subarrays of the same array, or bytes; or blocks at the same distances, or bytes.
  bool is_one_array_of_boxes() const;
  /// True if all ranks have voted for holding their views.
  bool is_held() const;
  /// Returns a view by blocks at regular distances as a subarray of the array of all ranks, and other views unchanged;
  /// nothing if there is no such array.
  std::optional<FileView> to_box(const FileView& view) const;
  /// Returns the number of dimensions of the array of boxes.
  std::size_t dimensions() const;
  /// Returns the nanoseconds that Plait saves for each filetype of all ranks if the file is open; 0 if each rank has
  /// one piece of the file, for which two-phase access gains nothing.
  std::int64_t gain(int ranks) const;
  /// True if each filetype is at most one piece of the file. Several filetypes may still be several pieces.
  bool has_one_piece() const;
  /// Lets the views count as no array, after gather_boxes() has found none.
  void discard_array();
  /// Returns the nanoseconds that Plait saves for each filetype if it exchanges lists of the pieces of all ranks; 0 if
  /// the pieces of any rank are unknown, or if the MPI carries out such large pieces as fast.
  std::int64_t list_gain(int ranks) const;
  /// True if the pieces of all ranks are known.
  bool has_lists() const;
  /// True if Plait may carry out accesses by lists.
  bool has_list_gain(int ranks, bool is_always) const;
  /// True if any rank has so many pieces in its filetypes that Plait may save time.
  bool has_many_pieces(std::int64_t filetypes) const;
  /// True if Plait holds the views by lists: the ranks have different ones, of which some are lists. Views that differ
  /// may still count as equal.
  bool has_held_lists(int ranks, bool is_always) const;

 private:
  bool is_same() const;

  Agreement::Numbers numbers_{};
};

}  // namespace plait::mpiio
