# All from the distribution: librapidcheck-dev, libeigen3-dev, libgtest-dev, libcli11-dev, nlohmann-json3-dev, libfmt-dev,
# libz3-dev.
find_package(Threads REQUIRED)
find_package(rapidcheck REQUIRED)
find_package(Eigen3 3.4 REQUIRED NO_MODULE)
find_package(CLI11 REQUIRED)
find_package(nlohmann_json 3.10 REQUIRED)
find_package(fmt REQUIRED)
# The distribution's package has no CMake file of its own.
find_path(KVPROOF_Z3_INCLUDE z3++.h REQUIRED)
find_library(KVPROOF_Z3_LIBRARY z3 REQUIRED)
add_library(kvproof_z3 INTERFACE)
target_include_directories(kvproof_z3 SYSTEM INTERFACE ${KVPROOF_Z3_INCLUDE})
target_link_libraries(kvproof_z3 INTERFACE ${KVPROOF_Z3_LIBRARY})
if(KVPROOF_TESTS)
  find_package(GTest REQUIRED)
endif()
