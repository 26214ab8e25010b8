-- Whoever made the calls may have launched work, of which there is none.
-- expected: {"cells": {"7": [["step", "native", "unknown", 30]]}, "ledger": {"import_tables_incomplete": 1}}
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INT, end INT, correlationId INT, nameId INT);
INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (0, 10, 1, 1);
CREATE TABLE NVTX_EVENTS (start INT, end INT, text TEXT, globalTid INT);
INSERT INTO NVTX_EVENTS VALUES (0, 30, 'step', (7 << 24) + 7);
