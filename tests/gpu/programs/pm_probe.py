# SPDX-License-Identifier: Apache-2.0
"""pm_probe.py: whether CUPTI's PM sampling (hardware counters as a time series) may be used on device
0, asked step by step as its header documents. Says each answer; 0 is CUPTI_SUCCESS, 35 is
CUPTI_ERROR_INSUFFICIENT_PRIVILEGES."""
import ctypes
import glob
import json
import sys

SIZE, POINTER = ctypes.c_size_t, ctypes.c_void_p


def parameters(*fields):
    """A parameter structure of CUPTI's profiler: its size, a null pointer, then |fields|."""
    class Parameters(ctypes.Structure):
        _fields_ = [("structSize", SIZE), ("pPriv", POINTER), *fields]
    made = Parameters()
    made.structSize = ctypes.sizeof(Parameters)
    return made


def find_cupti():
    for folder in sys.path:
        found = glob.glob(f"{folder}/nvidia/cu13/lib/libcupti.so.13")
        if found:
            return found[0]
    found = glob.glob("/usr/local/cuda/extras/CUPTI/lib64/libcupti.so.1?")
    return found[0] if found else "libcupti.so.13"


def main():
    said = {"cuInit": ctypes.CDLL("libcuda.so.1").cuInit(0), "libcupti": find_cupti()}
    cupti = ctypes.CDLL(said["libcupti"])
    version = ctypes.c_uint32()
    cupti.cuptiGetVersion(ctypes.byref(version))
    said["version"] = version.value
    said["initialize"] = cupti.cuptiProfilerInitialize(ctypes.byref(parameters()))
    chip = parameters(("deviceIndex", SIZE), ("pChipName", ctypes.c_char_p))
    said["chip_name"] = cupti.cuptiDeviceGetChipName(ctypes.byref(chip))
    said["chip"] = (chip.pChipName or b"").decode()
    available = parameters(("deviceIndex", SIZE), ("counterAvailabilityImageSize", SIZE),
                           ("pCounterAvailabilityImage", POINTER))
    said["availability"] = cupti.cuptiPmSamplingGetCounterAvailability(ctypes.byref(available))
    said["availability_bytes"] = available.counterAvailabilityImageSize
    enable = parameters(("deviceIndex", SIZE), ("pPmSamplingObject", POINTER))
    said["enable"] = cupti.cuptiPmSamplingEnable(ctypes.byref(enable))
    if said["enable"] == 0:
        disable = parameters(("pPmSamplingObject", POINTER))
        disable.pPmSamplingObject = enable.pPmSamplingObject
        said["disable"] = cupti.cuptiPmSamplingDisable(ctypes.byref(disable))
    print(json.dumps(said))


if __name__ == "__main__":
    main()
