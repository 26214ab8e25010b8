# SPDX-License-Identifier: Apache-2.0
"""Start-up hook of Python programs in a run: first on PYTHONPATH, where the preloaded library puts it.

Takes itself out of sys.path and PYTHONPATH again, so that the program sees neither, waits for the
import of a library that has a hook file, and then goes on to the sitecustomize that the program had
before. Read by every Python that is started, so: syntax of any version, and nothing imported that the
interpreter does not have already.
"""
import os
import sys


def _take_out(folder):
    sys.path[:] = [path for path in sys.path if path != folder]
    first, separator, rest = os.environ.get("PYTHONPATH", "").partition(os.pathsep)
    if first == folder:
        if separator:  # twice where the program's own is empty, see SetPythonPath of the preloaded library
            os.environ["PYTHONPATH"] = "" if rest == folder else rest
        else:
            del os.environ["PYTHONPATH"]


def _has_extension(package):
    if sys.version_info < (3, 9) or sys.implementation.name != "cpython":
        return False
    from _imp import extension_suffixes
    suffixes = [suffix for suffix in extension_suffixes() if suffix != ".abi3.so" or not _is_free_threaded()]
    return any(os.path.exists(os.path.join(package, "_core" + suffix)) for suffix in suffixes)


class _ImportLockReleased:
    """The import system holds its lock around each finder. A thread that executes a module needs it for what
    that imports: whoever waits for such a module with the lock waits for ever."""

    def __enter__(self):
        from _imp import release_lock
        self._times = 0
        try:
            while True:
                release_lock()
                self._times += 1
        except RuntimeError:  # it is another thread's, or nobody's
            pass

    def __exit__(self, *exception):
        from _imp import acquire_lock
        for _ in range(self._times):
            acquire_lock()


def _is_free_threaded():
    return "t" in getattr(sys, "abiflags", "")


def _why_not_hooked(package):
    """Why there is no extension for this interpreter, and what to type."""
    if sys.implementation.name != "cpython":
        return "gpubound hooks CPython only; run the program with one, from 3.9 on"
    if sys.version_info < (3, 9):
        return "gpubound hooks CPython 3.9 and later; run the program with one"
    build = os.path.dirname(os.path.dirname(package))
    if os.path.exists(os.path.join(build, "CMakeCache.txt")):
        return "no extension was built for it: cmake '-DGPUBOUND_PYTHONS=%s' '%s' && cmake --build '%s'" % (
            sys.executable, build, build)
    return "no extension was installed for it: %s -m pip install GPUBOUND_SOURCE_FOLDER, and use the " \
        "gpubound command that this installs" % sys.executable


def _say_it_is_not_hooked(package):
    """On stderr and, through the C table, in the ledger."""
    text = "Python %d.%d%s of %s is not hooked, so what its libraries do has no names: %s" % (
        sys.version_info[0], sys.version_info[1], "t" if _is_free_threaded() else "",
        sys.executable, _why_not_hooked(package))
    sys.stderr.write("gpubound: " + text + "\n")
    import ctypes
    note = text.encode()

    class Table(ctypes.Structure):
        _fields_ = [("size", ctypes.c_uint32), ("version", ctypes.c_uint32),
                    ("others", ctypes.c_void_p * 11),
                    ("ledger", ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.c_uint64,
                                                ctypes.c_char_p, ctypes.c_size_t))]
    get_table = ctypes.CDLL(None).gpubound_api_v1
    get_table.restype = ctypes.POINTER(Table)
    table = get_table()
    if table and table.contents.size >= ctypes.sizeof(Table):
        table.contents.ledger(b"python_without_extension", 1, note, len(note))


def _is_helper(*modules):
    """Whether this process is what multiprocessing, or joblib's loky, starts beside a program: its
    resource_tracker, or its forkserver, from which workers are forked."""
    try:
        with open("/proc/self/cmdline", "rb") as file:
            words = file.read()
    except OSError:
        return False
    return any((module + " import main").encode() in words for module in modules)


def _user_hooks():
    """As gpubound._hooks.user_folder(), which is not imported yet."""
    config = os.environ.get("XDG_CONFIG_HOME") or os.path.join(os.path.expanduser("~"), ".config")
    return os.path.join(config, "gpubound", "hooks")


