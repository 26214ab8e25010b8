# SPDX-License-Identifier: Apache-2.0
"""Three questions about the time of a run, each asked in three ways: in SQLite's SQL, of polars, and of DuckDB. The
last two take the run's tables as Arrow. A question has the same rows in each way, in the same order.

windows      how long each operation was open, over all threads, in the second that ends at each tenth of a second.
             Times are cut at the tenths, summed in each, and ten of these sums make a window. Rows: number of the
             tenth from the begin of the first operation, name, nanoseconds.
starvation   the longest stretch before each weight sync, since the one before, in which neither the learner was in an
             operation nor its device at work. Rows: number of the sync, begin of the stretch, nanoseconds.
correlation  of the length of iterations with how long threads waited for a core meanwhile, which is sampled: at the end
             of an iteration it is taken to lie on the line between two samples. Rows: number of the iteration,
             nanoseconds, nanoseconds without a core, and in each row the correlation of the two.
"""
from typing import Any, Dict, List, Sequence, Tuple

QUESTIONS = ("windows", "starvation", "correlation")
TENTH_NS, TENTHS = 100_000_000, 10  # of a window

Rows = List[Tuple[Any, ...]]

# What is marked MATERIALIZED is worked out once, so that tables are read once: of a query that reads them more often,
# gpubound makes copies.
SQL = {
    "windows": f"""
WITH RECURSIVE
  open AS MATERIALIZED (SELECT name, begin_ns, end_ns FROM scope WHERE kind = 'operation' AND end_ns > begin_ns),
  zero AS (SELECT min(begin_ns) AS ns FROM open),
  part(name, tenth, begin_ns, end_ns) AS (
    SELECT name, (begin_ns - ns) / {TENTH_NS}, begin_ns - ns, end_ns - ns FROM open, zero
    UNION ALL
    SELECT name, tenth + 1, (tenth + 1) * {TENTH_NS}, end_ns FROM part WHERE end_ns > (tenth + 1) * {TENTH_NS}),
  summed AS MATERIALIZED (
    SELECT name, tenth, sum(min(end_ns, (tenth + 1) * {TENTH_NS}) - begin_ns) AS ns FROM part GROUP BY name, tenth),
  grid(tenth) AS (
    SELECT 0 UNION ALL SELECT tenth + 1 FROM grid WHERE tenth < (SELECT max(tenth) FROM summed) + {TENTHS - 1})
SELECT tenth, name, sum(coalesce(ns, 0)) OVER (
    PARTITION BY name ORDER BY tenth ROWS BETWEEN {TENTHS - 1} PRECEDING AND CURRENT ROW) AS ns
FROM grid CROSS JOIN (SELECT DISTINCT name FROM summed) LEFT JOIN summed USING (name, tenth)
ORDER BY tenth, name""",

    "starvation": """
WITH
  learner AS (SELECT min(process) AS process FROM counter WHERE name = 'role:train'),
  work AS (
    SELECT name, begin_ns, end_ns FROM scope WHERE kind = 'operation' AND process = (SELECT process FROM learner)
    UNION ALL
    SELECT NULL, begin_ns, end_ns FROM gpu WHERE process = (SELECT process FROM learner)),
  sync AS (
    SELECT begin_ns, lag(begin_ns) OVER in_order AS before_ns, row_number() OVER in_order - 1 AS number
    FROM work WHERE name = 'weight_sync' WINDOW in_order AS (ORDER BY begin_ns)),
  gap AS (
    SELECT max(end_ns) OVER (ORDER BY begin_ns, end_ns ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS begin_ns,
           begin_ns AS end_ns
    FROM work),
  ranked AS (
    SELECT number, gap.begin_ns, gap.end_ns - gap.begin_ns AS ns, row_number() OVER (
        PARTITION BY number ORDER BY gap.end_ns - gap.begin_ns DESC, gap.begin_ns) AS place
    FROM sync JOIN gap ON gap.begin_ns >= before_ns AND gap.end_ns <= sync.begin_ns AND gap.end_ns > gap.begin_ns)
SELECT number, begin_ns, ns FROM ranked WHERE place = 1 ORDER BY number""",

    "correlation": """
WITH
  learner AS (SELECT min(process) AS process FROM counter WHERE name = 'role:train'),
  tree AS MATERIALIZED (SELECT time_ns, run_delay_ns FROM process_tree WHERE process = (SELECT process FROM learner)),
  beside AS MATERIALIZED (
    SELECT number, time_ns, (SELECT max(time_ns) FROM tree WHERE tree.time_ns <= step.time_ns) AS before_ns,
           (SELECT min(time_ns) FROM tree WHERE tree.time_ns > step.time_ns) AS after_ns
    FROM step WHERE process = (SELECT process FROM learner)),
  at_end AS (
    SELECT number, beside.time_ns, before.run_delay_ns + (after.run_delay_ns - before.run_delay_ns) * 1.0
           * (beside.time_ns - before_ns) / (after_ns - before_ns) AS delay_ns
    FROM beside JOIN tree AS before ON before.time_ns = before_ns JOIN tree AS after ON after.time_ns = after_ns),
  iteration AS (
    SELECT number, time_ns - lag(time_ns) OVER in_order AS ns, delay_ns - lag(delay_ns) OVER in_order AS delay_ns
    FROM at_end WINDOW in_order AS (ORDER BY time_ns)),
  centred AS (
    SELECT number, ns, delay_ns, ns - avg(ns) OVER () AS x, delay_ns - avg(delay_ns) OVER () AS y
    FROM iteration WHERE ns IS NOT NULL)
SELECT number, ns, delay_ns, sum(x * y) OVER () / sqrt(sum(x * x) OVER () * sum(y * y) OVER ()) AS correlation
FROM centred ORDER BY number""",
}

