/* SPDX-License-Identifier: Apache-2.0
 *
 * The floor of python_bench: a context manager in C that does nothing, written the usual way.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

typedef struct {
  PyObject_HEAD
} EmptyScope;

static int Initialise(PyObject* self, PyObject* arguments, PyObject* keywords) {
  PyObject* name = NULL;
  (void)self;
  (void)keywords;
  return PyArg_UnpackTuple(arguments, "EmptyScope", 1, 1, &name) ? 0 : -1;
}

static PyObject* Enter(PyObject* self, PyObject* none) {
  (void)none;
  Py_INCREF(self);
  return self;
}

static PyObject* Exit(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
  (void)self;
  (void)arguments;
  (void)count;
  Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"__enter__", Enter, METH_NOARGS, NULL},
    {"__exit__", (PyCFunction)(void (*)(void))Exit, METH_FASTCALL, NULL},
    {NULL, NULL, 0, NULL}};

static PyTypeObject type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "empty_scope.EmptyScope",
    .tp_basicsize = sizeof(EmptyScope),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_methods = methods,
    .tp_new = PyType_GenericNew,
    .tp_init = Initialise,
};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, .m_name = "empty_scope",
                                        .m_size = -1};

PyMODINIT_FUNC PyInit_empty_scope(void) {
  PyObject* module = PyModule_Create(&definition);
  if (module == NULL || PyType_Ready(&type) < 0) return NULL;
#ifdef Py_GIL_DISABLED /* else the import would switch the lock on for all that is measured */
  if (PyUnstable_Module_SetGIL(module, Py_MOD_GIL_NOT_USED) < 0) return NULL;
#endif
  Py_INCREF(&type);
  if (PyModule_AddObject(module, "EmptyScope", (PyObject*)&type) < 0) return NULL;
  return module;
}
