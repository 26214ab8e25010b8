-- The kernels' table lacks a column that it cannot be read without: GPU time is unknown where nothing else ran.
-- expected: {"cells": {"7": [["step", "native", "unknown", 60], ["step", "cuda_api", "unknown", 20], ["step", "native", "copy", 20]], "8": [["tick", "native", "unknown", 50]]}, "ledger": {"import_tables_incomplete": 1}}
CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
INSERT INTO StringIds VALUES (1, 'cudaLaunchKernel_v7000'), (2, 'cudaMemcpyAsync_v3020'), (3, 'saxpy');
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INT, end INT, globalTid INT, correlationId INT, nameId INT);
INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (10, 20, (7 << 24) + 7, 1, 1), (20, 30, (7 << 24) + 7, 2, 2);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT, endNs INT, globalPid INT, deviceId INT, streamId INT, correlationId INT, shortName INT);
INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (30, 50, 7 << 24, 0, 7, 1, 3);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INT, end INT, globalPid INT, deviceId INT, streamId INT, correlationId INT, copyKind INT);
INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (40, 60, 7 << 24, 0, 7, 2, 1);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (start INT, endNs INT);
CREATE TABLE NVTX_EVENTS (start INT, end INT, text TEXT, globalTid INT);
INSERT INTO NVTX_EVENTS VALUES (0, 100, 'step', (7 << 24) + 7), (0, 50, 'tick', (8 << 24) + 8);
