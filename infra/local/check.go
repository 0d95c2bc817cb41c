package main

import (
	"context"
	"fmt"
	"io"
	"maps"

	"devplatform/infra/local/stack"
)

// stackName is the first part of the names of tables, queues, buckets and secrets.
const stackName = "local"

// check loads a template as the platform would and says what it holds, or everything that can't be done.
func check(_ context.Context, args []string, stdout, stderr io.Writer) error {
	flags := newFlags("check", "local check TEMPLATE", stderr)
	if err := parse(flags, args, 1); err != nil {
		return err
	}
	path := flags.Arg(0)
	s, err := loadStack(path, stack.Options{Region: "us-east-1"})
	if err != nil {
		return err
	}
	routes := 0
	for _, api := range s.APIs {
		routes += len(api.Routes)
	}
	_, err = fmt.Fprintf(stdout, "%s: %d functions, %d routes, %d event source mappings, %d schedules, %d tables, %d queues, %d buckets, %d secrets: "+
		"the local platform can run it\n",
		path, len(s.Functions), routes, len(s.EventSourceMappings), len(s.Schedules), len(s.Tables), len(s.Queues), len(s.Buckets), len(s.Secrets))
	if err != nil {
		return fmt.Errorf("write: %w", err)
	}
	return nil
}

// loadStack resolves a template with parameterDefaults. If it can have an API for sites, it has one.
func loadStack(path string, options stack.Options) (*stack.Stack, error) {
	options.StackName, options.Account = stackName, account
	defaults := maps.Clone(parameterDefaults)
	maps.Copy(defaults, options.Defaults)
	options.Defaults = defaults
	return stack.Load(path, options)
}
