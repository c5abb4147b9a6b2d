#include "trace/report/filter.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <cstring>

#include "trace/report/sum.hpp"

namespace plait::trace::report {

namespace {

struct Pattern {
  FileClass what;
  const char* glob;  // * matches slashes too
  bool ends_at_last_slash =
      false;  // true: nothing may follow the last slash of the glob, because files below belong to others
};

// The first matching pattern decides.
constexpr Pattern kPatterns[] = {
    // Shared memory of MPI implementations and their transports: data files in /dev/shm have other names.
    {FileClass::kMpi, "/dev/shm/mpich*"},
    {FileClass::kMpi, "/dev/shm/ucx_*"},
    {FileClass::kMpi, "/dev/shm/vader_segment*"},
    {FileClass::kMpi, "/dev/shm/sm_segment*"},
    {FileClass::kMpi, "/dev/shm/osc_rdma*"},
    {FileClass::kMpi, "/dev/shm/open_mpi*"},
    {FileClass::kMpi, "/dev/shm/pmix*"},
    {FileClass::kMpi, "/dev/shm/fi_shm*"},
    {FileClass::kMpi, "/dev/shm/psm[23]_*"},
    {FileClass::kMpi, "/dev/shm/Intel_MPI*"},
    {FileClass::kMpi, "/dev/shm/impi_*"},
    {FileClass::kMpi, "/dev/shm/ib_shmem*"},
    {FileClass::kMpi, "/dev/shm/mv2_*"},
    {FileClass::kMpi, "/dev/shm/cray-*"},
    {FileClass::kMpi, "/dev/shm/nccl-*"},
    {FileClass::kMpi, "/dev/shm/sem.*"},
    {FileClass::kMpi, "/dev/hugepages/*"},
    {FileClass::kMpi, "/tmp/hydra_*"},
    {FileClass::kMpi, "/tmp/ompi.*"},
    {FileClass::kMpi, "/tmp/prte.*"},
    {FileClass::kMpi, "/tmp/openmpi-sessions-*"},
    {FileClass::kMpi, "/memfd:*"},
    {FileClass::kMpi, "/SYSV*"},
    {FileClass::kKernel, "/proc"},
    {FileClass::kKernel, "/proc/*"},
    {FileClass::kKernel, "/sys"},
    {FileClass::kKernel, "/sys/*"},
    {FileClass::kKernel, "/run/udev/*"},
    {FileClass::kKernel, "/dev/random"},
    {FileClass::kKernel, "/dev/urandom"},
    {FileClass::kInterpreter, "*.py[co]"},
    {FileClass::kInterpreter, "*/__pycache__"},
    {FileClass::kInterpreter, "*/__pycache__/*.py[co].*"},  // the temporary name while it is written
    {FileClass::kInterpreter, "*/lib/python[0-9].[0-9]*"},
    {FileClass::kInterpreter, "*/lib64/python[0-9].[0-9]*"},
    {FileClass::kInterpreter, "*/lib/python3"},
    {FileClass::kInterpreter, "*/lib/python3/*"},
    {FileClass::kInterpreter, "*/site-packages"},
    {FileClass::kInterpreter, "*/site-packages/*"},
    {FileClass::kInterpreter, "*/dist-packages"},
    {FileClass::kInterpreter, "*/dist-packages/*"},
    {FileClass::kInterpreter, "*/pyvenv.cfg"},
    {FileClass::kInterpreter, "*/pybuilddir.txt"},
    {FileClass::kInterpreter, "*._pth"},
    {FileClass::kInterpreter, "*/bin/python*", true},
    {FileClass::kInterpreter, "*/share/perl*"},
    {FileClass::kInterpreter, "*/lib/*/perl*"},
    {FileClass::kInterpreter, "*/lib/R/*"},
    {FileClass::kInterpreter, "*/lib/ruby/*"},
    {FileClass::kInterpreter, "*/share/julia/*"},
    {FileClass::kInterpreter, "*/lib/jvm/*"},
    {FileClass::kInterpreter, "*/jdk-[0-9]*/*"},
    {FileClass::kInterpreter, "*/jre/lib/*"},
    {FileClass::kInterpreter, "*/lib/modules"},  // a JDK in another folder
    {FileClass::kInterpreter, "*/lib/server/*.jsa"},
    {FileClass::kInterpreter, "*/hsperfdata_*"},  // performance data of the JVM for its tools
    {FileClass::kInterpreter, "*/.java_pid[0-9]*"},
    {FileClass::kLibraries, "*.so"},
    {FileClass::kLibraries, "*.so.[0-9]*"},
    {FileClass::kLibraries, "loader:*"},
    {FileClass::kLibraries, "/etc/ld.so.*"},
    {FileClass::kSettings, "/usr/lib/locale/*"},
    {FileClass::kSettings, "/usr/share/locale/*"},
    {FileClass::kSettings, "/usr/share/zoneinfo/*"},
    {FileClass::kSettings, "*/gconv/*"},
    {FileClass::kSettings, "/usr/lib/ssl/*"},
    {FileClass::kSettings, "/etc/ssl/*"},
    {FileClass::kSettings, "/etc/localtime"},
    {FileClass::kSettings, "/etc/timezone"},
    {FileClass::kSettings, "/etc/nsswitch.conf"},
    {FileClass::kSettings, "/etc/host.conf"},
    {FileClass::kSettings, "/etc/hosts"},
    {FileClass::kSettings, "/etc/resolv.conf"},
    {FileClass::kSettings, "/etc/gai.conf"},
    {FileClass::kSettings, "/etc/libnl/*"},
    {FileClass::kSettings, "*/mpich.conf"},
    {FileClass::kSettings, "*/ucx.conf"},
};

bool matches_pattern(const Pattern& pattern, const std::string& name) {
  if (::fnmatch(pattern.glob, name.c_str(), 0) != 0) return false;
  if (!pattern.ends_at_last_slash) return true;
  const std::size_t slash = name.rfind('/');
  return slash != std::string::npos && ::fnmatch(std::strrchr(pattern.glob, '/'), name.c_str() + slash, 0) == 0;
}

bool matches(const std::string& glob, const std::string& name) { return ::fnmatch(glob.c_str(), name.c_str(), 0) == 0; }

bool any_matches(const std::vector<std::string>& globs, const std::string& name) {
  return std::any_of(globs.begin(), globs.end(), [&](const std::string& glob) { return matches(glob, name); });
}

}  // namespace

FileClass classify_foreign_file(const std::string& name) {
  for (const Pattern& pattern : kPatterns)
    if (matches_pattern(pattern, name)) return pattern.what;
  return FileClass::kNone;
}

std::string_view file_class_name(FileClass what) {
  constexpr std::string_view kNames[kForeign] = {"MPI's own files",     "/proc and /sys",  "libraries",
                                                 "interpreters' files", "system settings", "excluded files"};
  return what == FileClass::kNone ? "" : kNames[static_cast<std::size_t>(what)];
}

Filter::NameStatus Filter::classify_name(const std::string& name) const {
  NameStatus status;
  status.is_set = true;
  status.requested = options_.file.empty() || matches(options_.file, name);
  if (any_matches(options_.exclude, name)) {
    status.what = FileClass::kExcluded;
  } else if (!options_.all && options_.file.empty() && !any_matches(options_.include, name)) {
    status.what = classify_foreign_file(name);  // a file that the user requests by name always counts
  }
  return status;
}

Filter::Verdict Filter::decide(const Call& call) {
  if (call.name == kNoFile)
    return options_.file.empty() || call.event.kind >= Kind::kStart ? Verdict::kCounts : Verdict::kNotRequested;
  if (call.name >= name_status_.size()) name_status_.resize(lookup_.names());
  NameStatus& status = name_status_[call.name];
  if (!status.is_set) status = classify_name(lookup_.text(call.name));
  return !status.requested                 ? Verdict::kNotRequested
         : status.what == FileClass::kNone ? Verdict::kCounts
                                           : Verdict::kLeftOut;
}

void Filter::count_left_out(const Call& call) {
  NameStatus& status = name_status_[call.name];
  LeftOutRow& sum = sums_[static_cast<std::size_t>(status.what)];
  const Event& event = call.event;
  sum.files += status.is_counted ? 0 : 1;
  status.is_counted = true;
  ++sum.calls;
  add_saturated(sum.time, call.end - call.start);
  if (event.result < 0) return;
  if (event.kind == Kind::kRead || event.kind == Kind::kWrite) {
    Traffic& traffic = sum.data[event.kind == Kind::kRead ? kReads : kWrites];
    ++traffic.count;
    add_saturated(traffic.bytes, call.moved);
  }
  if (event.kind == Kind::kMap && event.interface == Interface::kMmap && status.what != FileClass::kMpi) {
    ++sum.maps;
    add_saturated(sum.mapped[kReads], std::max<std::int64_t>(event.length, 0));
    if ((event.flags & flag::kReadOnly) == 0)
      add_saturated(sum.mapped[kWrites], std::max<std::int64_t>(event.length, 0));
  }
}

void Filter::store_results(Report& report) const {
  for (std::size_t index = 0; index < kForeign; ++index) {
    if (sums_[index].calls == 0) continue;
    report.left_out.push_back(sums_[index]);
    report.left_out.back().what = file_class_name(static_cast<FileClass>(index));
  }
}

}  // namespace plait::trace::report
