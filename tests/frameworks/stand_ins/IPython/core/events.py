# SPDX-License-Identifier: Apache-2.0
"""The interface of what IPython, and Jupyter's kernel, tell of before and after each cell that they run. Which
of their modules calls it, and whether the cell is a coroutine, differs."""


class EventManager:
    def trigger(self, event, *args, **kwargs):
        pass
