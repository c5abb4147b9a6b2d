#include "mpiio/reason.hpp"

namespace plait::mpiio {

std::string_view describe(Reason reason) {
  switch (reason) {
    case Reason::kNone: return "the MPI was asked to";
    case Reason::kNoGain: return "it is as fast for few elements, and for one piece of the file for each rank";
    case Reason::kPartial: return "ranks access a part of their views, or different parts";
    case Reason::kTooShort: return "the file ends before the access does";
    case Reason::kMemory: return "a memory type is unknown, or the host cannot read the memory";
    case Reason::kReplicas: return "several ranks write the same elements";
    case Reason::kView: return "the views of the ranks form no array, and some have no lists in ascending order";
    case Reason::kMode: return "the file is in atomic mode, or the access mode forbids the access";
    case Reason::kStore: return "Plait does not open files of this file system, or the file was replaced";
    case Reason::kFailed: return "Plait cannot carry out the access";
    case Reason::kMissing: return "some ranks cannot load Plait, or have another PLAIT_MPIIO or level of threads";
  }
  return "unknown";
}

}  // namespace plait::mpiio
