-- Two processes, one Python, with everything that a recent export holds.
-- expected: {"cells": {"100": [["(no operation)", "python", "idle", 100], ["step", "python", "idle", 300], ["step", "cuda_api", "idle", 100], ["forward", "cuda_api", "idle", 50], ["forward", "python", "idle", 50], ["forward", "python", "compute", 200], ["step", "cuda_sync", "compute", 150], ["step", "cuda_sync", "copy", 50], ["(no operation)", "python", "comm", 100]], "200": [["(no operation)", "native", "idle", 10], ["(no operation)", "cuda_api", "idle", 20], ["(no operation)", "native", "compute", 30]]}}
CREATE TABLE META_DATA_EXPORT (name TEXT, value TEXT);
INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_SCHEMA_VERSION', '3.11.0');
CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
INSERT INTO StringIds VALUES (1, 'cudaLaunchKernel_v7000'), (2, 'cudaStreamSynchronize_v3020'),
  (3, 'void gemm<float>(float*)'), (4, 'gemm'), (5, 'ncclDevKernel_AllReduce_Sum_f32'), (6, 'forward'),
  (7, 'main'), (8, 'ncclAllReduce'), (9, 'cudaMemcpyAsync_v3020'), (10, 'cudaGraphLaunch_v10000'), (11, 'NCCL');
CREATE TABLE PROCESSES (globalPid INTEGER, pid INTEGER, name TEXT);
INSERT INTO PROCESSES VALUES (281474976710656 + (100 << 24), 100, '/usr/bin/python3.11'),
  (281474976710656 + (200 << 24), 200, '/opt/serve');
CREATE TABLE ThreadNames (nameId INTEGER, priority INTEGER, globalTid INTEGER);
INSERT INTO ThreadNames VALUES (7, 1, 281474976710656 + (100 << 24) + 100);
CREATE TABLE TARGET_INFO_SYSTEM_ENV (globalVid INTEGER, devStateName TEXT, name TEXT, nameEnum INTEGER, value TEXT);
INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES (1, '', 'Hostname', 1, 'node/7');
CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER, utcTime TEXT, localTime TEXT);
INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (1700000000000000000, '', '');
CREATE TABLE TARGET_INFO_GPU (vmId INTEGER, id INTEGER, name TEXT, totalMemory INTEGER, smCount INTEGER, uuid TEXT, maxWarpsPerSm INTEGER, maxBlocksPerSm INTEGER, threadsPerWarp INTEGER, computeMajor INTEGER, computeMinor INTEGER);
INSERT INTO TARGET_INFO_GPU VALUES (1, 0, 'NVIDIA H100', 85000000000, 132, 'aaaaaaaa-0000-0000-0000-000000000000', 64, 32, 32, 9, 0),
  (1, 1, 'NVIDIA H100', 85000000000, 132, 'bbbbbbbb-0000-0000-0000-000000000000', 64, 32, 32, 9, 0);
CREATE TABLE TARGET_INFO_CUDA_DEVICE (gpuId INTEGER, cudaId INTEGER, pid INTEGER, uuid TEXT, numMultiprocessors INTEGER);
INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES (0, 0, 100, '', 132), (1, 0, 200, '', 132);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER, globalTid INTEGER, correlationId INTEGER, nameId INTEGER, returnValue INTEGER, callchainId INTEGER);
INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES
  (1400, 1500, 0, 281474976710656 + (100 << 24) + 100, 1, 9, 0, NULL),
  (1500, 1550, 0, 281474976710656 + (100 << 24) + 100, 2, 1, 0, NULL),
  (1800, 2000, 0, 281474976710656 + (100 << 24) + 100, 3, 2, 0, NULL),
  (1010, 1030, 0, 281474976710656 + (200 << 24) + 205, 1, 10, 0, NULL);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER, contextId INTEGER, greenContextId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER, demangledName INTEGER, shortName INTEGER, mangledName INTEGER, launchType INTEGER, registersPerThread INTEGER, gridX INTEGER, gridY INTEGER, gridZ INTEGER, blockX INTEGER, blockY INTEGER, blockZ INTEGER, staticSharedMemory INTEGER, dynamicSharedMemory INTEGER, graphNodeId INTEGER);
INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES
  (1600, 1950, 0, 1, NULL, 7, 2, 281474976710656 + (100 << 24), 3, 4, NULL, 1, 32, 64, 1, 1, 128, 1, 1, 0, 1024, NULL),
  (2100, 2200, 0, 1, NULL, 7, 2, 281474976710656 + (100 << 24), 5, 5, NULL, 1, 32, 64, 1, 1, 128, 1, 1, 0, 1024, NULL);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER, contextId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER, bytes INTEGER, copyKind INTEGER, srcKind INTEGER, dstKind INTEGER);
INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (1950, 2000, 0, 1, 7, 1, 281474976710656 + (100 << 24), 4096, 1, 1, 2);
CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER, graphId INTEGER, contextId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER);
INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (1030, 1060, 0, 4, 1, 7, 1, 281474976710656 + (200 << 24));
CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER, contextId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER, syncType INTEGER, eventId INTEGER);
INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES (1810, 2000, 0, 1, 7, 3, 281474976710656 + (100 << 24), 3, 0);
CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER, rangeId INTEGER, category INTEGER, color INTEGER, text TEXT, globalTid INTEGER, endGlobalTid INTEGER, textId INTEGER, domainId INTEGER);
INSERT INTO NVTX_EVENTS VALUES
  (900, NULL, 75, NULL, NULL, NULL, NULL, 281474976710656 + (100 << 24) + 100, NULL, 11, 2),
  (1000, 1000, 34, NULL, NULL, NULL, 'a mark', 281474976710656 + (100 << 24) + 100, NULL, NULL, 0),
  (1100, 2000, 59, NULL, NULL, NULL, 'step', 281474976710656 + (100 << 24) + 100, NULL, NULL, 0),
  (1500, 1800, 59, NULL, NULL, NULL, NULL, 281474976710656 + (100 << 24) + 100, NULL, 6, 0),
  (1700, 1720, 59, NULL, NULL, NULL, NULL, 281474976710656 + (100 << 24) + 100, NULL, 8, 2),
  (1000, 1010, 60, 1, NULL, NULL, 'TSL:load', 281474976710656 + (200 << 24) + 205, 281474976710656 + (200 << 24) + 206, NULL, 0);
