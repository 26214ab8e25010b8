// SPDX-License-Identifier: Apache-2.0

// A Go program that names its operations: CGO_CFLAGS=-I.../annotate/include go build, then
// gpubound run -- ./annotate
package main

/*
#cgo LDFLAGS: -ldl
#include <stdlib.h>
#include <gpubound/annotate.h>
*/
import "C"

import (
	"fmt"
	"runtime"
	"time"
	"unsafe"
)

// Operation does what it is given as the operation of that name. A goroutine may go on on another
// thread at any call, and a scope ends on the thread on which it began: hence the lock.
func Operation(name string, work func()) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	text := C.CString(name)
	scope := C.gpubound_begin_operation(text)
	C.free(unsafe.Pointer(text))
	defer C.gpubound_end(scope)
	work()
}

func busy(milliseconds int) int64 {
	begin := time.Now()
	for time.Since(begin) < time.Duration(milliseconds)*time.Millisecond {
	}
	return time.Since(begin).Nanoseconds()
}

func main() {
	var simulation, inference int64
	for iteration := 0; iteration < 5; iteration++ {
		Operation("simulation", func() { simulation += busy(6) })
		Operation("inference", func() { inference += busy(4) })
		C.gpubound_step(C.uint64_t(iteration))
	}
	fmt.Printf("{\"simulation\": %d, \"inference\": %d}\n", simulation, inference)
}
