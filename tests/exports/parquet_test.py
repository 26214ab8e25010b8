#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`gpubound export --parquet`, read by Arrow and DuckDB: parquet_test.py GPUBOUND EXAMPLE_RUN DATA.
Needs requirements.txt beside this file."""
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
                    self.assertEqual([(field.name, str(field.type)) for field in found.schema],
                                     [(row[1], PARQUET_TYPES[row[2]]) for row in described])
                    stored = database.execute(f'SELECT * FROM "{file.stem}"').fetchall()
                    self.assertEqual([tuple(row.values()) for row in found.to_pylist()], stored)

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
