#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Prints the path of a Python that this Debian has no package of: built in FOLDER from the source
# package of a later suite (SUITE, forky by default), fetched from the mirror that this machine uses,
# by apt and with its signatures, but with lists of its own. Nothing is installed outside of FOLDER.
# Takes ten minutes on two cores, the second time none.
#
#   build_python.sh FOLDER VERSION [CONFIGURE OPTION...]
#   build_python.sh build/python3.14t 3.14 --disable-gil
set -euo pipefail
folder=${1:?usage: build_python.sh FOLDER VERSION [CONFIGURE OPTION...]}
version=${2:?usage: build_python.sh FOLDER VERSION [CONFIGURE OPTION...]}
shift 2
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)

if [ ! -e "$folder/ready" ]; then
  lists=$folder/apt
  mkdir -p "$lists/lists/partial" "$lists/cache/archives/partial" "$folder/source"
  codename=$(. /etc/os-release && echo "$VERSION_CODENAME")
  mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' \
    "Codename: $codename" | head -n 1)
  echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] ${mirror:?apt-get knows no mirror} \
${SUITE:-forky} main" >"$lists/sources.list"
  options=(-q -o "Dir::Etc::SourceList=$lists/sources.list" -o Dir::Etc::SourceParts=-
    -o "Dir::State::Lists=$lists/lists" -o "Dir::Cache=$lists/cache" -o APT::Sandbox::User=root)
  apt-get "${options[@]}" update >&2
  (cd "$folder/source" && apt-get "${options[@]}" source --download-only "python$version" >&2)
  tar -xf "$folder/source/python$version"_*.orig.tar.xz --strip-components=1 -C "$folder/source"
  cd "$folder/source"
  ./configure -q --prefix="$folder/prefix" --with-ensurepip=install --disable-test-modules "$@" >&2
  make -s -j "$(nproc)" >&2
  make -s install >&2
  "$folder/prefix/bin/python$version" -c 'import ctypes, ssl, zlib' >&2 ||
    { echo "${0##*/}: install libffi-dev, libssl-dev and zlib1g-dev, and begin again" >&2; exit 1; }
  touch "$folder/ready"
fi
echo "$folder/prefix/bin/python$version"
