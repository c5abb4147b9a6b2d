# The library of simulation: caches and, on a virtual clock, processes and devices, fed by traces.  It stands on tracing.
file(GLOB_RECURSE simulation_sources CONFIGURE_DEPENDS src/simulation/*.cpp)
add_library(plait_simulation SHARED ${simulation_sources})
add_library(plait::simulation ALIAS plait_simulation)
set_target_properties(plait_simulation PROPERTIES EXPORT_NAME simulation)
target_include_directories(plait_simulation PRIVATE src)
target_link_libraries(plait_simulation PUBLIC plait_trace)
plait_warnings(plait_simulation)
# Each device has its own list of parameters, under the same name.
file(GLOB alone src/simulation/devices/*.cpp)
plait_unity(plait_simulation "(.*)/" ${alone})
list(APPEND plait_libraries plait_simulation)
