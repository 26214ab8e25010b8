# SPDX-License-Identifier: Apache-2.0
#
# cmake -DGPUBOUND=... -DVICTIM=... -DSIM=FOLDER -DDATA=FOLDER -DSQLITE=sqlite3 -DSEEDS=FOLDER -P reader_seeds.cmake
# Records small runs on the simulated device and lays their files out as seeds of reader_fuzz:
# SEEDS/runs/RUN, and SEEDS/READER/FILE.
file(REMOVE_RECURSE ${SEEDS})
file(MAKE_DIRECTORY ${SEEDS}/runs)
set(environment LD_LIBRARY_PATH=${SIM} GPUBOUND_CALIBRATE=0 GPUBOUND_LIVE_PAGES=16
  XDG_CACHE_HOME=${SEEDS}/cache)

# record(NAME [OPTION...] -- ACTION COUNT)
function(record name)
  execute_process(COMMAND ${CMAKE_COMMAND} -E env ${environment}
    ${GPUBOUND} run -q -o ${SEEDS}/runs/${name} ${ARGN} OUTPUT_QUIET ERROR_VARIABLE words)
  if(NOT EXISTS ${SEEDS}/runs/${name}/run.json)
    message(FATAL_ERROR "no run was recorded: ${words}")
  endif()
endfunction()

record(closed -- ${VICTIM} train 5)
record(graphs --graphs graph -- ${VICTIM} graphs 5)
record(killed -- ${VICTIM} steps_and_kill 5)
record(part --steps 1:3 -- ${VICTIM} train 2000)
set(ENV{GPUBOUND_FLUSH_MS} 10)  # many chunks, of which some can be removed
record(compacted -- ${VICTIM} train 300)
unset(ENV{GPUBOUND_FLUSH_MS})
file(GLOB calibrations ${SEEDS}/runs/*/calibration.json)
if(NOT calibrations)
  file(WRITE ${SEEDS}/runs/closed/calibration.json "{}")
endif()
execute_process(
  COMMAND ${GPUBOUND} compact --window 1ms --detail none ${SEEDS}/runs/compacted OUTPUT_QUIET
  COMMAND_ERROR_IS_FATAL ANY)

function(seeds reader)
  file(MAKE_DIRECTORY ${SEEDS}/${reader})
  foreach(file IN LISTS ARGN)
    get_filename_component(name ${file} NAME)
    get_filename_component(run ${file} DIRECTORY)
    get_filename_component(run ${run} NAME)
    configure_file(${file} ${SEEDS}/${reader}/${run}.${name} COPYONLY)
  endforeach()
endfunction()
set(runs ${SEEDS}/runs)
file(GLOB files ${runs}/*/run.json)
seeds(run_json ${files})
file(GLOB files ${runs}/*/*.db)
seeds(segment ${files})
seeds(killed_segment ${files})
file(GLOB files ${runs}/*/*.live)
seeds(live ${files})
file(GLOB files ${runs}/*/calibration.json)
seeds(calibration ${files})
file(GLOB files ${runs}/*/sums.gpubound)
seeds(sums ${files})
file(GLOB files ${runs}/*/*.later)
seeds(later ${files})
file(GLOB files ${DATA}/import/*.json)
seeds(chrome ${files})
file(GLOB files ${DATA}/import/*.sql)
file(MAKE_DIRECTORY ${SEEDS}/nsys)
foreach(file IN LISTS files)
  get_filename_component(name ${file} NAME_WE)
  execute_process(COMMAND ${SQLITE} ${SEEDS}/nsys/${name}.sqlite INPUT_FILE ${file} OUTPUT_QUIET
    ERROR_QUIET)
endforeach()
