-- Ranges whose names have no column, one without a thread, and calls of which nobody knows who made them.
-- expected: {"cells": {"7": [["(unnamed)", "native", "idle", 20], ["(unnamed)", "native", "compute", 10]]}, "ledger": {"import_tables_incomplete": 1, "import_names_missing": 1, "import_events_malformed": 1, "kernels_without_launch": 1}}
CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
INSERT INTO StringIds VALUES (1, 'cudaLaunchKernel_v7000'), (2, 'saxpy');
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INT, end INT, correlationId INT, nameId INT);
INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (0, 10, 1, 1);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT, end INT, globalPid INT, deviceId INT, streamId INT, correlationId INT, shortName INT);
INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (10, 20, 7 << 24, 0, 7, 1, 2);
CREATE TABLE NVTX_EVENTS (start INT, end INT, globalTid INT);
INSERT INTO NVTX_EVENTS VALUES (0, 30, (7 << 24) + 7), (0, 90, NULL);
