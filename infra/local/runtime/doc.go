// Package runtime is Lambda on one machine: it starts functions' bootstrap binaries as child
// processes, speaks the Lambda Runtime API with them, and answers Lambda's Invoke API.
//
// What belongs here: execution environments and their life, the queue in front of them, the
// Runtime API (2018-06-01), the part of Lambda's REST API that invokes and describes functions.
// What may not enter: HTTP routing of a product, API Gateway's events, templates, event sources.
// They are callers of Runtime.Invoke.
//
// The way of a request: Invoke queues it at its function's pool, the pool hands it to the first
// instance that is free or has just started, the instance's long poll of /next takes it away, and
// what the function posts back goes to the caller, whole or as it comes.
//
// It needs a Unix system: process groups and non-blocking pipes.
package runtime
