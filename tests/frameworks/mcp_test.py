# SPDX-License-Identifier: Apache-2.0
"""`gpubound mcp` as the official SDK's own client uses it, on stdin and stdout. Environment: GPUBOUND_TEST_COMMAND,
GPUBOUND_TEST_PACKAGE, GPUBOUND_TEST_DATA."""
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import unittest

import mcp


class McpTest(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = holder.name
        self.runs = [self.imported(name) for name in ("h100_bert_small", "h100_qwen_chat")]

    def imported(self, name):
        run = f"{self.folder}/{name}.gpubound"
        subprocess.run([os.environ["GPUBOUND_TEST_COMMAND"], "import", "-q",
                        f"{os.environ['GPUBOUND_TEST_DATA']}/kineto/{name}.json.gz", "-o", run], check=True)
        return run

    def with_session(self, ask):
        async def run():
            server = mcp.StdioServerParameters(
                command=sys.executable, args=["-m", "gpubound", "mcp"], cwd=self.folder,
                env={**os.environ, "PYTHONPATH": os.environ["GPUBOUND_TEST_PACKAGE"]})
            async with mcp.stdio_client(server) as (read, write), mcp.ClientSession(read, write) as session:
                await session.initialize()
                return await ask(session)
        return asyncio.run(asyncio.wait_for(run(), 120))

    def call(self, tool, **arguments):
        """(answer, whether it is an error)"""
        async def ask(session):
            return await session.call_tool(tool, arguments)
        answer = self.with_session(ask)
        text = "".join(part.text for part in answer.content)
        is_error = getattr(answer, "is_error", None) or getattr(answer, "isError", False)
        return (text, True) if is_error else (json.loads(text), False)

    def test_four_tools_are_described(self):
        async def ask(session):
            return (await session.list_tools()).tools
        tools = {tool.name: tool for tool in self.with_session(ask)}
        self.assertEqual(set(tools), {"report", "sql", "compare", "whatif"})
        self.assertIn("idle_cause: why devices were idle", tools["sql"].description)

    def test_report_is_the_short_one_unless_asked_otherwise(self):
        short, _ = self.call("report", run=self.runs[0])
        self.assertEqual(short["diagnosis"][0]["kind"], "launch-bound")
        self.assertEqual(short["format"], "gpubound.summary.v1")
        self.assertEqual(self.call("report", run=self.runs[0], full=True)[0]["format"], "gpubound.report.v1")

    def test_the_newest_run_of_the_folder_is_taken_where_none_is_named(self):
        os.utime(self.runs[0], (2e9, 2e9))
        newest, _ = self.call("report")
        self.assertEqual(newest, self.call("report", run=self.runs[0])[0])

    def test_queries_are_answered_in_part_and_may_only_read(self):
        found, _ = self.call("sql", run=self.runs[0], query="select name from gpu", most_rows=3)
        self.assertEqual((found["columns"], len(found["rows"]), found["more_rows_were_left_out"]), (["name"], 3, True))
        columns, _ = self.call("sql", run=self.runs[0], query="pragma table_info(gpu)")
        self.assertIn("begin_ns", [row[1] for row in columns["rows"]])
        words, is_error = self.call("sql", run=self.runs[0], query="delete from gpu")
        self.assertTrue(is_error)
        self.assertIn("may not be modified", words)

    def test_runs_are_compared_and_changes_imagined(self):
        compared, _ = self.call("compare", before=[self.runs[0]], after=[self.runs[1]])
        self.assertEqual([group["name"] for group in compared["groups"]], ["before", "after"])
        imagined, _ = self.call("whatif", run=self.runs[0], scale=["layer=python:0.5"])
        self.assertLess(imagined["predicted_part"], 0.8)
        words, is_error = self.call("whatif", run=self.runs[0], scale=["nonsense"])
        self.assertTrue(is_error)
        self.assertIn("expected PART=NAME:FACTOR", words)

    def test_a_run_that_is_not_there_is_named(self):
        words, is_error = self.call("report", run="/nowhere")
        self.assertTrue(is_error)
        self.assertIn("/nowhere: found nothing there", words)


if __name__ == "__main__":
    unittest.main()
