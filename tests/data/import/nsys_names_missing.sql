-- Names that are referred to and not there are counted, and stated; a name that is empty is stated too.
-- expected: {"cells": {"7": [["(unnamed)", "native", "idle", 25], ["(unnamed)", "cuda_api", "idle", 15], ["(unnamed)", "native", "compute", 5], ["(unnamed)", "cuda_api", "compute", 5]]}, "ledger": {"import_names_missing": 3}}
CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
INSERT INTO StringIds VALUES (1, 'cudaLaunchKernel_v7000');
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INT, end INT, globalTid INT, correlationId INT, nameId INT);
INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (0, 10, (7 << 24) + 7, 1, 1), (20, 30, (7 << 24) + 7, 2, 99);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT, end INT, globalPid INT, deviceId INT, streamId INT, correlationId INT);
INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (15, 25, 7 << 24, 0, 7, 1);
CREATE TABLE NVTX_EVENTS (start INT, end INT, text TEXT, textId INT, globalTid INT);
INSERT INTO NVTX_EVENTS VALUES (0, 40, NULL, 98, (7 << 24) + 7), (40, 50, '', NULL, (7 << 24) + 7);
