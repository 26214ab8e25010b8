# SPDX-License-Identifier: Apache-2.0
"""`%load_ext gpubound` and `%%gpubound`: cells of a notebook, recorded in place."""
import contextlib
import os
import time
from typing import Any, Optional

from gpubound import _api, _core, _startup
from gpubound._summary import command_path

# What was recorded is in the trace so much later: CUPTI is asked every half second, and a second is what the recorder
# takes at most to write.
_WRITTEN_AFTER_S = 1.7
_VARIABLE = "gpubound_run"


def load(shell: Any) -> None:
    """Records this kernel from now on, unless it is recorded already, and defines the magic."""
    if not _api.recording():
        _record_from_now_on()

    def magic(line: str, cell: str) -> Any:
        """Runs the cell, and shows what limited it: the verdict, the mean iteration and what would help. The run of
        the cell is `gpubound_run` then: `gpubound_run.operations.pandas()`. `%%gpubound NAME` stores it in NAME."""
        return _run_cell(shell, line.strip() or _VARIABLE, cell)
    shell.register_magic_function(magic, "cell", "gpubound")


def _record_from_now_on() -> None:
    if _cuda_has_started():
        raise RuntimeError("%load_ext gpubound: this kernel has used the GPU already, and work of a GPU is recorded "
                           "from its start only. Restart the kernel and load gpubound in the first cell.")
    library = _library()
    if library is None:
        raise RuntimeError("%load_ext gpubound: libgpubound.so is missing from this installation of gpubound; install "
                           "it again (pip install --force-reinstall gpubound)")
    run = os.path.abspath(time.strftime("notebook-%Y%m%d-%H%M%S-") + f"{os.getpid()}.gpubound")
    # Programs that the notebook starts, and that are annotated, belong to it.
    os.environ.setdefault("GPUBOUND_RUN", run)
    os.environ["GPUBOUND_LIBRARY"] = library
    if not _core.attach():
        raise RuntimeError(f"%load_ext gpubound: {library} records nothing here; the line above says why "
                           "(GPUBOUND_DISABLE switches it off)")
    _startup.install(contextlib.nullcontext)


def _cuda_has_started() -> bool:
    for descriptor in os.listdir("/proc/self/fd"):
        try:
            if os.readlink(f"/proc/self/fd/{descriptor}").startswith("/dev/nvidia-uvm"):
                return True
        except OSError:  # it was that of the listing
            continue
    return False


def _library() -> Optional[str]:
    command = command_path()
    if command is None:
        return None
    for folder in ("lib", "lib64", os.path.join("lib", "x86_64-linux-gnu")):
        path = os.path.join(os.path.dirname(command), "..", folder, "libgpubound.so")
        if os.path.exists(path):
            return os.path.abspath(path)
    return None


def _run_cell(shell: Any, name: str, cell: str) -> Any:
    from gpubound import runs
    begin_ns = time.monotonic_ns()
    result = shell.run_cell(cell)
    end_ns = time.monotonic_ns()
    if not result.success:  # it has said why
        return None
    time.sleep(_WRITTEN_AFTER_S)
    run = runs.open_run(os.environ["GPUBOUND_RUN"], (begin_ns, end_ns))
    shell.user_ns[name] = run
    return run
