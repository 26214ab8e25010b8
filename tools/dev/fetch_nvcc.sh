#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Prints the path of an nvcc: an installed toolkit's, else one from the PyPI packages of CUDA 13.0,
# installed into FOLDER. Compiling needs no GPU. fetch_nvcc.sh FOLDER
set -euo pipefail
folder=${1:?usage: fetch_nvcc.sh FOLDER}

for candidate in "$(command -v nvcc || true)" "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc"; do
  if [ -x "$candidate" ]; then
    echo "$candidate"
    exit 0
  fi
done

if [ ! -e "$folder/ready" ]; then
  python3 -m venv "$folder/venv"
  "$folder/venv/bin/python3" -m pip install --quiet --disable-pip-version-check \
    nvidia-cuda-nvcc==13.0.88 nvidia-nvvm==13.0.88 nvidia-cuda-crt==13.0.88 \
    nvidia-cuda-runtime==13.0.96 nvidia-cuda-cccl==13.0.85 >&2
  cuda=$(echo "$folder"/venv/lib/python3*/site-packages/nvidia/cu13)
  # nvcc expects the toolkit's lib64 and the unversioned name of the runtime.
  ln -sfn lib "$cuda/lib64"
  ln -sf libcudart.so.13 "$cuda/lib/libcudart.so"
  ln -sfn "$cuda" "$folder/cuda"
  touch "$folder/ready"
fi
echo "$folder/cuda/bin/nvcc"
