#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# What somebody does who has just installed gpubound and reads no manual:
# walkthrough.sh GPUBOUND VICTIM SIM_DIR. Every step says what it expected when it gets something else.
set -uo pipefail
gpubound=$1 victim=$2
export LD_LIBRARY_PATH=$3 GPUBOUND_CALIBRATE=0
data=$(cd "$(dirname "$0")/../data" && pwd)
unset GPUBOUND_RUN LD_PRELOAD CUDA_INJECTION64_PATH NVTX_INJECTION64_PATH COLUMNS NO_COLOR

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
failures=0

# step NAME STATUS COMMAND...: runs COMMAND, whose output goes to ./out and ./err.
step() {
  name=$1
  local expected=$2 status
  shift 2
  "$@" > out 2> err
  status=$?
  [ "$status" = "$expected" ] || fail "exit status is $status, expected $expected"
}
fail() {
  echo "FAILED: $name: $1"
  sed 's/^/  out: /' out
  sed 's/^/  err: /' err
  failures=$((failures + 1))
}
says() { grep -qF -- "$2" "$1" || fail "./$1 does not say '$2'"; }
silent() { [ ! -s "$1" ] || fail "./$1 is not empty"; }

step "types the name alone" 2 "$gpubound"
says err "Commands:"
step "asks for help" 0 "$gpubound" --help
says out "gpubound run -- python train.py"
silent err
step "asks for the version" 0 "$gpubound" --version
says out "gpubound 0."
step "asks how to run" 0 "$gpubound" run --help
says out "Example:"
step "mistypes" 2 "$gpubound" dcotor
says err "Did you mean 'doctor'?"

step "mistypes help" 2 "$gpubound" hepl
says err "Did you mean 'help'?"
step "asks for help on a command" 0 "$gpubound" help report
says out "gpubound report train.gpubound --json"

step "wants a report before there is a run" 3 "$gpubound" report
says err "gpubound run -- CMD"
silent out
step "checks the machine" 0 "$gpubound" doctor
says out "Ready: gpubound run -- CMD"

step "forgets the command" 125 "$gpubound" run
says err "no command"
step "profiles something that has no GPU work" 0 "$gpubound" run -- /bin/echo hello
says out "hello"
says err "nothing was recorded"
step "checks what was not recorded" 1 "$gpubound" check --require 'wall<=10min'
says out "cannot be decided: nothing was recorded in the run"
step "wonders what that run would be" 3 "$gpubound" whatif ./*.gpubound --scale device:0.5
says err "found no process that was recorded"
: > empty
step "takes a file for a run" 3 "$gpubound" report empty
says err "found an empty file"
rm -rf -- *.gpubound
step "profiles the training" 0 "$gpubound" run -- "$victim" train 5
says out "trained 5"
says err "backpropagation"
says err "gpubound report"

step "looks at the newest run" 0 "$gpubound" report
says out "backpropagation"
says err "the newest run here"
if grep -q $'\x1b' out; then fail "colour in a pipe"; fi
step "wants it as JSON" 0 "$gpubound" report --json
says out '"format": "gpubound.report.v1"'
step "wants to look at it in a browser" 0 "$gpubound" report --html page.html
[ -s page.html ] || fail "no page was written"
step "hands the page on" 0 "$gpubound" report --html -
says out "<!doctype html>"
step "wants a figure" 0 "$gpubound" report --plot figure.svg
[ -s figure.svg ] || fail "no figure was written"
step "wants the figure as PDF" 2 "$gpubound" report --plot figure.pdf
says err "rsvg-convert -f pdf"
step "wants it in a narrow window without UTF-8" 0 env LC_ALL=C COLUMNS=72 "$gpubound" report
if grep -qP '[^\x00-\x7f]' out; then fail "symbols beyond ASCII in the C locale"; fi
if grep -qE '^.{73}' out; then fail "lines longer than COLUMNS"; fi
step "asks what may be wrong with it" 0 "$gpubound" doctor -- *.gpubound
step "lists every counter" 0 "$gpubound" doctor --all -- *.gpubound
says out "Counted, and zero:"
step "mistypes an option" 2 "$gpubound" report --kernel5
says err "Did you mean '--kernels'?"

run=$(ls -d -- *.gpubound)
step "expects something of it" 0 "$gpubound" check "$run" --require 'gpu_busy>0%' \
  --require 'ledger.chunks_corrupt==0' --junit check.xml
says out "2 of 2 requirements hold."
step "has CI read that" 0 python3 -c 'import sys, xml.etree.ElementTree as tree
print(tree.parse("check.xml").getroot().attrib["tests"])'
says out "2"
step "expects too much" 1 "$gpubound" check "$run" --require 'backpropagation.wall<1ns'
says out "FAILED"
step "mistypes what is expected" 2 "$gpubound" check "$run" --require 'gpu_bsy>=40%'
says err "Did you mean 'gpu_busy'?"
step "compares it with itself" 0 "$gpubound" compare "$run" "$run"
says out "GPU busy"
step "looks at it as if it still ran" 0 "$gpubound" top "$run" --once
says out "(ended)"
step "completes words in bash" 0 bash -c 'source <("$1" completion bash); COMP_WORDS=(gpubound rep)
  COMP_CWORD=1; _gpubound; echo "${COMPREPLY[@]}"' bash "$gpubound"
says out "report"
step "reads the manual" 0 "$gpubound" man
says out ".TH GPUBOUND 1"

step "starts it by hand" 0 env -i PATH="$PATH" LD_LIBRARY_PATH="$LD_LIBRARY_PATH" \
  ASAN_OPTIONS="${ASAN_OPTIONS-}" /bin/sh -c \
  'eval "$("$1" env -o "it'"'"'s mine.gpubound")" && "$2" train 3' sh "$gpubound" "$victim"
says out "trained 3"
step "reads what that recorded" 0 "$gpubound" report "it's mine.gpubound"
says out "inference"
step "wants the variables for another launcher" 0 "$gpubound" env --json
says out '"LD_PRELOAD"'

step "has a profile of PyTorch already" 0 \
  "$gpubound" import "$data/kineto/simple_add.json.gz" -o imported.gpubound
says err "gpubound report imported.gpubound"
silent out
step "reads what that made" 0 "$gpubound" report imported.gpubound
says out "another tool recorded it"
says out "Start-up-bound: the GPU is idle"
says out "cudaDeviceGetStreamPriorityRange"
if grep -qi "launch less often" out; then fail "it launches 79 times"; fi
says out "More: --full"
echo "what I did today" > notes.txt
step "imports what is no trace" 3 "$gpubound" import notes.txt
says err "expected a Chrome trace (JSON, plain or gzip) or an Nsight Systems SQLite export"
if ls -d notes*.gpubound >/dev/null 2>&1; then fail "an empty run is left"; fi

[ "$failures" = 0 ] && echo "all steps as expected"
exit "$((failures > 0))"
