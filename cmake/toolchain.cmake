# SPDX-License-Identifier: Apache-2.0
# Warnings, sanitizers, linker and compiler cache: the same for every target.

option(FIRN_ASAN "Address and undefined behaviour sanitizers" OFF)
option(FIRN_TSAN "Thread sanitizer" OFF)
option(FIRN_FUZZ "libFuzzer targets (clang)" OFF)

add_compile_options(-Wall -Wextra -Wconversion -Wshadow -Wnon-virtual-dtor -Werror)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12 reports these in its own headers when it inlines; clang-tidy looks for the real ones.
  add_compile_options(-Wno-maybe-uninitialized -Wno-stringop-overflow -Wno-array-bounds -Wno-restrict
                      -Wno-dangling-pointer)
elseif(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # libstdc++ 12 uses a function in std::stable_sort that it marks as deprecated itself.
  add_compile_options(-Wno-deprecated-declarations)
endif()
if(FIRN_ASAN OR FIRN_FUZZ)
  add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
endif()
if(FIRN_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
if(FIRN_TSAN)
  add_compile_options(-fsanitize=thread)
  add_link_options(-fsanitize=thread)
  # Every program that links librdkafka gets it; it costs the others nothing.
  add_library(c11_threads OBJECT ${CMAKE_CURRENT_SOURCE_DIR}/tools/sanitizers/c11_threads.cc)
  link_libraries(c11_threads)
endif()

find_program(FIRN_CCACHE ccache)
if(FIRN_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1
      CCACHE_SLOPPINESS=time_macros,include_file_ctime,include_file_mtime ${FIRN_CCACHE})
endif()

find_program(FIRN_MOLD mold)
if(FIRN_MOLD)
  add_link_options(-fuse-ld=mold)
endif()
