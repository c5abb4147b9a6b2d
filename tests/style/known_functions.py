"""Functions and classes that exceed the limits of test_functions.py, with their numbers, which may only decrease."""

# Lines of code.
KNOWN_LINES = {
    "bindings/python/core_bits.cpp:plait::python::bind_bits": 90,
    "bindings/python/core_file.cpp:plait::python::bind_file": 101,
    "bindings/python/core_layout.cpp:plait::python::bind_layout": 202,
    "trace/bindings/python/trace/traces.cpp:plait::python::bind_traces": 80,
    "trace/src/trace/formats/binary/stream.cpp:plait::trace::binary::Stream::decode_fields": 74,
    "trace/src/trace/formats/import/strace/act.cpp:plait::trace::strace::EventConverter::call": 102,
    "trace/src/trace/formats/import/strace/calls.cpp:plait::trace::strace::find_effect": 122,
    "trace/src/trace/formats/text1992/reader.cpp:plait::trace::text1992::Reader1992::take_record": 77,
}

# Numbers of parameters.  The parameters come from another language or library, or from a public function.
KNOWN_PARAMETERS = {
    "src/container/hdf5/growth/overlay_driver.cpp:plait::container::hdf5::read_overlay": 6,
    "src/container/hdf5/growth/overlay_driver.cpp:plait::container::hdf5::write_overlay": 6,
    "src/container/hdf5/ranges/range_file.cpp:plait::container::hdf5::read_ranges": 6,
    "src/container/hdf5/ranges/range_file.cpp:plait::container::hdf5::write_ranges": 6,
    "trace/bindings/python/trace/report.cpp:plait::python::analyse": 16,
    "trace/bindings/python/trace/traces.cpp:plait::python::finish": 7,
    "trace/bindings/python/trace/traces.cpp:plait::python::open_reader": 11,
    "trace/bindings/python/trace/traces.cpp:plait::python::open_writer": 8,
    "python/plait/notations/mpi.py:from_darray": 7,  # of MPI_Type_create_darray
    "src/container/hdf5/library_read/external_links.cpp:plait::container::hdf5::ExternalLinks::check": 7,  # of HDF5
    "src/core/redistribution/redistribute.cpp:plait::redistribute": 7,
    "src/core/redistribution/redistribute.cpp:plait::start_redistribute": 7,
    "src/layout/layout.cpp:plait::Layout::Layout": 6,
    "trace/src/trace/capture/calls/exec.c:exec_unrecorded": 6,  # of execveat
    "trace/src/trace/capture/calls/exec.c:exec_recorded": 8,
    "trace/src/trace/capture/uring/calls.c:forward": 7,  # of io_uring_register
}

# Numbers of functions of a class.
KNOWN_METHODS = {
    "plait::DistantFile::Impl": 42,
    "plait::File": 34,
    "plait::Layout": 41,
    "plait::SharedFile::Impl": 42,
    "plait::access::WindowMove": 31,
    "plait::simulation::BufferCache": 35,
    "plait::simulation::Rank": 33,
    "plait::transport::native::ActiveEnd": 39,
    "python/plait/_file/file.py:File": 32,
}