def _listed(folder):
    """Nothing of a folder that is not there, or that is not ours to read."""
    try:
        return os.listdir(folder)
    except OSError:
        return []


class _FirstLibrary(object):
    """On sys.meta_path until a module is imported that has a hook file, or gpubound itself.

    Several threads may come at once: the import system lets one of them execute the package, which
    installs the hooks, and the others wait. Nothing is taken off the path before the hooks' finder is
    on it, since who is on his way along it would miss the next one."""

    def __init__(self, package):
        self._package = package
        self._names = {name.partition(".")[0]
                       for folder in (os.path.join(package, "hooks"), _user_hooks())
                       for name in _listed(folder)} | {"gpubound"}
        self._is_server = False
        self._hooks = None  # their finder, once they are installed

    def find_spec(self, name, path=None, target=None):
        if name in self._names:
            if self._is_server or self._serves():
                return self._find_package(None) if name == "gpubound" else None
            if name == "gpubound" and _has_extension(self._package):
                return self._find_package(self._install)
            self._load()
        return None if self._hooks is None else self._hooks.find_spec(name, path, target)

    def look_back(self):
        """A .pth file may have imported one of the libraries before any of this, as coverage.py's does with
        multiprocessing; nobody imports that again."""
        if any(name in sys.modules for name in self._names) and not self._serves():
            self._load()

    def _serves(self):
        """Whether this process does nothing of its own."""
        if _is_helper("from multiprocessing.resource_tracker", "loky.backend.resource_tracker"):
            self._give_up()
            return True
        if _is_helper("from multiprocessing.forkserver"):  # its children do, and what it imports for them is theirs
            self._is_server = True
            os.register_at_fork(after_in_child=self._load_in_worker)
            return True
        return False

    def _find_package(self, executed):
        """The package where it lies, which need not be on sys.path; `executed` is called when it is."""
        from importlib import util
        spec = util.spec_from_file_location("gpubound", os.path.join(self._package, "__init__.py"),
                                            submodule_search_locations=[self._package])
        assert spec is not None and spec.loader is not None  # it has a file
        if executed is not None:
            execute = spec.loader.exec_module

            def exec_module(module):
                execute(module)
                executed()
            spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec

    def _load_in_worker(self):
        self._is_server = False
        if self._names:  # else it is a fork of the worker's own
            self._load()

    def _load(self):
        try:
            if _has_extension(self._package):
                with _ImportLockReleased():
                    import gpubound  # noqa: F401  # found by us
                self._install()
            elif self._give_up():
                _say_it_is_not_hooked(self._package)
        except Exception as error:
            for name in [name for name in sys.modules if name.partition(".")[0] == "gpubound"]:
                del sys.modules[name]
            if self._give_up():
                sys.stderr.write("gpubound: Python libraries are not hooked: %r\n" % (error,))

    def _install(self):
        from gpubound import _startup
        hooks = _startup.install(_ImportLockReleased)
        try:
            sys.meta_path.remove(self)
        except ValueError:  # by another thread, or by the program
            pass
        self._hooks = hooks  # for threads that are on their way through find_spec
        self._give_up()

    def _give_up(self):
        """Finds nothing any more. False where another thread was faster."""
        try:
            self._names.remove("gpubound")
        except KeyError:
            return False
        self._names.clear()
        return True


def _go_on():
    """Imports the sitecustomize that would have been found without us."""
    own = sys.modules.pop("sitecustomize")
    try:
        import sitecustomize  # type: ignore[import-not-found]  # noqa: F401
    except ImportError as error:
        if getattr(error, "name", None) != "sitecustomize":
            raise
    finally:
        sys.modules.setdefault("sitecustomize", own)


_folder = os.path.dirname(os.path.abspath(__file__))
_take_out(_folder)
# The words for off of SwitchOf in libprofiler/env_vars.h.
_OFF = ("", "0", "off", "Off", "OFF", "false", "False", "FALSE", "no", "No", "NO")
if sys.version_info >= (3,) and os.environ.get("GPUBOUND_DISABLE", "0") in _OFF:
    _first_library = _FirstLibrary(os.path.dirname(_folder))
    sys.meta_path.insert(0, _first_library)
    _first_library.look_back()
_go_on()
