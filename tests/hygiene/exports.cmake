# SPDX-License-Identifier: Apache-2.0
#
# What the libraries that live in somebody's process show to it and drag in with them.
function(exports_test name target)
  add_test(NAME hygiene_exports_${name} COMMAND ${Python3_EXECUTABLE}
    ${CMAKE_CURRENT_LIST_DIR}/check_exports.py $<TARGET_FILE:${target}> ${ARGN})
  set_tests_properties(hygiene_exports_${name} PROPERTIES LABELS hygiene TIMEOUT 60)
endfunction()

# Parts of the C library until 2.34.
set(of_older_glibc "")
if(GPUBOUND_GLIBC_DIR)
  set(of_older_glibc libpthread.so.0 libdl.so.2)
endif()

exports_test(shim gpubound_shim
  --exports gpubound_api_v1 gpubound_shim_v1 _exit _Exit vfork cuptiSubscribe cuptiSubscribe_v2
    # In front of what blocks, and what lets others go on (waits.c).
    pthread_cond_wait pthread_cond_timedwait pthread_cond_clockwait pthread_cond_signal
    pthread_cond_broadcast pthread_mutex_lock pthread_mutex_timedlock pthread_mutex_clocklock
    pthread_mutex_unlock pthread_join pthread_barrier_wait
    sem_wait sem_timedwait sem_clockwait sem_post
    nanosleep clock_nanosleep usleep sleep
    poll ppoll __poll_chk __ppoll_chk select pselect epoll_wait epoll_pwait epoll_pwait2
    read readv __read_chk recv __recv_chk recvfrom __recvfrom_chk recvmsg accept accept4
    wait waitpid waitid wait3 wait4
    syscall
    # The same of ranks (mpi.c).
    MPI_Barrier MPI_Bcast MPI_Gather MPI_Gatherv MPI_Scatter MPI_Scatterv MPI_Allgather MPI_Allgatherv
    MPI_Alltoall MPI_Alltoallv MPI_Alltoallw MPI_Reduce MPI_Allreduce MPI_Reduce_scatter
    MPI_Reduce_scatter_block MPI_Scan MPI_Exscan
    MPI_Send MPI_Ssend MPI_Recv MPI_Sendrecv MPI_Sendrecv_replace MPI_Probe MPI_Mprobe MPI_Mrecv
    MPI_Wait MPI_Waitall MPI_Waitany MPI_Waitsome MPI_Win_fence MPI_Comm_free MPI_Comm_disconnect
  --may-export GLIBC_2.3.2 # the version of pthread_cond_...
  --needed libc.so.6
  --may-need libc.so.6 ${of_older_glibc}
  --weak __register_atfork gnu_get_libc_version __libc_single_threaded dlvsym # which musl has not
  --max-bytes 45056)
# With sanitizers the core needs their runtimes; the promise is about what is shipped.
if(NOT GPUBOUND_SANITIZE)
  exports_test(core gpubound_core
    --exports gpubound_core_api_v1 gpubound_core_finish_v1 gpubound_core_yield_v1
      InitializeInjection InitializeInjectionNvtx2
    --may-export InitializeInjectionNvtxExtension
    --needed libc.so.6
    --may-need libm.so.6 ld-linux-x86-64.so.2 ld-linux-aarch64.so.1 ${of_older_glibc})
  get_property(extensions GLOBAL PROPERTY GPUBOUND_PYTHON_EXTENSIONS)
  foreach(extension IN LISTS extensions)
    exports_test(${extension} ${extension}
      --exports PyInit__core
      --needed libc.so.6
      --may-need libm.so.6 ld-linux-x86-64.so.2 ld-linux-aarch64.so.1 ${of_older_glibc})
  endforeach()
  if(TARGET gpubound_engine)  # has what the next two have otherwise (cmake/OneLibrary.cmake)
    exports_test(engine gpubound_engine
      --exports gpubound_command sqlite3_gpuboundsqlite_init PyInit__reader
      --needed libc.so.6
      --may-need libm.so.6 ld-linux-x86-64.so.2 ld-linux-aarch64.so.1 ${of_older_glibc})
  else()
    exports_test(sqlite gpubound_sqlite
      --exports sqlite3_gpuboundsqlite_init
      --needed libc.so.6
      --may-need libm.so.6 ld-linux-x86-64.so.2 ld-linux-aarch64.so.1)
    if(TARGET gpubound_reader_abi3_so)
      exports_test(reader gpubound_reader_abi3_so
        --exports PyInit__reader
        --needed libc.so.6
        --may-need libm.so.6 ld-linux-x86-64.so.2 ld-linux-aarch64.so.1)
    endif()
  endif()
endif()
add_test(NAME hygiene_exports_checker COMMAND ${Python3_EXECUTABLE}
  ${CMAKE_CURRENT_LIST_DIR}/exports_checker_test.py ${CMAKE_CURRENT_LIST_DIR}/check_exports.py)
set_tests_properties(hygiene_exports_checker PROPERTIES LABELS hygiene TIMEOUT 60)
