// Package stack reads a SAM or CloudFormation template and resolves it to what the local platform runs: functions, REST
// APIs with their routes, tables, queues, buckets and secrets, the streams and queues that functions read, and the
// schedules that invoke them.
//
// A template passes four stages, each in files of its own:
//
//   - load.go and node.go parse YAML into a tree of nodes that know their lines.
//   - template.go loads the sections and merges Globals into resources. evaluator.go, reference.go, condition.go and
//     parameter.go resolve intrinsic functions, conditions and parameters.
//   - decode.go reads the properties of a resource into a struct, whose tags list the supported properties.
//   - build.go and the files named after resources turn these structs into the types of the package resources.
//
// Outputs have no effect. Everything else that is not supported is an error that names file, line, resource and
// property: a template that the platform can run only in part does not run. Rules that a service checks when a resource
// is created, such as the rules for names and keys, are not repeated here.
//
// What may not enter: creating or running anything (see provision, runtime, gateway), and knowledge of a single
// project.
package stack
