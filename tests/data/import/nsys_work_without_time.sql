-- A kernel that begins and ends at 0 ran at any time since its launch, and one without a launch whenever.
-- expected: {"cells": {"7": [["step", "native", "idle", 10], ["step", "cuda_api", "unknown", 10], ["step", "native", "unknown", 60], ["step", "native", "compute", 20]], "8": [["tick", "native", "unknown", 50]]}, "ledger": {"cupti_zero_timestamps": 2, "kernels_without_launch": 1}}
CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
INSERT INTO StringIds VALUES (1, 'cudaLaunchKernel_v7000'), (3, 'saxpy');
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INT, end INT, globalTid INT, correlationId INT, nameId INT);
INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (10, 20, (7 << 24) + 7, 1, 1);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT, end INT, globalPid INT, deviceId INT, streamId INT, correlationId INT, shortName INT);
INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (0, 0, 7 << 24, 0, 7, 1, 3), (30, 50, 7 << 24, 0, 7, 2, 3), (0, 0, 8 << 24, 0, 7, 1, 3);
CREATE TABLE NVTX_EVENTS (start INT, end INT, text TEXT, globalTid INT);
INSERT INTO NVTX_EVENTS VALUES (0, 100, 'step', (7 << 24) + 7), (0, 50, 'tick', (8 << 24) + 8);
