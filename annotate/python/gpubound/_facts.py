# SPDX-License-Identifier: Apache-2.0
"""Facts that hooks record of a training loop. What a call was for is known only when it is known what
followed, and so its operation is named when the trace is read (analysis/naming). The domains are those of
proto/scope_domains.h."""
import sys
from typing import Any, Dict, Tuple

from gpubound import _core, _failures, _roles
from gpubound._decorate import binds_to_instances

# Of calls of modules, while gradients are off and on.
MODULE = "module"
MODULE_WITH_GRADIENTS = "module with gradients"
# Of calls of a program's jitted functions, and of those that are named as training steps.
JITTED = "jitted"
JITTED_TRAINING = "jitted training step"
# Of operations that a hook names, and of a framework's timer around whole iterations.
RULES = "rules"
TURN = "turn"
# Of `rollout` and `update` where the loop's hooks find them.
STAGE = "stage"

_MOST_CLASSES = 1024  # a program that makes up classes has calls of "Module" from then on


def wrap_module_call(original: Any, hook: Dict[str, Any]) -> Any:
    """`original`, the call of a module: each outermost one is a fact that says whether gradients are on."""
    module, _, name = hook["gradients"].rpartition(".")  # a function of no arguments
    labels: Dict[type, Tuple[int, int]] = {}

    def labels_of(kind: type) -> Tuple[int, int]:
        name = kind.__name__ if len(labels) < _MOST_CLASSES else hook["class"]
        pair = (_core.annotation_label(MODULE, name), _core.annotation_label(MODULE_WITH_GRADIENTS, name))
        return labels.setdefault(kind, pair)

    def labels_or_none(kind: type) -> Tuple[int, int]:
        return _failures.attempt((0, 0), "calls of a module are not recorded", labels_of, kind)
    helper = (labels, getattr(sys.modules[module], name), labels_or_none)
    return _core.watch(original, 0, binds_to_instances(original), _roles.TELLS, helper)
