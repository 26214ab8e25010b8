-- Process 7 launched kernels of which there is none. Those of process 8 failed: it has none.
-- expected: {"cells": {"7": [["(no operation)", "cuda_api", "unknown", 35], ["(no operation)", "native", "unknown", 5], ["(no operation)", "native", "copy", 10]], "8": [["(no operation)", "cuda_api", "idle", 20]]}, "ledger": {"import_launches_without_work": 2}}
CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
INSERT INTO StringIds VALUES (1, 'cudaLaunchKernel_v7000'), (2, 'cudaMemcpyAsync_v3020'), (3, 'cudaLaunchHostFunc_v10000');
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INT, end INT, globalTid INT, correlationId INT, nameId INT, returnValue INT);
INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES
  (0, 10, (7 << 24) + 7, 1, 1, 0),
  (10, 20, (7 << 24) + 7, 2, 1, 0),
  (20, 30, (7 << 24) + 7, 3, 1, 700),
  (30, 35, (7 << 24) + 7, 4, 2, 0),
  (0, 10, (8 << 24) + 8, 1, 1, 700),
  (10, 20, (8 << 24) + 8, 2, 3, 0);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT, end INT, globalPid INT, deviceId INT, streamId INT, correlationId INT, shortName INT);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INT, end INT, globalPid INT, deviceId INT, streamId INT, correlationId INT, copyKind INT);
INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (40, 50, 7 << 24, 0, 7, 4, 1);
