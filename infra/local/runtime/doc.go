// Package runtime is Lambda on one machine. It starts functions' bootstrap binaries as child processes, serves the
// Lambda Runtime API to them, and handles Lambda's Invoke API.
//
// It contains the execution environments, the queue in front of them, the Runtime API (2018-06-01), and the operations
// of Lambda's REST API that invoke and describe functions. It must not contain a product's HTTP routing, API Gateway's
// events, templates or event sources: these call [Runtime.Invoke].
//
// Invoke puts a call into the queue of the function's pool. The pool assigns it to the first instance that is idle or
// has just started. The instance's long poll of /next takes it, and the response that the function posts goes to the
// caller, as a whole or as a stream.
//
// The package needs a Unix system: process groups and non-blocking pipes.
package runtime
