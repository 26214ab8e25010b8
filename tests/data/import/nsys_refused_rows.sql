-- Rows that end before they begin make no process, no thread and no device.
-- expected: {"cells": {"5": [["(no operation)", "cuda_api", "idle", 10], ["(no operation)", "native", "idle", 10], ["(no operation)", "native", "compute", 30]]}, "ledger": {"import_events_malformed": 5}}
CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
INSERT INTO StringIds VALUES (1, 'cudaLaunchKernel_v7000'), (2, 'k');
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER NOT NULL, end INTEGER NOT NULL, globalTid INTEGER, correlationId INTEGER, nameId INTEGER);
INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES
  (5, 4, 281474976710656 + (4 << 24) + 4, 1, 1),
  (0, 10, 281474976710656 + (5 << 24) + 5, 1, 1);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER, shortName INTEGER);
INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES
  (20, 50, 0, 7, 1, 281474976710656 + (5 << 24), 2),
  (20, 10, 3, 7, 2, 281474976710656 + (6 << 24), 2);
CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER, text TEXT, globalTid INTEGER, domainId INTEGER);
INSERT INTO NVTX_EVENTS VALUES
  (9000000000000000000, 9000000000000000000, 59, 'far', 281474976710656 + (7 << 24) + 7, 0),
  (8, 3, 59, 'inverted', 281474976710656 + (5 << 24) + 5, 0), (8, 3, 60, 'inverted', 281474976710656 + (8 << 24) + 8, 0);