DUCKDB = {
    "windows": f"""
WITH
  open AS (
    SELECT name, begin_ns - min(begin_ns) OVER () AS begin_ns, end_ns - min(begin_ns) OVER () AS end_ns
    FROM scope WHERE kind = 'operation' AND end_ns > begin_ns),
  part AS (
    SELECT name, begin_ns, end_ns, unnest(range(begin_ns // {TENTH_NS}, (end_ns - 1) // {TENTH_NS} + 1)) AS tenth
    FROM open),
  summed AS (
    SELECT name, tenth, sum(least(end_ns, (tenth + 1) * {TENTH_NS}) - greatest(begin_ns, tenth * {TENTH_NS})) AS ns
    FROM part GROUP BY name, tenth),
  grid AS (SELECT unnest(range((SELECT max(tenth) FROM summed) + {TENTHS})) AS tenth)
SELECT tenth, name::VARCHAR AS name, sum(coalesce(ns, 0)) OVER (
    PARTITION BY name ORDER BY tenth ROWS BETWEEN {TENTHS - 1} PRECEDING AND CURRENT ROW)::BIGINT AS ns
FROM grid CROSS JOIN (SELECT DISTINCT name FROM summed) LEFT JOIN summed USING (name, tenth)
ORDER BY tenth, name::VARCHAR""",

    # As in SQLite: the two have the same words for it.
    "starvation": SQL["starvation"],

    "correlation": """
WITH
  learner AS (SELECT min(process) AS process FROM counter WHERE name = 'role:train'),
  tree AS (SELECT time_ns, run_delay_ns FROM process_tree WHERE process = (SELECT process FROM learner)),
  ends AS (SELECT number, time_ns FROM step WHERE process = (SELECT process FROM learner)),
  at_end AS (
    SELECT number, ends.time_ns, before.run_delay_ns + (after.run_delay_ns - before.run_delay_ns)
           * (ends.time_ns - before.time_ns) / (after.time_ns - before.time_ns) AS delay_ns
    FROM ends ASOF JOIN tree AS before ON ends.time_ns >= before.time_ns
         ASOF JOIN tree AS after ON ends.time_ns < after.time_ns),
  iteration AS (
    SELECT number, time_ns - lag(time_ns) OVER in_order AS ns, delay_ns - lag(delay_ns) OVER in_order AS delay_ns
    FROM at_end WINDOW in_order AS (ORDER BY time_ns))
SELECT number, ns, delay_ns, corr(ns, delay_ns) OVER () AS correlation
FROM iteration WHERE ns IS NOT NULL ORDER BY number""",
}

# What each question reads.
TABLES = {"windows": ("scope",), "starvation": ("counter", "scope", "gpu"),
          "correlation": ("counter", "step", "process_tree")}
COLUMNS: Dict[str, Sequence[str]] = {
    "counter": ("process", "name"), "gpu": ("process", "begin_ns", "end_ns"),
    "scope": ("process", "kind", "name", "begin_ns", "end_ns"),
    "process_tree": ("process", "time_ns", "run_delay_ns"), "step": ("process", "time_ns", "number")}


class BySql:
    """`run.sql()`, which is `gpubound sql` in this process."""

    def __init__(self, run: Any) -> None:
        self._run = run

    def read(self, question: str) -> None:
        """Nothing: a query reads what it needs."""

    def ask(self, question: str) -> Rows:
        return list(zip(*self._run.sql(SQL[question]).values().values()))


