# The fuzz builds: clang, coverage of every line, and an engine to link the targets with. KVPROOF_FUZZING_ENGINE is
# -fsanitize=fuzzer, or the library that a fuzzing service names in $LIB_FUZZING_ENGINE.
option(KVPROOF_LIBFUZZER "Build for libFuzzer (clang): coverage everywhere, fuzz targets linked with the engine" OFF)
set(KVPROOF_FUZZING_ENGINE "-fsanitize=fuzzer" CACHE STRING "What the fuzz targets are linked with")
if(KVPROOF_LIBFUZZER)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "KVPROOF_LIBFUZZER with ${CMAKE_CXX_COMPILER_ID}: expected Clang")
  endif()
  add_compile_options(-fsanitize=fuzzer-no-link)
  # Programs that link no engine need a runtime that takes the calls of instrumented code.
  add_link_options(-fsanitize=fuzzer-no-link)
endif()
