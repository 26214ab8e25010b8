-- Process 7 captured what it launched and has the graph, 9 has its nodes; of 8 the graph is missing, of 10 the set.
-- expected: {"cells": {"7": [["(no operation)", "cuda_api", "idle", 20], ["(no operation)", "native", "idle", 10], ["(no operation)", "native", "compute", 20]], "8": [["(no operation)", "cuda_api", "unknown", 20], ["(no operation)", "native", "unknown", 10], ["(no operation)", "native", "compute", 10]], "9": [["(no operation)", "cuda_api", "idle", 10], ["(no operation)", "native", "idle", 10], ["(no operation)", "native", "compute", 10]], "10": [["(no operation)", "cuda_api", "unknown", 10]]}, "ledger": {"import_launches_without_work": 2}}
CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
INSERT INTO StringIds VALUES (1, 'cudaLaunchKernel_v7000'), (2, 'cudaGraphLaunch_v10000'), (3, 'cudaStreamBeginCapture_v10000'),
  (4, 'cuMemsetD32Async'), (5, 'saxpy');
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INT, end INT, globalTid INT, correlationId INT, nameId INT);
INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES
  (0, 5, (7 << 24) + 7, 1, 3),
  (5, 10, (7 << 24) + 7, 2, 1),
  (10, 20, (7 << 24) + 7, 3, 2),
  (0, 10, (8 << 24) + 8, 2, 1),
  (10, 20, (8 << 24) + 8, 3, 2),
  (0, 10, (9 << 24) + 9, 1, 2);
CREATE TABLE CUPTI_ACTIVITY_KIND_DRIVER (start INT, end INT, globalTid INT, correlationId INT, nameId INT);
INSERT INTO CUPTI_ACTIVITY_KIND_DRIVER VALUES (0, 10, (10 << 24) + 10, 1, 4);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT, end INT, globalPid INT, deviceId INT, streamId INT, correlationId INT, shortName INT, graphNodeId INT);
INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (30, 40, 8 << 24, 0, 7, 2, 5, NULL), (20, 30, 9 << 24, 0, 7, 1, 5, 77);
CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start INT, end INT, globalPid INT, deviceId INT, streamId INT, correlationId INT, graphId INT);
INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (30, 50, 7 << 24, 0, 7, 3, 2);
