# SPDX-License-Identifier: Apache-2.0
# One static library a folder of src/, one test program a folder, one program a fuzz target.
#
#   firn_folder(NAME DEPENDS folder... LIBRARIES target...)
#
# All x.cc below the folder go into firn_NAME; x_test.cc into NAME_test; x_fuzz.cc each into x_fuzz: with
# FIRN_FUZZ a libFuzzer program, otherwise a program that replays the files given to it; x_bench.cc each into x_bench.

function(firn_folder name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;LIBRARIES" ${ARGN})
  set(dir ${CMAKE_SOURCE_DIR}/src/${name})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${dir}/*.cc)
  file(GLOB_RECURSE tests CONFIGURE_DEPENDS ${dir}/*_test.cc)
  file(GLOB_RECURSE fuzzers CONFIGURE_DEPENDS ${dir}/*_fuzz.cc)
  file(GLOB_RECURSE benches CONFIGURE_DEPENDS ${dir}/*_bench.cc)
  list(FILTER sources EXCLUDE REGEX "(_test|_fuzz|_bench|/main)\\.cc$")
  list(TRANSFORM ARG_DEPENDS PREPEND firn_)

  if(sources)
    add_library(firn_${name} STATIC ${sources})
    target_include_directories(firn_${name} PUBLIC ${CMAKE_SOURCE_DIR}/src ${CMAKE_BINARY_DIR}/generated)
    target_link_libraries(firn_${name} PUBLIC ${ARG_DEPENDS} fmt::fmt Threads::Threads PRIVATE ${ARG_LIBRARIES})
  else()
    add_library(firn_${name} INTERFACE)
    target_include_directories(firn_${name} INTERFACE ${CMAKE_SOURCE_DIR}/src ${CMAKE_BINARY_DIR}/generated)
    target_link_libraries(firn_${name} INTERFACE ${ARG_DEPENDS} fmt::fmt Threads::Threads ${ARG_LIBRARIES})
  endif()

  if(tests)
    add_executable(${name}_test ${tests})
    target_link_libraries(${name}_test PRIVATE firn_${name} ${ARG_LIBRARIES} GTest::gmock GTest::gtest_main)
    target_compile_definitions(${name}_test PRIVATE FIRN_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
    add_test(NAME ${name} COMMAND ${name}_test)
  endif()

  foreach(source ${fuzzers})
    get_filename_component(target ${source} NAME_WE)
    add_executable(${target} ${source})
    target_link_libraries(${target} PRIVATE firn_${name})
    if(FIRN_FUZZ)
      target_link_options(${target} PRIVATE -fsanitize=fuzzer)
    else()
      target_sources(${target} PRIVATE ${CMAKE_SOURCE_DIR}/tools/fuzz_replay.cc)
      file(GLOB corpus ${CMAKE_SOURCE_DIR}/tests/corpus/${target}/*)
      add_test(NAME ${target} COMMAND ${target} ${corpus})
    endif()
  endforeach()

  foreach(source ${benches})
    get_filename_component(target ${source} NAME_WE)
    add_executable(${target} ${source})
    target_link_libraries(${target} PRIVATE firn_${name} ${ARG_LIBRARIES} benchmark::benchmark benchmark::benchmark_main)
  endforeach()
endfunction()

#   firn_embed(TARGET FILES file... FOLDER dir)
#
# Puts the files, and all of web/, into the program: see src/api/web_files.h.
function(firn_embed target)
  cmake_parse_arguments(ARG "" "FOLDER" "FILES" ${ARGN})
  file(GLOB_RECURSE found CONFIGURE_DEPENDS ${ARG_FOLDER}/*.html ${ARG_FOLDER}/*.css ${ARG_FOLDER}/*.js ${ARG_FOLDER}/*.svg)
  set(files ${ARG_FILES} ${found})
  string(REPLACE ";" "|" list "${files}")
  set(output ${CMAKE_BINARY_DIR}/generated/api/web_files.cc)
  add_custom_command(OUTPUT ${output}
                     COMMAND ${CMAKE_COMMAND} -DOUTPUT=${output} "-DFILES=${list}" -P ${CMAKE_SOURCE_DIR}/cmake/embed_files.cmake
                     DEPENDS ${files} ${CMAKE_SOURCE_DIR}/cmake/embed_files.cmake VERBATIM)
  target_sources(${target} PRIVATE ${output})
endfunction()
