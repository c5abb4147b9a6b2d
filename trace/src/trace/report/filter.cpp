#include "trace/report/filter.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <cstring>

#include "trace/report/sum.hpp"

namespace plait::trace::report {

namespace {

struct Pattern {
  Foreign what;
  const char* glob;   // * matches slashes too
  bool last = false;  // true: nothing may follow the last slash of the glob, because files below belong to others
};

// The first matching pattern decides.
constexpr Pattern kPatterns[] = {
    // Shared memory of MPI implementations and their transports: data files in /dev/shm have other names.
    {Foreign::kMpi, "/dev/shm/mpich*"},
    {Foreign::kMpi, "/dev/shm/ucx_*"},
    {Foreign::kMpi, "/dev/shm/vader_segment*"},
    {Foreign::kMpi, "/dev/shm/sm_segment*"},
    {Foreign::kMpi, "/dev/shm/osc_rdma*"},
    {Foreign::kMpi, "/dev/shm/open_mpi*"},
    {Foreign::kMpi, "/dev/shm/pmix*"},
    {Foreign::kMpi, "/dev/shm/fi_shm*"},
    {Foreign::kMpi, "/dev/shm/psm[23]_*"},
    {Foreign::kMpi, "/dev/shm/Intel_MPI*"},
    {Foreign::kMpi, "/dev/shm/impi_*"},
    {Foreign::kMpi, "/dev/shm/ib_shmem*"},
    {Foreign::kMpi, "/dev/shm/mv2_*"},
    {Foreign::kMpi, "/dev/shm/cray-*"},
    {Foreign::kMpi, "/dev/shm/nccl-*"},
    {Foreign::kMpi, "/dev/shm/sem.*"},
    {Foreign::kMpi, "/dev/hugepages/*"},
    {Foreign::kMpi, "/tmp/hydra_*"},
    {Foreign::kMpi, "/tmp/ompi.*"},
    {Foreign::kMpi, "/tmp/prte.*"},
    {Foreign::kMpi, "/tmp/openmpi-sessions-*"},
    {Foreign::kMpi, "/memfd:*"},
    {Foreign::kMpi, "/SYSV*"},
    {Foreign::kKernel, "/proc"},
    {Foreign::kKernel, "/proc/*"},
    {Foreign::kKernel, "/sys"},
    {Foreign::kKernel, "/sys/*"},
    {Foreign::kKernel, "/run/udev/*"},
    {Foreign::kKernel, "/dev/random"},
    {Foreign::kKernel, "/dev/urandom"},
    {Foreign::kInterpreter, "*.py[co]"},
    {Foreign::kInterpreter, "*/__pycache__"},
    {Foreign::kInterpreter, "*/__pycache__/*.py[co].*"},  // the temporary name while it is written
    {Foreign::kInterpreter, "*/lib/python[0-9].[0-9]*"},
    {Foreign::kInterpreter, "*/lib64/python[0-9].[0-9]*"},
    {Foreign::kInterpreter, "*/lib/python3"},
    {Foreign::kInterpreter, "*/lib/python3/*"},
    {Foreign::kInterpreter, "*/site-packages"},
    {Foreign::kInterpreter, "*/site-packages/*"},
    {Foreign::kInterpreter, "*/dist-packages"},
    {Foreign::kInterpreter, "*/dist-packages/*"},
    {Foreign::kInterpreter, "*/pyvenv.cfg"},
    {Foreign::kInterpreter, "*/pybuilddir.txt"},
    {Foreign::kInterpreter, "*._pth"},
    {Foreign::kInterpreter, "*/bin/python*", true},
    {Foreign::kInterpreter, "*/share/perl*"},
    {Foreign::kInterpreter, "*/lib/*/perl*"},
    {Foreign::kInterpreter, "*/lib/R/*"},
    {Foreign::kInterpreter, "*/lib/ruby/*"},
    {Foreign::kInterpreter, "*/share/julia/*"},
    {Foreign::kInterpreter, "*/lib/jvm/*"},
    {Foreign::kInterpreter, "*/jdk-[0-9]*/*"},
    {Foreign::kInterpreter, "*/jre/lib/*"},
    {Foreign::kInterpreter, "*/lib/modules"},  // a JDK in another folder
    {Foreign::kInterpreter, "*/lib/server/*.jsa"},
    {Foreign::kInterpreter, "*/hsperfdata_*"},  // performance data of the JVM for its tools
    {Foreign::kInterpreter, "*/.java_pid[0-9]*"},
    {Foreign::kLibraries, "*.so"},
    {Foreign::kLibraries, "*.so.[0-9]*"},
    {Foreign::kLibraries, "loader:*"},
    {Foreign::kLibraries, "/etc/ld.so.*"},
    {Foreign::kSettings, "/usr/lib/locale/*"},
    {Foreign::kSettings, "/usr/share/locale/*"},
    {Foreign::kSettings, "/usr/share/zoneinfo/*"},
    {Foreign::kSettings, "*/gconv/*"},
    {Foreign::kSettings, "/usr/lib/ssl/*"},
    {Foreign::kSettings, "/etc/ssl/*"},
    {Foreign::kSettings, "/etc/localtime"},
    {Foreign::kSettings, "/etc/timezone"},
    {Foreign::kSettings, "/etc/nsswitch.conf"},
    {Foreign::kSettings, "/etc/host.conf"},
    {Foreign::kSettings, "/etc/hosts"},
    {Foreign::kSettings, "/etc/resolv.conf"},
    {Foreign::kSettings, "/etc/gai.conf"},
    {Foreign::kSettings, "/etc/libnl/*"},
    {Foreign::kSettings, "*/mpich.conf"},
    {Foreign::kSettings, "*/ucx.conf"},
};

bool matches_pattern(const Pattern& pattern, const std::string& name) {
  if (::fnmatch(pattern.glob, name.c_str(), 0) != 0) return false;
  if (!pattern.last) return true;
  const std::size_t slash = name.rfind('/');
  return slash != std::string::npos && ::fnmatch(std::strrchr(pattern.glob, '/'), name.c_str() + slash, 0) == 0;
}

bool matches(const std::string& glob, const std::string& name) { return ::fnmatch(glob.c_str(), name.c_str(), 0) == 0; }

bool any_matches(const std::vector<std::string>& globs, const std::string& name) {
  return std::any_of(globs.begin(), globs.end(), [&](const std::string& glob) { return matches(glob, name); });
}

}  // namespace

Foreign foreign(const std::string& name) {
  for (const Pattern& pattern : kPatterns)
    if (matches_pattern(pattern, name)) return pattern.what;
  return Foreign::kNone;
}

std::string_view foreign_name(Foreign what) {
  constexpr std::string_view kNames[kForeign] = {"MPI's own files",     "/proc and /sys",  "libraries",
                                                 "interpreters' files", "system settings", "excluded files"};
  return what == Foreign::kNone ? "" : kNames[static_cast<std::size_t>(what)];
}

Filter::NameStatus Filter::judge(const std::string& name) const {
  NameStatus known;
  known.judged = true;
  known.asked = options_.file.empty() || matches(options_.file, name);
  if (any_matches(options_.exclude, name)) {
    known.what = Foreign::kExcluded;
  } else if (!options_.all && options_.file.empty() && !any_matches(options_.include, name)) {
    known.what = foreign(name);  // a file that the user names always counts
  }
  return known;
}

Filter::Verdict Filter::verdict(const Call& call) {
  if (call.name == kNoFile)
    return options_.file.empty() || call.event.kind >= Kind::kStart ? Verdict::kCounts : Verdict::kNotAsked;
  if (call.name >= known_.size()) known_.resize(lookup_.names());
  NameStatus& known = known_[call.name];
  if (!known.judged) known = judge(lookup_.text(call.name));
  return !known.asked ? Verdict::kNotAsked : known.what == Foreign::kNone ? Verdict::kCounts : Verdict::kLeftOut;
}

void Filter::leave(const Call& call) {
  NameStatus& known = known_[call.name];
  LeftOutRow& sum = sums_[static_cast<std::size_t>(known.what)];
  const Event& event = call.event;
  sum.files += known.counted ? 0 : 1;
  known.counted = true;
  ++sum.calls;
  grow(sum.time, call.end - call.start);
  if (event.result < 0) return;
  if (event.kind == Kind::kRead || event.kind == Kind::kWrite) {
    Traffic& traffic = sum.data[event.kind == Kind::kRead ? kReads : kWrites];
    ++traffic.count;
    grow(traffic.bytes, call.moved);
  }
  if (event.kind == Kind::kMap && event.interface == Interface::kMmap && known.what != Foreign::kMpi) {
    ++sum.maps;
    grow(sum.mapped[kReads], std::max<std::int64_t>(event.length, 0));
    if ((event.flags & flag::kReadOnly) == 0) grow(sum.mapped[kWrites], std::max<std::int64_t>(event.length, 0));
  }
}

void Filter::result(Report& report) const {
  for (std::size_t at = 0; at < kForeign; ++at) {
    if (sums_[at].calls == 0) continue;
    report.left_out.push_back(sums_[at]);
    report.left_out.back().what = foreign_name(static_cast<Foreign>(at));
  }
}

}  // namespace plait::trace::report
