/// A file that the MPI has opened and whose collective accesses Plait may carry out.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "mpiio/agreement/agreement.hpp"
#include "mpiio/entry.h"
#include "mpiio/file_identity.hpp"
#include "mpiio/held_view.hpp"
#include "mpiio/lists/backoff.hpp"
#include "mpiio/lists/file_descriptor.hpp"
#include "mpiio/lists/list_proposal.hpp"
#include "mpiio/reason.hpp"
#include "mpiio/shared_array.hpp"
#include "mpiio/views.hpp"
#include "plait/error.hpp"
#include "plait/file.hpp"

namespace plait::mpiio {

/// Stores the position of an access, in etypes: the individual file pointer if the access has no offset. Returns false
/// if it is unknown.
/// held  The view that Plait holds; nullptr for none.
bool find_position(const plait_mpiio_access& access, HeldView* held, MPI_Offset& position);

/// Calls the handler of a file for an error of the system. Returns the class of the error.
int call_error_handler(MPI_File file, int system_code);

/// True if the file is in atomic mode.
bool is_atomic(MPI_File file);

/// One MPI_File. The MPI keeps its state, except for a view that Plait holds, with its file pointer. This object
/// decides which accesses Plait carries out.
/// threads  Several threads of a rank may make independent calls at once, also during a collective call.
class OpenFile {
 public:
  explicit OpenFile(const plait_mpiio_opened& opened);
  ~OpenFile();
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  /// Compares a new view with those of the other ranks. Returns true if Plait holds it; if not, the MPI sets it, and
  /// finish_view() follows. Collective.
  bool start_view(const plait_mpiio_view& view);
  void finish_view(bool has_succeeded);
  /// Carries out an access. Returns false if it belongs to the MPI, on all ranks alike. Collective.
  /// code  becomes the result of the call. After an error, the file's error handler has been called already.
  bool access(const plait_mpiio_access& access, int& code);
  /// Ends a split collective read or write. Returns false if the call belongs to the MPI.
  bool end(bool writes, MPI_Status* status);
  /// Stores in `target` the handle with which the MPI carries out a call. If that is the second handle of a held view,
  /// stores the view as well; then the caller passes the MPI's code to routed(), which returns the result of the call.
  /// Returns a code of the MPI.
  int route(plait_mpiio_use use, MPI_File& target, std::shared_ptr<HeldView>& view);
  int routed(plait_mpiio_use use, HeldView& view, int code);
  /// Returns the view that Plait holds for the MPI; nullptr if there is none.
  std::shared_ptr<HeldView> held() const { return held_.get(); }
  /// Prints on rank 0 what Plait has carried out, and why the MPI has carried out the rest.
  void report() const;

 private:
  /// An access that a rank proposes to the others.
  struct Proposal;
  struct Totals {
    std::int64_t accesses = 0;
    std::int64_t bytes = 0;  ///< of this rank
  };
  /// A split access that Plait has carried out, and that the program has not ended.
  struct Begun {
    std::int64_t bytes = 0;
    bool writes = false;
  };

  /// What Plait knows of the views that the ranks have set. Stored while the MPI sets new ones, since that may fail.
  struct Views {
    ViewSummary common;
    std::int64_t gain = 0;
    Reason reason = Reason::kView;
    std::optional<FileView> own;
    std::optional<TiledArray> array;
    std::shared_ptr<HeldView> held;
  };

