// SPDX-License-Identifier: Apache-2.0
//
// trace_processor.mjs FOLDER: Perfetto's trace processor, of the page that FOLDER holds, between
// stdin and stdout: bytes of a TraceProcessorRpcStream in, such bytes out. Ends with stdin.
//
// The page runs its engine in a worker of a browser. Node gives the engine what it asks of one:
// `self`, through which it is handed a port, and a request that reads a file beside it at once. It
// needs no module besides node's own.
import {readFileSync, writeSync} from 'node:fs';
import {join} from 'node:path';

const folder = process.argv[2];

class FileRequest {
  open(_, name) {
    this.path = join(folder, name);
  }
  send() {
    this.response = readFileSync(this.path);
  }
}

// With a module that is a memory of 64 bits the engine asks whether those are known. Node 22 knows
// them, but not tables of 64 bits, which the engine of 64 bits has too: it is told no, and takes
// that of 32, which every node can load.
const kMemorySection = 5;
const kAddressedBy64Bits = 4;
const wasm = Object.create(WebAssembly);
wasm.Module = function(bytes) {
  if (bytes[8] === kMemorySection && bytes[11] & kAddressedBy64Bits) {
    throw new WebAssembly.CompileError('a memory of 64 bits');
  }
  return new WebAssembly.Module(bytes);
};

// The engine's own log goes where messages belong; stdout is for answers.
const log = (...words) => console.error(...words);
const globals = {
  self: {location: {href: 'file:///'}},
  WorkerGlobalScope: Object,
  WebAssembly: wasm,
  XMLHttpRequest: FileRequest,
  console: {log, warn: log, error: log},
  process: undefined,  // by which the engine would know node, for which it was not built
};
const engine = readFileSync(join(folder, 'engine_bundle.js'), 'utf8');
new Function(...Object.keys(globals), engine)(...Object.values(globals));

const port = {
  postMessage(bytes) {
    for (let written = 0; written < bytes.length;) {
      written += writeSync(1, bytes, written);
    }
  },
};
globals.self.onmessage({data: port});
process.stdin.on('data', (bytes) => port.onmessage({data: bytes}));
