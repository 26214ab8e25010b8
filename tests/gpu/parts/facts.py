# SPDX-License-Identifier: Apache-2.0
"""What this machine is: driver, CUPTI, MIG, NVML, and whether hardware counters may be read."""
import shutil

from harness.recording import account_of

TITLE = "the machine: driver, libcupti, MIG, NVML, permission for hardware counters"


def run(verdict, machine):
    doctor = machine.tool("doctor")
    verdict.add_report("gpubound doctor", doctor.out + doctor.err)
    verdict.check(doctor.status in (0, 1) and not doctor.hung, "gpubound doctor answers",
                  doctor.describe())
    recording = machine.record([machine.build("threads"), 2, 100], GPUBOUND_SAMPLE_MS=100)
    devices = recording.rows("select distinct name, uuid, simulated from device")
    verdict.figure("libcupti in the process", mapped_cupti(machine))
    verdict.check(len(devices) == 1, "the device is described by CUPTI", str(devices))
    notes = recording.rows("select text from note")
    verdict.figure("notes", notes)
    samples = recording.rows("select count(*), max(power_mw), max(memory_used_bytes), max(uuid) "
                             "from utilization")
    verdict.check(samples[0][0] > 0, "NVML answers", str(samples))
    if machine.simulated:
        verdict.left_out("MIG and permission", "the simulated device has neither")
        return
    verdict.equal(samples[0][3], devices[0][1], "NVML and CUPTI mean the same device by its uuid")
    if shutil.which("nvidia-smi"):
        listed = machine.command(["nvidia-smi", "--query-gpu=name,uuid,driver_version,mig.mode.current,"
                                  "compute_mode,persistence_mode", "--format=csv,noheader"])
        verdict.figure("nvidia-smi", listed.out.strip())
        verdict.check(devices[0][1] in listed.out, "nvidia-smi prints the same uuid", devices[0][1])
    parameters = machine.command(["grep", "-h", "RmProfilingAdminOnly", "/proc/driver/nvidia/params"])
    probe = machine.command([machine.find_python(), machine.bundle / "programs/pm_probe.py"])
    said = account_of(probe)
    verdict.check(said.get("chip_name") == 0, "CUPTI knows the chip", str(said) or probe.describe())
    verdict.figure("PM sampling", "may be used" if said.get("enable") == 0 else
                   f"refused with {said.get('enable', probe.describe())}")
    verdict.figure("counters for administrators only", parameters.out.strip() or "not said")


def mapped_cupti(machine):
    """Which libcupti a CUDA program has under gpubound, by the path that is mapped."""
    script = ("import ctypes\n"
              "ctypes.CDLL('libcudart.so.13' if SIM else 'libcuda.so.1')"
              ".__getattr__('cudaDeviceSynchronize' if SIM else 'cuInit')(0)\n"
              "print(sorted({line.split()[-1] for line in open('/proc/self/maps')"
              " if 'libcupti' in line}))\n").replace("SIM", str(machine.simulated))
    return machine.record([machine.find_python(), "-c", script]).outcome.out.strip()