  /// Waits for the agreement about views that start_view() has begun, if it has not ended.
  void compare_views();
  /// Restores the previous views if the MPI has set the new ones on no rank. Collective if there are previous views.
  void agree_on_views();
  /// True if this rank votes for holding its view.
  bool can_hold(const ViewSummary& own);
  /// Passes the view that Plait holds to the MPI. Returns a code of the MPI; after an error on any rank, Plait still
  /// holds the view on all. Collective.
  int pass_view();
  /// Makes the communicator of this file, the first time that it is called. Collective.
  bool make_communicator();
  /// Gathers the boxes of all ranks. Returns false if they form no array. Collective.
  bool gather_array();
  /// Carries out an access of an array, unless it would save no time or attempts pause. Attempts pause for views of one
  /// piece and for arrays that save little. Returns the reason of any rank why Plait does not carry out the access;
  /// `code` is the result otherwise. Collective.
  Reason access_array(const plait_mpiio_access& access, int& code);
  /// Lets all ranks compare their proposals. Returns the reason of any rank why the access belongs to the MPI.
  Reason agree(const plait_mpiio_access& access, Proposal& proposal);
  /// Fills in the proposal of this rank. Returns the first reason that it finds why the access belongs to the MPI; the
  /// checks that rule out small accesses come first.
  Reason propose(const plait_mpiio_access& access, Proposal& proposal);
  Reason check_file(const plait_mpiio_access& access);
  Reason check_position(const plait_mpiio_access& access, Proposal& proposal);
  Reason check_array(const plait_mpiio_access& access, Proposal& proposal) const;
  /// True if the file is open, or if the nanoseconds that Plait saves by this access and has saved before are worth
  /// opening it.
  bool is_worthwhile(bool is_open, double gain);
  /// Opens the file for Plait. Returns false if that fails on any rank, or opens another file than the MPI has.
  /// Collective.
  bool open();
  /// Leaves all further accesses to the MPI, on all ranks alike. Collective.
  void give_up(Reason reason);
  /// Reads or writes. Returns the reason if Plait cannot; `code` is the result otherwise.
  Reason move(const plait_mpiio_access& access, const SharedArray& array, Proposal& proposal, int& code);
  /// Carries out an access by lists of runs. Returns the reason of any rank why Plait cannot; `code` is the result
  /// otherwise. Collective.
  Reason access_lists(const plait_mpiio_access& access, int& code);
  Reason propose_lists(const plait_mpiio_access& access, ListProposal& proposal);
  /// Sets the status and moves the file pointer after an access of so many bytes. Returns a code of the MPI.
  int complete(const plait_mpiio_access& access, std::int64_t bytes);
  /// Prepares that the MPI carries out the access. Returns true if the call ends with the error `code` instead.
  bool leave_to_mpi(const plait_mpiio_access& access, Reason reason, int& code);

  /// Nanoseconds that Plait must save before it opens a file: a few ranks on each core may wait as long for each other.
  static constexpr double kOpening = 2e6;

  MPI_File file_;
  std::unique_ptr<plait_mpiio_ranks, void (*)(plait_mpiio_ranks*)> ranks_;
  Agreement agreement_;
  MPI_Comm comm_ = MPI_COMM_NULL;  ///< of this file alone; made when Plait carries out the first access
  int tag_;
  int mode_;
  bool is_always_;
  bool is_strict_;
  int access_mode_;
  Reason unusable_ = Reason::kNone;  ///< on all ranks alike
  OpenedPath path_;
  std::optional<File> plait_;
  FileDescriptor descriptor_;   ///< for accesses by lists
  bool sieves_writes_ = false;  ///< whether writes by lists may read and write again the bytes between small pieces
  Backoff idle_votes_;          ///< votes of this rank for views in which it has no elements; a vote makes it wait
  Backoff array_attempts_;      ///< attempts at arrays that save little, on all ranks alike
  Backoff few_pieces_;          ///< attempts at lists with few pieces in each filetype, on all ranks alike
  double saved_ = 0;            ///< nanoseconds that Plait would have saved so far
  bool is_comparing_views_ = false;
  bool mpi_is_between_ = false;  ///< a split access of the MPI has begun
  std::optional<Begun> begun_;
  ViewSummary common_view_;
  std::int64_t gain_ = 0;               ///< nanoseconds that Plait saves for each filetype of all ranks
  Reason view_reason_ = Reason::kView;  ///< why accesses belong to the MPI if the views form no array
  Runs runs_;                           ///< of the filetype, if an access by lists has needed them
  std::optional<FileView> view_;        ///< nothing if this rank leaves all its accesses to the MPI
  std::optional<TiledArray> array_;
  std::mutex passing_;  ///< locked while a thread passes the view to the MPI; others may use the view meanwhile
  ViewHolder held_;
  std::shared_ptr<HeldView> retired_;      ///< Plait no longer uses it, but requests may be pending on its handle
  std::optional<Views> previous_;          ///< the views before the one that the MPI has set last, on some rank or none
  bool has_set_view_ = false;              ///< the MPI has set the last view on this rank
  std::atomic<bool> needs_views_ = false;  ///< this rank has made independent calls, so it holds no further views
  // For the report.
  Totals reads_;
  Totals writes_;
  std::string last_array_;
  std::map<Reason, std::int64_t> left_;  ///< number of accesses that were left to the MPI
};

}  // namespace plait::mpiio
