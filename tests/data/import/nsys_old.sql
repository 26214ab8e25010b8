-- An old export of one native process: no domains, no process ids, names in one column only.
-- expected: {"cells": {"3": [["(no operation)", "native", "idle", 5], ["tick", "cuda_api", "idle", 10], ["tick", "native", "idle", 5], ["tick", "native", "compute", 20], ["(no operation)", "native", "copy", 10]]}, "ledger": {"kernels_without_launch": 1}}
CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
INSERT INTO StringIds VALUES (1, 'cudaLaunchKernel_v7000'), (2, 'saxpy');
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INT, end INT, globalTid INT, correlationId INT, nameId INT);
INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (10, 20, (3 << 24) + 3, 5, 1);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT, end INT, deviceId INT, streamId INT, correlationId INT, shortName INT);
INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (25, 45, 0, 7, 5, 2);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (start INT, end INT, deviceId INT, streamId INT, bytes INT);
INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES (50, 60, 0, 7, 64);
CREATE TABLE NVTX_EVENTS (start INT, end INT, text TEXT, globalTid INT);
INSERT INTO NVTX_EVENTS VALUES (10, 45, 'tick', (3 << 24) + 3);
