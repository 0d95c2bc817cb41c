// Package stack reads a SAM or CloudFormation template and resolves it to what the local platform runs:
// functions, REST APIs with their routes, tables, queues, buckets and secrets, which streams and queues functions read,
// and which schedules invoke them.
//
// What belongs here: the template language (parameters, conditions, mappings, intrinsic functions, SAM's Globals),
// the list of resource types and properties that are run, the list of those that have no effect on a laptop,
// and the deterministic names that resources get. Everything else in a template is an error that names file, line,
// resource and property: a template never half works.
//
// What may not enter: creating or running anything (see provision, runtime, gateway), and knowledge of any one project.
package stack
