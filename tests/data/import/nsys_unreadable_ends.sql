-- Of GPU work whose begin alone can be read GPU time is unknown from there on; what has no number for a time is no event.
-- expected: {"cells": {"5": [["(no operation)", "cuda_api", "idle", 10], ["(no operation)", "native", "idle", 20], ["(no operation)", "native", "compute", 30], ["(no operation)", "native", "unknown", 35], ["(no operation)", "cuda_api", "unknown", 5]]}, "ledger": {"import_events_malformed": 7}}
CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
INSERT INTO StringIds VALUES (1, 'cudaLaunchKernel_v7000'), (2, 'k'), (3, 'cudaEventRecord_v3020');
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER NOT NULL, end INTEGER, globalTid INTEGER, correlationId INTEGER, nameId INTEGER);
INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES
  (0, 10, 281474976710656 + (5 << 24) + 5, 1, 1),
  (20, NULL, 281474976710656 + (5 << 24) + 5, 2, 1),
  ('soon', 40, 281474976710656 + (5 << 24) + 5, 3, 1),
  (95, 100, 281474976710656 + (5 << 24) + 5, 4, 3);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER, shortName INTEGER);
INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES
  (20, 50, 0, 7, 1, 281474976710656 + (5 << 24), 2),
  (70, 'later', 0, 7, 1, 281474976710656 + (5 << 24), 2),
  (9000000000000000000, NULL, 0, 7, 1, 281474976710656 + (6 << 24), 2),
  (60, NULL, 0, 7, 1, 281474976710656 + (5 << 24), 2),
  (NULL, 55, 0, 7, 1, 281474976710656 + (5 << 24), 2),
  ('x', 55, 0, 7, 1, 281474976710656 + (5 << 24), 2);
