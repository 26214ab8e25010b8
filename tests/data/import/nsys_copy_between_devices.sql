-- A copy between two devices keeps both busy, by the numbers that its process has for them; one from
-- the host does not, whatever its columns say.
-- expected: {"cells": {"5": [["train", "cuda_api", "idle", 12], ["train", "native", "idle", 28], ["train", "native", "copy", 55], ["train", "native", "compute", 5]]}, "ledger": {"kernels_without_launch": 1}, "devices": {"2": 55, "3": 55}}
CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
INSERT INTO StringIds VALUES (1, 'cudaMemcpyPeerAsync'), (2, 'cudaLaunchKernel'), (3, 'k');
CREATE TABLE TARGET_INFO_CUDA_DEVICE (gpuId INTEGER, cudaId INTEGER, pid INTEGER, uuid TEXT, numMultiprocessors INTEGER);
INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES (2, 0, 5, '', 132), (3, 1, 5, '', 132);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER NOT NULL, end INTEGER NOT NULL, globalTid INTEGER, correlationId INTEGER, nameId INTEGER);
INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES
  (0, 10, 281474976710656 + (5 << 24) + 5, 1, 1),
  (80, 82, 281474976710656 + (5 << 24) + 5, 2, 2);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER, contextId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER, bytes INTEGER, copyKind INTEGER, srcKind INTEGER, dstKind INTEGER, srcDeviceId INTEGER, srcContextId INTEGER, dstDeviceId INTEGER, dstContextId INTEGER);
INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES
  (20, 70, 1, 2, 7, 1, 281474976710656 + (5 << 24), 100, 10, 2, 2, 0, 1, 1, 2),
  (95, 100, 0, 1, 7, 9, 281474976710656 + (5 << 24), 100, 1, 1, 2, 1, 2, 0, 1);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER, contextId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER, shortName INTEGER);
INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (83, 88, 1, 2, 7, 2, 281474976710656 + (5 << 24), 3);
CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER, text TEXT, globalTid INTEGER, domainId INTEGER);
INSERT INTO NVTX_EVENTS VALUES (0, 100, 59, 'train', 281474976710656 + (5 << 24) + 5, 0);
