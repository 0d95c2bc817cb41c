package main

import (
	"context"
	"fmt"
	"io"

	"devplatform/infra/local/platform"
)

// check loads a template as the platform does, and prints the number of its resources, or all problems.
func check(_ context.Context, args []string, stdout, stderr io.Writer) error {
	flags := newFlags("check", "usage: local check TEMPLATE\n", stderr)
	if err := parse(flags, args, 1); err != nil {
		return err
	}
	path := flags.Arg(0)
	values := func(platform.Addresses) platform.Values { return platform.Values{Parameters: parameters} }
	s, err := platform.Check(platform.Config{Template: path, Values: values})
	if err != nil {
		return err
	}
	routes := 0
	for _, api := range s.APIs {
		routes += len(api.Routes)
	}
	_, err = fmt.Fprintf(stdout, "%s: %d functions, %d routes, %d event source mappings, %d schedules, %d tables, "+
		"%d queues, %d buckets, %d secrets: the local platform can run it\n", path, len(s.Functions), routes,
		len(s.EventSourceMappings), len(s.Schedules), len(s.Tables), len(s.Queues), len(s.Buckets), len(s.Secrets))
	if err != nil {
		return fmt.Errorf("write: %w", err)
	}
	return nil
}
