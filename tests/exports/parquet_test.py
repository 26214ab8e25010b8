#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`gpubound export --parquet`, read by Arrow and DuckDB: parquet_test.py GPUBOUND EXAMPLE_RUN DATA.
Needs requirements.txt beside this file."""
import json
import pathlib
import stat
import subprocess

import duckdb
import pyarrow.parquet

from exports_fixture import EXAMPLE_RUN, Exports, main


PARQUET_TYPES = {"INTEGER": "int64", "REAL": "double", "TEXT": "string"}


class Parquet(Exports):
    def files(self, run):
        return sorted(pathlib.Path(self.export(run, "parquet", "parquet")).iterdir())

    def test_arrow_finds_every_row_of_every_table(self):
        for run in self.runs():
            database = self.database(run)
            tables = {name for name, in database.execute(
                "SELECT name FROM sqlite_master WHERE type='table' AND name <> 'export'")}
            files = self.files(run)
            self.assertEqual({file.stem for file in files}, tables)
            for file in files:
                with self.subTest(run=run, table=file.stem):
                    found = pyarrow.parquet.read_table(file)
                    described = database.execute(f'PRAGMA table_info("{file.stem}")').fetchall()
                    own = [row[1] for row in described]
                    self.assertEqual([(name, str(found.schema.field(name).type)) for name in own],
                                     [(row[1], PARQUET_TYPES[row[2]]) for row in described])
                    self.assertEqual([name for name in found.schema.names if name in own], own)
                    stored = database.execute(f'SELECT * FROM "{file.stem}"').fetchall()
                    rows = found.to_pylist()
                    self.assertEqual([tuple(row[name] for name in own) for row in rows], stored)
                    self.check_what_is_added(set(found.schema.names) - set(own), rows, database, own)

    def check_what_is_added(self, added, rows, database, own):
        """Host and rank of the process, and times of the run's clock: of one machine all as far from the trace's."""
        if "process" not in own:
            self.assertEqual(added, set())
            return
        times = {name for name in ("begin_ns", "end_ns", "time_ns") if name in own}
        self.assertEqual(added, ({"host", "rank"} - set(own)) | {"run_" + name for name in times})
        hosts = dict(database.execute("SELECT process, host FROM process"))
        begun_ns, = database.execute("SELECT min(begin_ns) FROM process").fetchone()
        for row in rows:
            self.assertEqual(row["host"], hosts[row["process"]])
            for name in times:
                wanted = None if row[name] is None else row[name] - begun_ns
                self.assertEqual(row["run_" + name], wanted)

    def encodings(self, file, column):
        metadata = pyarrow.parquet.read_metadata(file)
        index = metadata.schema.names.index(column)
        return [set(metadata.row_group(group).column(index).encodings) for group in range(metadata.num_row_groups)]

    def test_text_of_few_values_has_a_dictionary(self):
        run = self.path("long.gpubound")
        subprocess.run([EXAMPLE_RUN, run, "long"], check=True)
        file = pathlib.Path(self.export(run, "parquet", "long")) / "gpu.parquet"
        for found in self.encodings(file, "name") + self.encodings(file, "host"):
            self.assertIn("RLE_DICTIONARY", found)
        for found in self.encodings(file, "begin_ns"):
            self.assertNotIn("RLE_DICTIONARY", found)
        names = duckdb.sql(f"SELECT name, count(*) FROM '{file}' GROUP BY 1 ORDER BY 1").fetchall()
        self.assertEqual(names, self.database(run).execute(
            "SELECT name, count(*) FROM gpu GROUP BY 1 ORDER BY 1").fetchall())

    def test_text_of_many_values_has_none(self):
        """One, two, three, ... bits for a number, and more values than a dictionary may have."""
        for count in (1, 2, 3, 5, 9, 300, 40_000):
            with self.subTest(count):
                trace = pathlib.Path(self.path("names.json"))
                events = [{"ph": "X", "cat": "kernel", "pid": 1, "tid": 7, "name": f"kernel {i * 7919 % count}",
                           "ts": 2 * i, "dur": 1, "args": {"device": 0, "stream": 7, "correlation": i + 1}}
                          for i in range(max(count, 20))]
                trace.write_text(json.dumps({"traceEvents": events}), encoding="utf-8")
                subprocess.run(["rm", "-rf", str(trace) + ".gpubound"], check=True)
                run = self.imported(trace)
                file = pathlib.Path(self.export(run, "parquet", "names")) / "gpu.parquet"
                found = pyarrow.parquet.read_table(file, columns=["begin_ns", "name"])
                stored = self.database(run).execute("SELECT begin_ns, name FROM gpu").fetchall()
                self.assertEqual(list(zip(*(column.to_pylist() for column in found.columns))), stored)
                self.assertEqual(duckdb.sql(f"SELECT count(DISTINCT name) FROM '{file}'").fetchall(), [(count,)])
                for encodings in self.encodings(file, "name"):
                    self.assertEqual("RLE_DICTIONARY" in encodings, count < 40_000)

    def test_duckdb_sums_up_what_sqlite_does(self):
        for run in self.runs():
            folder = self.export(run, "parquet", "parquet")
            for query in ("count(*), sum(duration_ns), min(begin_ns), max(end_ns) FROM {gpu}",
                          "count(*), count(correlation) FROM {gpu} WHERE begin_ns > 1500",
                          "sum(wall_ns), count(DISTINCT operation) FROM {operation}",
                          "count(*), max(name) FROM {scope} WHERE end_ns <= 400"):
                with self.subTest(run=run, query=query):
                    of_files = {name: f"'{folder}/{name}.parquet'"
                                for name in ("gpu", "operation", "scope")}
                    of_tables = {name: name for name in of_files}
                    wanted = self.database(run).execute("SELECT " + query.format(**of_tables))
                    found = duckdb.sql("SELECT " + query.format(**of_files))
                    self.assertEqual(found.fetchall(), wanted.fetchall())

    def test_a_long_table_has_several_groups_of_rows(self):
        run = self.path("long.gpubound")
        subprocess.run([EXAMPLE_RUN, run, "long"], check=True)
        file = pathlib.Path(self.export(run, "parquet", "long")) / "gpu.parquet"
        stored = self.database(run).execute("SELECT begin_ns, end_ns FROM gpu").fetchall()
        self.assertGreater(pyarrow.parquet.read_metadata(file).num_row_groups, 1)
        found = pyarrow.parquet.read_table(file, columns=["begin_ns", "end_ns"])
        self.assertEqual(list(zip(*(c.to_pylist() for c in found.columns))), stored)
        late = duckdb.sql(f"SELECT count(*) FROM '{file}' WHERE begin_ns >= 1000000").fetchall()
        self.assertEqual(late, [(sum(begin >= 1000000 for begin, _ in stored),)])

    def test_files_say_what_they_hold(self):
        for file in self.files(self.example):
            metadata = pyarrow.parquet.read_metadata(file).metadata
            self.assertEqual(metadata[b"gpubound.format"], b"gpubound.tables.v1")
            self.assertEqual(metadata[b"gpubound.table"].decode(), file.stem)
            self.assertEqual(stat.S_IMODE(file.stat().st_mode), 0o600)

    def test_limits_of_integer_columns_are_those_of_their_rows(self):
        for file in self.files(self.example):
            table = pyarrow.parquet.read_table(file)
            metadata = pyarrow.parquet.read_metadata(file)
            for group in range(metadata.num_row_groups):
                for index, field in enumerate(table.schema):
                    limits = metadata.row_group(group).column(index).statistics
                    values = [v for v in table[field.name].to_pylist() if v is not None]
                    self.assertEqual(limits.null_count, table.num_rows - len(values))
                    if str(field.type) == "int64" and values:
                        self.assertEqual((limits.min, limits.max), (min(values), max(values)))


if __name__ == "__main__":
    main()
