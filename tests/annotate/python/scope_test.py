# SPDX-License-Identifier: Apache-2.0
"""Scopes as context managers: what the collector is told, and wrong use."""
import contextlib
import copy
import gc
import pickle
import threading
import types
import unittest

import gpubound
from recorded import RecordedTest, scope


class ContextManagerTest(RecordedTest):
    def test_a_scope_is_open_inside_the_block(self):
        with gpubound.operation("inference"):
            gpubound.phase("inside")
        self.assert_recorded("begin operation inference", "phase inside", "end operation inference")

    def test_a_scope_may_be_kept_and_nest_in_itself(self):
        kept = gpubound.operation("search")
        with kept, kept:
            pass
        self.assert_recorded(*scope("search", "search"))

    def test_an_exception_closes_the_scope_and_goes_on(self):
        with self.assertRaises(KeyError), gpubound.operation("update"):
            raise KeyError
        self.assert_recorded(*scope("update"))

    def test_the_block_is_given_the_scope(self):
        with gpubound.operation("update") as opened:
            self.assertIs(opened, gpubound.operation("update"))

    def test_a_name_made_anew_gives_the_same_scope(self):
        first = gpubound.operation("".join(["up", "date"]))
        self.assertIs(gpubound.operation("".join(["up", "da", "te"])), first)

    def test_equal_names_of_an_operation_and_a_layer_are_two_scopes(self):
        with gpubound.operation("wait"), gpubound.layer("wait"):
            pass
        self.assert_recorded("begin operation wait", "begin layer(2) wait", "end layer(2) wait",
                             "end operation wait")

    def test_a_layer_has_a_reason(self):
        with gpubound.layer("wait", "replay buffer"):
            pass
        self.assert_recorded("begin layer(2) replay buffer", "end layer(2) replay buffer")

    def test_a_stack_of_contexts_opens_and_closes_it(self):
        with contextlib.ExitStack() as stack:
            opened = stack.enter_context(gpubound.operation("update"))
            gpubound.phase("inside")
        self.assertIs(opened, gpubound.operation("update"))
        self.assert_recorded("begin operation update", "phase inside", "end operation update")

    def test_a_stack_of_contexts_closes_what_was_pushed_whatever_is_raised(self):
        with self.assertRaises(KeyError), contextlib.ExitStack() as stack:
            stack.push(gpubound.operation("update").__enter__())
            raise KeyError
        self.assert_recorded(*scope("update"))

    def test_its_methods_are_called_through_the_type_too(self):
        opened = gpubound.operation("update")
        self.assertIs(type(opened).__enter__(opened), opened)
        self.assertIsNone(types.MethodType(type(opened).__exit__, opened)(None, None, None))
        self.assert_recorded(*scope("update"))

    def test_methods_of_the_type_refuse_what_is_no_scope(self):
        for arguments in ((), (3,), (None, None, None)):
            with self.assertRaisesRegex(TypeError, "with a Scope first"):
                gpubound.Scope.__exit__(*arguments)
        with self.assertRaisesRegex(TypeError, "with a Scope first"):
            vars(gpubound.Scope)["__enter__"].__get__(3)
        self.assert_recorded()

    def test_the_repr_says_what_it_is(self):
        self.assertEqual(repr(gpubound.operation("a'b")), "gpubound.operation(\"a'b\")")

    def test_a_scope_travels_by_its_name(self):
        original = gpubound.operation("update")
        self.assertIs(pickle.loads(pickle.dumps(original)), original)
        self.assertIs(copy.deepcopy(original), original)
        waiting = gpubound.layer("wait", "queue")
        self.assertIs(pickle.loads(pickle.dumps(waiting)), waiting)


class NameTest(RecordedTest):
    def test_more_names_than_are_kept_still_open_and_close(self):
        for number in range(17000):
            gpubound.operation(f"name {number}")
        with gpubound.operation("one more"):
            pass
        self.assert_recorded(*scope("one more"))

    def test_a_name_of_a_megabyte_is_passed_on_whole_and_not_kept(self):
        name = "x" * 1_000_000
        with gpubound.operation(name) as opened:
            pass
        self.assert_recorded(*scope(name))
        self.assertIsNot(gpubound.operation(name), opened)

    def test_what_utf8_cannot_express_is_escaped(self):
        with gpubound.operation("file \udcff"):
            pass
        self.assert_recorded(*scope("file \\udcff"))

    def test_an_empty_name_is_a_name(self):
        with gpubound.operation(""):
            pass
        self.assert_recorded(*scope(""))

    def test_a_subclass_of_str_is_taken_at_its_text(self):
        class Odd(str):
            def __eq__(self, other):
                return True
            __hash__ = str.__hash__

        with gpubound.operation(Odd("odd")):
            pass
        self.assert_recorded(*scope("odd"))

    def test_a_name_that_is_no_str_is_refused(self):
        for name in (b"bytes", None, 3, ["list"], lambda: None):
            with self.subTest(name=name), self.assertRaisesRegex(TypeError, "must be a str, not"):
                gpubound.operation(name)
        for name in (b"bytes", None):
            with self.subTest(name=name), self.assertRaises(TypeError):
                gpubound.layer("wait", name or 3)

    def test_a_missing_or_superfluous_name_is_refused(self):
        for arguments in ((), ("a", "b")):
            with self.assertRaisesRegex(TypeError, "takes 1 arguments"):
                gpubound.operation(*arguments)

    def test_an_unknown_layer_is_refused_with_the_known_ones(self):
        with self.assertRaisesRegex(ValueError, "unknown layer 'gpu'.*simulator"):
            gpubound.layer("gpu")


class MisuseTest(RecordedTest):
    def test_a_scope_left_on_another_thread_reaches_the_collector_there(self):
        kept = gpubound.operation("update")
        kept.__enter__()
        other = threading.Thread(target=kept.__exit__, args=(None, None, None))
        other.start()
        other.join()
        self.assert_recorded(*scope("update"))

    def test_leaving_without_entering_reaches_the_collector(self):
        gpubound.operation("update").__exit__()
        self.assert_recorded("end operation update")

    def test_entering_with_arguments_is_refused(self):
        with self.assertRaises(TypeError):
            gpubound.operation("update").__enter__(1)
        with self.assertRaises(TypeError):
            gpubound.operation("update").__enter__(name=1)
        self.assert_recorded()

    def test_a_scope_cannot_be_made_by_its_type(self):
        with self.assertRaises(TypeError):
            gpubound.Scope("update")

    def test_attributes_of_a_scope_are_read_only(self):
        with self.assertRaises(AttributeError):
            gpubound.operation("update").name = "other"

    def test_a_scope_that_nobody_keeps_is_freed(self):
        long_name = "y" * 1000
        kept = gpubound.operation(long_name)
        del kept
        gc.collect()
        self.assertNotIn(long_name, [thing.name for thing in gc.get_objects()
                                     if type(thing) is gpubound.Scope])


if __name__ == "__main__":
    unittest.main()
