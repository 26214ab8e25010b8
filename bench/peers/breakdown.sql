-- The breakdown as two passes of window functions, for SQLite and DuckDB alike.
--
-- `event` holds (kind, thread, begin_ns, end_ns, operation): kind 0 a scope, 1 a call, 2 a kernel,
-- 3 the span, once for each thread. Edges of one instant need no order among themselves: no time
-- passes between them.
WITH edge AS (
  SELECT begin_ns AS t, thread, kind, operation AS operation_step,
         CASE WHEN kind = 1 THEN 1 ELSE 0 END AS call_step,
         CASE WHEN kind = 2 THEN 1 ELSE 0 END AS gpu_step
  FROM event
  UNION ALL
  SELECT end_ns, thread, kind, -operation,
         CASE WHEN kind = 1 THEN -1 ELSE 0 END,
         CASE WHEN kind = 2 THEN -1 ELSE 0 END
  FROM event
),
-- How many kernels run from each edge on, over the whole process.
gpu AS (
  SELECT t, thread, kind, operation_step, call_step,
         row_number() OVER everything AS place,
         sum(gpu_step) OVER everything AS running,
         lead(t) OVER everything - t AS ns
  FROM edge
  WINDOW everything AS (ORDER BY t, kind, thread ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
),
-- How long the GPU had been busy by then: busy time of a stretch is a difference.
clock AS (
  SELECT t, thread, kind, operation_step, call_step, place,
         coalesce(sum(CASE WHEN running > 0 THEN ns ELSE 0 END)
           OVER (ORDER BY place ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS busy_ns
  FROM gpu
),
stretch AS (
  SELECT thread,
         sum(operation_step) OVER own AS operation,
         sum(call_step) OVER own AS in_call,
         lead(t) OVER own - t AS ns,
         lead(busy_ns) OVER own - busy_ns AS busy_ns
  FROM clock
  WHERE kind <> 2
  WINDOW own AS (PARTITION BY thread ORDER BY place
                 ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
)
SELECT thread, operation, in_call,
       CAST(sum(ns - busy_ns) AS BIGINT) AS idle_ns, CAST(sum(busy_ns) AS BIGINT) AS busy_ns
FROM stretch
WHERE ns > 0
GROUP BY thread, operation, in_call
