# SPDX-License-Identifier: Apache-2.0
#
# cmake -DPROGRAM=... -DCORPUS=... -DSECONDS=n [-DSEEDS=FOLDER] [-DLEAST_SEEDS=n] [-DMAX_LEN=n]
#   -P run_fuzzer.cmake
# Runs the fuzzer on the seeds and on what earlier runs found; fails on a finding, and when the seeds
# are missing, since a fuzzer without seeds passes without having looked.
if(NOT SEEDS)
  set(SEEDS ${CORPUS}/seeds)
endif()
if(NOT LEAST_SEEDS)
  set(LEAST_SEEDS 10)
endif()
if(NOT MAX_LEN)
  set(MAX_LEN 16384)
endif()
file(GLOB seeds ${SEEDS}/*)
list(LENGTH seeds seed_count)
if(seed_count LESS LEAST_SEEDS)
  message(FATAL_ERROR "${SEEDS} holds ${seed_count} seeds; build the target that makes them")
endif()
file(MAKE_DIRECTORY ${CORPUS}/found)
execute_process(
  COMMAND ${PROGRAM} -max_total_time=${SECONDS} -timeout=10 -rss_limit_mb=2048 -max_len=${MAX_LEN}
          -print_final_stats=1 -artifact_prefix=${CORPUS}/ ${CORPUS}/found ${SEEDS}
  RESULT_VARIABLE result)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "the fuzzer found a fault (${result}); the input lies in ${CORPUS}")
endif()
