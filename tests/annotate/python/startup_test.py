# SPDX-License-Identifier: Apache-2.0
"""The start-up hook in programs that know nothing of it. PYTHONPATH begins with its folder, as the
preloaded library leaves it; gpubound is not installed for the programs."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import venv

import gpubound

PACKAGE = pathlib.Path(gpubound.__file__).parent
COLLECTOR = os.environ["GPUBOUND_LIBRARY"]
HERE = pathlib.Path(__file__).parent

ENVIRONMENT = """
class Env:
    def step(self, action):
        return action
"""
USE = """
import gymnasium.core
gymnasium.core.Env().step(1)
"""
PRINT_CALLS = f"""
import sys
sys.path.append({str(HERE)!r})
import recorded
print("\\n".join(recorded.take()))
"""


class StartupTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.startup = PACKAGE / "startup"

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def install_gymnasium(self, version):
        self.write("gymnasium/__init__.py", "")
        self.write("gymnasium/core.py", ENVIRONMENT)
        self.write(f"gymnasium-{version}.dist-info/METADATA",
                   f"Metadata-Version: 2.1\nName: gymnasium\nVersion: {version}\n")

    def run_program(self, text, own_path="", **variables):
        """The program's output, which has to succeed; `own_path` is its PYTHONPATH, None for none."""
        parts = [str(self.startup)] + ([] if own_path is None else [own_path or str(self.folder)])
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(parts), **variables}
        return self.succeed([sys.executable, "-B", str(self.write("program.py", text))], environment)

    def succeed(self, command, environment):
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False,
                              timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def test_the_program_sees_the_path_that_it_would_see_without(self):
        show = "import os, sys; print(os.environ.get('PYTHONPATH'), %r in sys.path)" % str(
            self.startup)
        self.assertEqual(self.run_program(show, None).stdout, "None False\n")
        self.assertEqual(self.run_program(show, "/a:/b").stdout, "/a:/b False\n")
        self.assertEqual(self.run_program(show, "/a:").stdout, "/a: False\n")

    def test_an_empty_path_stays_one_and_is_not_the_current_folder(self):
        show = "import os, sys; print(repr(os.environ['PYTHONPATH']), os.getcwd() in sys.path)"
        self.assertNotEqual(os.getcwd(), str(self.folder))
        done = self.run_program(show, PYTHONPATH=os.pathsep.join([str(self.startup)] * 2))
        self.assertEqual(done.stdout, "'' False\n")

    def test_nothing_is_imported_into_a_program_that_uses_no_known_library(self):
        done = self.run_program("import sys; print([m for m in sys.modules if 'gpubound' in m])")
        self.assertEqual((done.stdout, done.stderr), ("[]\n", ""))

    def test_what_installing_hooks_takes_is_in_the_trace(self):
        self.install_gymnasium("1.2.0")
        calls = self.run_program("import gymnasium.core\n" + PRINT_CALLS).stdout.splitlines()
        begin = calls.index("begin annotation gpubound:hooks")
        installed = next(at for at, call in enumerate(calls) if "hooks_installed" in call)
        end = calls.index("end annotation gpubound:hooks")
        self.assertTrue(begin < installed < end, calls)

    def test_the_sitecustomize_that_was_there_before_runs(self):
        self.write("sitecustomize.py", "print('the other one')")
        done = self.run_program("import sitecustomize; print(sitecustomize.__file__)")
        self.assertEqual(done.stdout.splitlines(),
                         ["the other one", str(self.folder / "sitecustomize.py")])

    def test_a_sitecustomize_that_fails_is_reported_as_before(self):
        self.write("sitecustomize.py", "raise ValueError('theirs')")
        done = self.run_program("print('runs')")
        self.assertEqual(done.stdout, "runs\n")
        self.assertIn("theirs", done.stderr)

    def test_a_known_library_is_hooked_when_it_is_imported(self):
        self.install_gymnasium("1.2.0")
        done = self.run_program(USE + PRINT_CALLS)
        self.assertIn("begin operation simulation\nend operation simulation\n", done.stdout)
        self.assertEqual(done.stderr, "")

    def test_a_users_own_hook_file_serves_his_own_framework(self):
        self.write("warehouse/__init__.py", "")
        self.write("warehouse/env.py", "class Env:\n    def step(self):\n        return 1\n")
        self.write("config/gpubound/hooks/warehouse.json", """{"library": "warehouse", "versions": "any", "hooks": [
            {"module": "warehouse.env", "class": "Env", "names": ["step"], "operation": "simulation"}]}""")
        use = "from warehouse.env import Env\nassert Env().step() == 1\n"
        done = self.run_program(use + PRINT_CALLS, XDG_CONFIG_HOME=str(self.folder / "config"))
        self.assertIn("begin operation simulation\nend operation simulation\n", done.stdout)
        done = self.run_program(use + "import sys\n" + PRINT_CALLS, XDG_CONFIG_HOME=str(self.folder / "other"))
        self.assertNotIn("operation simulation", done.stdout)

    def test_the_example_of_the_docs_serves_as_it_stands(self):
        docs = pathlib.Path(__file__).parents[3] / "docs" / "extending.md"
        section = docs.read_text().partition("## A hook file")[2].partition("\n## ")[0]
        example = re.search(r"\n\n((?:    .*\n)+)", section)[1]
        self.assertLessEqual(len(example.splitlines()), 10)
        self.write("config/gpubound/hooks/warehouse.json", example)
        self.write("warehouse/__init__.py", "")
        self.write("warehouse/env.py", "class Env:\n    def reset(self): pass\n    def step(self): pass\n")
        self.write("warehouse/rollout.py", "from warehouse.env import Env\nclass Own(Env):\n    def step(self): pass\n"
                   "def collect(environment):\n    environment.reset()\n    environment.step()\n")
        self.write("warehouse/train.py", "class Trainer:\n    version = 0\n    def update(self):\n"
                   "        self.version += 1\n")
        done = self.run_program("from warehouse import rollout, train\ntrainer = train.Trainer()\n"
                                "for _ in range(2):\n    rollout.collect(rollout.Own())\n    trainer.update()\n"
                                + PRINT_CALLS, XDG_CONFIG_HOME=str(self.folder / "config"))
        self.assertEqual(done.stderr, "")
        self.assertNotIn("hooks_failed", done.stdout)
        said = re.findall("^(?:begin operation|counter|step) .*", done.stdout, re.MULTILINE)
        inside = ["begin operation rollout", *["begin operation simulation"] * 2, "counter role:train 1",
                  "begin operation update"]
        self.assertEqual(said, ["counter role:rollout 1", *inside, "counter policy_version 1",
                                "counter role:rollout 1", "step 0", *inside, "counter policy_version 2"])

    def test_a_users_own_file_takes_the_place_of_ours(self):
        self.install_gymnasium("1.2.0")
        self.write("config/gpubound/hooks/gymnasium.json", """{"library": "gymnasium", "versions": "any", "hooks": [
            {"module": "gymnasium.core", "class": "Env", "names": ["step"], "operation": "physics"}]}""")
        done = self.run_program(USE + PRINT_CALLS, XDG_CONFIG_HOME=str(self.folder / "config"))
        self.assertIn("begin operation physics\n", done.stdout)
        self.assertNotIn("operation simulation", done.stdout)

    def test_a_hook_file_that_cannot_be_read_is_noted_and_the_others_serve(self):
        self.install_gymnasium("1.2.0")
        self.write("config/gpubound/hooks/broken.json", "{")
        self.write("config/gpubound/hooks/empty.json", "{}")
        done = self.run_program(USE + PRINT_CALLS, XDG_CONFIG_HOME=str(self.folder / "config"))
        self.assertIn("begin operation simulation\n", done.stdout)
        self.assertEqual(done.stderr, "")
        for name, why in (("broken.json", "JSONDecodeError"), ("empty.json", "KeyError")):
            self.assertRegex(done.stdout, f"hooks_failed.*{name} is not used: {why}")

    def test_waits_are_a_layer_from_then_on(self):
        self.install_gymnasium("1.2.0")
        done = self.run_program("import gymnasium, time\ntime.sleep(0)\n" + PRINT_CALLS)
        self.assertIn("begin layer(2) time.sleep\nend layer(2) time.sleep\n", done.stdout)

    def run_behind_pth_file(self, line, text):
        """The output of `python -c text` where a .pth file has executed `line` before the hook came."""
        venv.create(self.folder / "env", symlinks=True)
        packages, = (self.folder / "env/lib").glob("python*/site-packages")
        (packages / "first.pth").write_text(line)
        path = os.pathsep.join([str(self.startup), str(self.folder)])
        return self.succeed([self.folder / "env/bin/python", "-B", "-c", text],
                            {**os.environ, "PYTHONPATH": path})

    def test_what_a_pth_file_imported_is_hooked(self):
        done = self.run_behind_pth_file("import queue, multiprocessing",
                                        "import time\ntime.sleep(0)\n" + PRINT_CALLS)
        self.assertIn("begin layer(2) time.sleep\nend layer(2) time.sleep\n", done.stdout)
        self.assertEqual(done.stderr, "")

    def test_a_worker_of_a_fork_server_is_hooked_whatever_a_pth_file_imported(self):
        self.install_gymnasium("1.2.0")
        server = ("import multiprocessing, os\nif os.fork():\n    os.wait()\n    os._exit(0)\n" + USE + PRINT_CALLS +
                  "# from multiprocessing.forkserver import main\n")  # what it is known by
        for line in ("import queue", "import multiprocessing"):
            done = self.run_behind_pth_file(line, server)
            shutil.rmtree(self.folder / "env")
            self.assertEqual(done.stderr, "")
            self.assertIn("begin operation simulation\nend operation simulation\n", done.stdout, line)

    def test_a_version_that_is_not_known_is_left_alone_and_named(self):
        self.install_gymnasium("9.0")
        done = self.run_program(USE + PRINT_CALLS)
        self.assertNotIn("simulation", done.stdout)
        self.assertIn("gymnasium 9.0 is not hooked", done.stdout)

    def test_the_package_can_be_imported_without_being_installed(self):
        done = self.run_program("import gpubound, sys\nprint(gpubound.recording())\n"
                                "print(sys.modules['gpubound'] is gpubound, gpubound.__file__)")
        self.assertEqual(done.stdout, f"True\nTrue {PACKAGE / '__init__.py'}\n")

    def test_the_library_keeps_its_own_loader(self):
        self.install_gymnasium("1.2.0")
        done = self.run_program("import gymnasium.core, inspect\n"
                                "print(type(gymnasium.core.__loader__).__name__)\n"
                                "print(vars(gymnasium.core.__loader__).get('exec_module'))\n"
                                "print('class Env' in inspect.getsource(gymnasium.core))")
        self.assertEqual(done.stdout, "SourceFileLoader\nNone\nTrue\n")

    @unittest.skipIf(sys.version_info < (3, 10), "zipimport cannot execute modules before")
    def test_a_loader_that_serves_other_modules_too_is_heard_of_with_the_right_one(self):
        self.install_gymnasium("1.2.0")
        self.write("gymnasium/other.py", "")
        archive = shutil.make_archive(str(self.folder / "archive"), "zip", self.folder, "gymnasium")
        shutil.rmtree(self.folder / "gymnasium")
        done = self.run_program(f"import sys\nsys.path.append({archive!r})\nimport gymnasium\n"
                                "from importlib import util\nspec = util.find_spec('gymnasium.core')\n"
                                "print(type(util.find_spec('gymnasium.other').loader) is spec.loader.__class__)\n"
                                "import gymnasium.other\n" + USE + PRINT_CALLS)
        self.assertTrue(done.stdout.startswith("True\n"), done)
        self.assertNotIn("hooks_failed", done.stdout)
        self.assertIn("begin operation simulation\nend operation simulation\n", done.stdout)

    def test_a_module_that_the_program_makes_from_a_spec_is_not_taken_for_the_librarys(self):
        self.install_gymnasium("1.2.0")
        done = self.run_program("import gymnasium\nfrom importlib import util\n"
                                "spec = util.find_spec('gymnasium.core')\n"
                                "spec.loader.exec_module(util.module_from_spec(spec))\n" + USE + PRINT_CALLS)
        self.assertIn("begin operation simulation\nend operation simulation\n", done.stdout)

    def test_a_built_in_module_is_heard_of_too(self):
        """As Debian's select is; a class loads them all."""
        done = self.run_program("import contextlib, sys\nfrom gpubound import _startup\n"
                                "finder = _startup.Finder(contextlib.nullcontext)\nsys.meta_path.insert(0, finder)\n"
                                "assert '_symtable' in sys.builtin_module_names\n"
                                "finder.when_imported('_symtable', lambda module: print(module.__name__))\n"
                                "import _symtable\n"
                                "print(_symtable.__loader__.__name__, _symtable.__spec__.loader.__name__)\n"
                                + PRINT_CALLS)
        self.assertEqual(done.stdout.splitlines()[:2],
                         ["_symtable", "BuiltinImporter BuiltinImporter"])
        self.assertNotIn("hooks_failed", done.stdout)
        self.assertEqual(done.stderr, "")

    def test_an_import_that_fails_fails_as_before(self):
        self.install_gymnasium("1.2.0")
        self.write("gymnasium/core.py", "raise RuntimeError('theirs')")
        done = self.run_program("try:\n    import gymnasium.core\nexcept RuntimeError as e:\n"
                                "    print(e)\n")
        self.assertEqual((done.stdout, done.stderr), ("theirs\n", ""))

    def install_cloudpickle(self, module):
        """Like cloudpickle, which before version 3.0 had all of it in cloudpickle_fast."""
        self.write("cloudpickle/__init__.py", "")
        self.write("cloudpickle/cloudpickle.py", "")
        self.write(f"cloudpickle/{module}.py",
                   "import collections, copyreg\n"
                   "class CloudPickler:\n"
                   "    dispatch_table = collections.ChainMap({}, copyreg.dispatch_table)\n"
                   "def _class_setstate(made, state):\n"
                   "    for name, value in state[0].items(): setattr(made, name, value)\n"
                   "    return made\n")

    def test_definitions_that_cloudpickle_carries_along_travel_unwrapped(self):
        self.install_gymnasium("1.2.0")
        for module in ("cloudpickle", "cloudpickle_fast"):
            self.install_cloudpickle(module)
            done = self.run_program(
                "import gymnasium.core, types\n"
                f"import cloudpickle.cloudpickle\nfrom cloudpickle.{module} import CloudPickler\n"
                "class Own(gymnasium.core.Env):\n    def step(self, action): return action\n"
                "wrapper = vars(Own)['step']\n"
                "make, arguments = CloudPickler.dispatch_table[type(wrapper)](wrapper)\n"
                "print(type(wrapper).__name__, type(make(*arguments)) is types.FunctionType)\n"
                "shared = vars(gymnasium.core.Env)['step']\n"
                "print(CloudPickler.dispatch_table[type(shared)](shared))\n" + PRINT_CALLS)
            self.assertTrue(done.stdout.startswith("FunctionWrapper True\nEnv.step\n"), done)
            self.assertNotIn("hooks_failed", done.stdout)

    def test_a_class_that_cloudpickle_brings_is_hooked_when_it_has_its_methods(self):
        self.install_gymnasium("1.2.0")
        for module in ("cloudpickle", "cloudpickle_fast"):
            self.install_cloudpickle(module)
            done = self.run_program(
                f"import gymnasium.core, pickle\nfrom cloudpickle import {module} as fast\n"
                "made = type('Own', (gymnasium.core.Env,), {})\n"
                "print(fast._class_setstate(made, ({'step': lambda self: 3}, {})) is made)\n"
                "print(pickle.loads(pickle.dumps(fast._class_setstate)) is fast._class_setstate)\n"
                "made().step()\n" + PRINT_CALLS)
            self.assertTrue(done.stdout.startswith("True\nTrue\n"), done)
            self.assertIn("begin operation simulation\nend operation simulation\n", done.stdout)

    def test_a_module_in_whose_import_hooking_began_is_told_when_it_is_complete(self):
        self.install_gymnasium("1.2.0")
        self.write("dill/__init__.py", "")
        self.write("dill/_dill.py", "import gymnasium.core\nclass Pickler:\n    dispatch = {}\n")
        done = self.run_program(
            "from dill._dill import Pickler\nprint(len(Pickler.dispatch))\n"
            "import colorsys\nprint(sorted(kind.__name__ for kind in Pickler.dispatch))\n")
        self.assertEqual(done.stdout, "0\n['DescriptorWrapper', 'FunctionWrapper', 'ObjectWrapper', 'Wrapper']\n",
                         done.stderr)

    def test_where_recording_is_off_nothing_is_hooked(self):
        self.install_gymnasium("1.2.0")
        done = self.run_program(USE + "import sys; print('gpubound' in sys.modules)",
                                GPUBOUND_DISABLE="1")
        self.assertEqual(done.stdout, "False\n")

    def test_an_extension_that_takes_longer_than_one_of_this_version_would_is_noted(self):
        self.install_gymnasium("1.2.0")
        done = self.run_program(USE + PRINT_CALLS)
        is_slower = sys.version_info < (3, 11) and gpubound._core.__file__.endswith(".abi3.so")
        self.assertEqual("is hooked by the extension that serves every version" in done.stdout, is_slower, done)

    def run_without_extension(self, bare):
        """A program that uses a known library, with a package in `bare` that has no extension for this Python."""
        self.install_gymnasium("1.2.0")
        shutil.copytree(PACKAGE, bare, ignore=shutil.ignore_patterns("*.so"))
        if "t" in sys.abiflags:
            (bare / "_core.abi3.so").write_text("")  # which these cannot use
        self.startup = bare / "startup"
        preload = os.pathsep.join(filter(None, [os.environ.get("LD_PRELOAD"), COLLECTOR]))
        return self.run_program(USE + PRINT_CALLS, LD_PRELOAD=preload)

    def test_an_interpreter_without_an_extension_is_named_once_with_what_to_type(self):
        done = self.run_without_extension(self.folder / "bare" / "gpubound")
        self.assertRegex(done.stderr, r"^gpubound: Python 3\.\d+t? of .* is not hooked, .*"
                                      r": [^ ]+ -m pip install [^ ]+, and use .*\n$")
        self.assertRegex(done.stdout, "ledger python_without_extension 1 Python .* is not hooked, ")

    def test_of_a_build_without_an_extension_the_command_that_builds_it_is_said(self):
        build = self.folder / "a build"
        build.mkdir()
        (build / "CMakeCache.txt").touch()
        done = self.run_without_extension(build / "python" / "gpubound")
        self.assertIn(f": cmake '-DGPUBOUND_PYTHONS={sys.executable}' '{build}' && cmake --build '{build}'\n",
                      done.stderr)

    def test_threads_that_import_known_libraries_first_are_all_hooked(self):
        self.install_gymnasium("1.2.0")
        self.write("jax.py", "")
        done = self.run_program(
            "import sys, threading\nsys.setswitchinterval(1e-4)\nstart = threading.Barrier(6)\n"
            "def load(name):\n    start.wait()\n    __import__(name)\n"
            "threads = [threading.Thread(target=load, args=(name,))\n"
            "           for name in ['gymnasium.core', 'gpubound', 'jax'] * 2]\n"
            "for thread in threads: thread.start()\n"
            "for thread in threads: thread.join()\n"
            "import gymnasium.core\ngymnasium.core.Env().step(1)\n"
            "print([type(finder).__name__ for finder in sys.meta_path].count('Finder'))" + PRINT_CALLS)
        self.assertEqual(done.stderr, "")
        self.assertTrue(done.stdout.startswith("1\n"), done.stdout)
        self.assertEqual(done.stdout.count("begin operation simulation"), 1)

    def test_a_thread_that_imports_a_known_library_waits_for_one_that_imports_gpubound(self):
        self.install_gymnasium("1.2.0")
        # What the package imports first of its own: there it waits for the other thread to wait for it.
        self.write("json.py",
                   "import sys\nfrom importlib import _bootstrap\nprogram = sys.modules['__main__']\n"
                   "program.executing.set()\n"
                   "while not _bootstrap._blocking_on.get(program.other.ident): pass\n"
                   f"sys.path.remove({str(self.folder)!r})\ndel sys.modules['json']\n"
                   "import json\n")
        done = self.run_program(
            "import threading\nexecuting = threading.Event()\n"
            "def load():\n    executing.wait()\n    import gymnasium.core\n"
            f"import sys\nsys.path.append({str(self.folder)!r})\n"
            "other = threading.Thread(target=load)\nother.start()\n"
            "import gpubound\nother.join()\nimport gymnasium.core\ngymnasium.core.Env().step(1)\n" + PRINT_CALLS)
        self.assertEqual(done.stderr, "")
        self.assertEqual(done.stdout.count("begin operation simulation"), 1)

    def test_hooks_of_a_module_that_was_under_way_may_import_what_another_thread_executes(self):
        self.install_gymnasium("1.2.0")
        self.write("slow.py",
                   "import sys, threading\nfrom importlib import _bootstrap\n"
                   "sys.modules['__main__'].executing.set()\n"
                   "while not _bootstrap._blocking_on.get(threading.main_thread().ident): pass\n"
                   "import colorsys\n")
        done = self.run_program(
            "import sys, threading, types, gymnasium\nexecuting = threading.Event()\n"
            "finder, = [finder for finder in sys.meta_path if type(finder).__name__ == 'Finder']\n"
            "early = sys.modules['early'] = types.ModuleType('early')\n"
            "early.__spec__ = types.SimpleNamespace(_initializing=True)\n"
            "finder.when_imported('early', lambda module: print(__import__('slow').colorsys.__name__))\n"
            "other = threading.Thread(target=__import__, args=('slow',))\nother.start()\nexecuting.wait()\n"
            "early.__spec__._initializing = False\nimport wave\nother.join()\n")
        self.assertEqual((done.stdout, done.stderr), ("colorsys\n", ""))

    def test_without_its_hook_files_the_program_runs_and_it_is_said(self):
        self.install_gymnasium("1.2.0")
        broken = self.folder / "broken" / "gpubound"
        shutil.copytree(PACKAGE, broken)
        shutil.rmtree(broken / "hooks")
        (broken / "hooks").write_text("a file")
        own = self.write("config/gpubound/hooks/gymnasium.json", "{}")
        self.startup = broken / "startup"
        done = self.run_program(USE + "print('runs')", XDG_CONFIG_HOME=str(own.parents[2]))
        self.assertEqual(done.stdout, "runs\n")
        self.assertRegex(done.stderr, "^gpubound: Python libraries are not hooked: NotADirectoryError")


if __name__ == "__main__":
    unittest.main()
