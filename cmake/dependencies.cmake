# SPDX-License-Identifier: Apache-2.0
# Libraries from the system, and Arrow C++ from a system package or from the pinned pyarrow wheel.

find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(GTest REQUIRED)
find_package(benchmark REQUIRED)
find_package(SQLite3 REQUIRED)
find_package(CURL REQUIRED)
find_package(ZLIB REQUIRED)
find_package(OpenSSL REQUIRED)
pkg_check_modules(zstd REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(lz4 REQUIRED IMPORTED_TARGET liblz4)
pkg_check_modules(brotli REQUIRED IMPORTED_TARGET libbrotlienc libbrotlidec)
pkg_check_modules(deflate REQUIRED IMPORTED_TARGET libdeflate)
pkg_check_modules(xxhash REQUIRED IMPORTED_TARGET libxxhash)
pkg_check_modules(pq REQUIRED IMPORTED_TARGET libpq)
pkg_check_modules(rdkafka REQUIRED IMPORTED_TARGET rdkafka)
find_library(FIRN_SNAPPY snappy REQUIRED)

# Where the wheel was unpacked: `./x` sets it; otherwise the python on PATH is asked.
set(FIRN_PYARROW_DIR "$ENV{FIRN_PYARROW_DIR}" CACHE PATH "Folder of the pyarrow package")
if(NOT FIRN_PYARROW_DIR)
  execute_process(COMMAND python3 -c "import os, pyarrow; print(os.path.dirname(pyarrow.__file__))"
                  OUTPUT_VARIABLE FIRN_PYARROW_DIR OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
if(NOT EXISTS ${FIRN_PYARROW_DIR}/include/arrow/api.h)
  message(FATAL_ERROR "Arrow C++ not found: run ./x build, or set FIRN_PYARROW_DIR to pyarrow's folder")
endif()
file(STRINGS ${FIRN_PYARROW_DIR}/include/arrow/util/config.h firn_arrow_so REGEX "ARROW_SO_VERSION")
string(REGEX REPLACE ".*\"([0-9]+)\".*" "\\1" FIRN_ARROW_SO "${firn_arrow_so}")

function(firn_arrow_library target file)
  add_library(${target} SHARED IMPORTED GLOBAL)
  set_target_properties(${target} PROPERTIES
    IMPORTED_LOCATION ${FIRN_PYARROW_DIR}/lib${file}.so.${FIRN_ARROW_SO}
    IMPORTED_SONAME lib${file}.so.${FIRN_ARROW_SO}
    INTERFACE_INCLUDE_DIRECTORIES ${FIRN_PYARROW_DIR}/include)
endfunction()
firn_arrow_library(arrow::core arrow)
firn_arrow_library(arrow::parquet parquet)
firn_arrow_library(arrow::compute arrow_compute)
firn_arrow_library(arrow::s3 arrow_s3)
set(CMAKE_BUILD_RPATH ${FIRN_PYARROW_DIR})
set(CMAKE_INSTALL_RPATH ${FIRN_PYARROW_DIR})

# libparquet of the wheel exports an OpenSSL of its own. librdkafka and libcurl are of the system, and would be given a
# mix of both, which crashes: the system's libraries go first in the search order of every program.
add_link_options("LINKER:--push-state,--no-as-needed" ${OPENSSL_SSL_LIBRARY} ${OPENSSL_CRYPTO_LIBRARY} "LINKER:--pop-state")