class ByPolars:
    """Tables as frames of polars."""

    def __init__(self, run: Any) -> None:
        self._run = run
        self._frames: Dict[str, Any] = {}

    def read(self, question: str) -> None:
        for name in TABLES[question]:
            self._frames[name] = self._run.table(name, COLUMNS[name]).polars()

    def ask(self, question: str) -> Rows:
        rows: Rows = getattr(self, f"_{question}")().rows()
        return rows

    def _of_learner(self, name: str) -> Any:
        import polars as pl

        counters = self._frames["counter"].filter(pl.col("name").cast(pl.String) == "role:train")
        return self._frames[name].filter(pl.col("process") == counters["process"].min())

    def _windows(self) -> Any:
        import polars as pl

        begin, end, tenth = pl.col("begin_ns"), pl.col("end_ns"), pl.col("tenth")
        opened = (self._frames["scope"].lazy()
                  .filter(pl.col("kind").cast(pl.String) == "operation", end > begin)
                  .select(pl.col("name").cast(pl.String), begin - begin.min(), end - begin.min()))
        summed = (opened
                  .with_columns(tenth=pl.int_ranges(begin // TENTH_NS, (end - 1) // TENTH_NS + 1)).explode("tenth")
                  .with_columns(ns=pl.min_horizontal(end, (tenth + 1) * TENTH_NS)
                                - pl.max_horizontal(begin, tenth * TENTH_NS))
                  .group_by("name", "tenth").agg(pl.col("ns").sum()).collect())
        grid = pl.DataFrame({"tenth": range(summed["tenth"].max() + TENTHS)}).join(
            summed.select("name").unique(), how="cross")
        return (grid.join(summed, on=["name", "tenth"], how="left").sort("tenth", "name")
                .select("tenth", "name", pl.col("ns").fill_null(0).rolling_sum(TENTHS, min_samples=1).over("name")))

    def _starvation(self) -> Any:
        import polars as pl

        operations = self._of_learner("scope").filter(pl.col("kind").cast(pl.String) == "operation")
        work = pl.concat([operations.select("begin_ns", "end_ns"),
                          self._of_learner("gpu").select("begin_ns", "end_ns")]).sort("begin_ns", "end_ns")
        gaps = work.select(begin_ns=pl.col("end_ns").cum_max().shift(1), end_ns="begin_ns").filter(
            pl.col("end_ns") > pl.col("begin_ns"))
        syncs = (operations.filter(pl.col("name").cast(pl.String) == "weight_sync").sort("begin_ns")
                 .select(sync_ns="begin_ns").with_row_index("number"))
        # A gap ends where work begins, and before the next sync therefore, or with its begin.
        return (gaps.sort("end_ns").join_asof(syncs.sort("sync_ns"), left_on="end_ns", right_on="sync_ns",
                                              strategy="forward")
                .filter(pl.col("number") > 0, pl.col("begin_ns") >= syncs["sync_ns"].min())
                .select("number", "begin_ns", ns=pl.col("end_ns") - pl.col("begin_ns"))
                .sort("number", "ns", "begin_ns", descending=[False, True, False])
                .group_by("number", maintain_order=True).first())

    def _correlation(self) -> Any:
        import polars as pl

        tree = self._of_learner("process_tree").select("time_ns", "run_delay_ns").sort("time_ns")
        ends = self._of_learner("step").select("number", "time_ns").sort("time_ns")
        for side, strategy in (("before", "backward"), ("after", "forward")):
            ends = ends.join_asof(tree.rename({"time_ns": f"{side}_ns", "run_delay_ns": side}), left_on="time_ns",
                                  right_on=f"{side}_ns", strategy=strategy, allow_exact_matches=side == "before")
        before, after = pl.col("before"), pl.col("after")
        at_end = ends.drop_nulls().with_columns(delay_ns=before + (after - before) * (
            pl.col("time_ns") - pl.col("before_ns")) / (pl.col("after_ns") - pl.col("before_ns")))
        return (at_end.select("number", ns=pl.col("time_ns").diff(), delay_ns=pl.col("delay_ns").diff())
                .drop_nulls().with_columns(correlation=pl.corr("ns", "delay_ns")).sort("number"))


class ByDuckdb:
    """Tables as DuckDB reads them from Arrow."""

    def __init__(self, run: Any) -> None:
        import duckdb

        self._run, self._database = run, duckdb.connect()

    def read(self, question: str) -> None:
        for name in TABLES[question]:
            self._database.register(name, self._run.table(name, COLUMNS[name]).arrow())

    def ask(self, question: str) -> Rows:
        rows: Rows = self._database.execute(DUCKDB[question]).fetchall()
        return rows


WAYS = {"sql": BySql, "polars": ByPolars, "duckdb": ByDuckdb}
