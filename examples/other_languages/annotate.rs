// SPDX-License-Identifier: Apache-2.0
//
// A Rust program that names its operations: rustc -O annotate.rs && gpubound run -- ./annotate
// No crate is needed: the collector is found by name, and is not there where nobody profiles.
use std::ffi::c_void;
use std::marker::PhantomData;
use std::os::raw::c_char;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

// The first fields of `struct gpubound_api` in gpubound/api.h, which are never moved.
#[repr(C)]
struct Api {
    size: u32,
    version: u32,
    label: extern "C" fn(u32, u32, *const c_char, *const c_char, usize) -> u32,
    begin: extern "C" fn(u32),
    end: extern "C" fn(u32),
    phase: extern "C" fn(u32),
    step: extern "C" fn(u64),
}

const API_VERSION: u32 = 1;
const OPERATION: u32 = 1; // GPUBOUND_LABEL_OPERATION

extern "C" {
    fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
}

// Looks once; threads that look at the same time find the same.
fn api() -> Option<&'static Api> {
    const UNKNOWN: usize = 1;
    static TABLE: AtomicUsize = AtomicUsize::new(UNKNOWN);
    let mut table = TABLE.load(Ordering::Acquire);
    if table == UNKNOWN {
        table = find_api();
        TABLE.store(table, Ordering::Release);
    }
    unsafe { (table as *const Api).as_ref() }
}

fn find_api() -> usize {
    unsafe {
        let name = b"gpubound_api_v1\0";
        let symbol = dlsym(std::ptr::null_mut(), name.as_ptr() as *const c_char);
        if symbol.is_null() {
            return 0;
        }
        let get: extern "C" fn() -> *const Api = std::mem::transmute(symbol);
        match get().as_ref() {
            Some(api) if api.version == API_VERSION && api.size as usize >= std::mem::size_of::<Api>() => {
                api as *const Api as usize
            }
            _ => 0,
        }
    }
}

// The name of an operation, whose label is asked for once. 0 is none.
struct Name(&'static str, AtomicU32);

impl Name {
    const fn new(text: &'static str) -> Name {
        Name(text, AtomicU32::new(0))
    }
    fn label(&self, api: &Api) -> u32 {
        let known = self.1.load(Ordering::Relaxed);
        if known != 0 {
            return known;
        }
        let text = self.0.as_ptr() as *const c_char;
        let label = (api.label)(OPERATION, 0, std::ptr::null(), text, self.0.len());
        self.1.store(label, Ordering::Relaxed);
        label
    }
}

// Ends where it is dropped. The pointer keeps it on its thread, where it has to end.
struct Operation(u32, PhantomData<*const ()>);

impl Operation {
    fn begin(name: &Name) -> Operation {
        let label = api().map_or(0, |api| name.label(api));
        if let (Some(api), true) = (api(), label != 0) {
            // The collector may exchange the two functions at any time.
            let begin = unsafe { std::ptr::read_volatile(&api.begin) };
            begin(label);
        }
        Operation(label, PhantomData)
    }
}

impl Drop for Operation {
    fn drop(&mut self) {
        if let (Some(api), true) = (api(), self.0 != 0) {
            let end = unsafe { std::ptr::read_volatile(&api.end) };
            end(self.0);
        }
    }
}

static SIMULATION: Name = Name::new("simulation");
static INFERENCE: Name = Name::new("inference");

fn work(milliseconds: u64) -> u128 {
    let begin = Instant::now();
    while begin.elapsed() < Duration::from_millis(milliseconds) {}
    begin.elapsed().as_nanos()
}

fn main() {
    let (mut simulation, mut inference) = (0, 0);
    for iteration in 0..5 {
        {
            let _scope = Operation::begin(&SIMULATION);
            simulation += work(6);
        }
        {
            let _scope = Operation::begin(&INFERENCE);
            inference += work(4);
        }
        if let Some(api) = api() {
            (api.step)(iteration);
        }
    }
    println!("{{\"simulation\": {simulation}, \"inference\": {inference}}}");
}
