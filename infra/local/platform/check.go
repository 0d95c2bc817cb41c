package platform

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	goruntime "runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"devplatform/infra/local/resources"
	"devplatform/infra/local/stack"
)

// stackName is the first part of the names of tables, queues, buckets and secrets.
const stackName = "local"

// Check reads the template of a configuration as Open does, but starts nothing. The error names everything in the
// template that the platform cannot run. Only Template and Values of the configuration are required.
func Check(config Config) (*resources.Stack, error) {
	loaded, err := load(config, Addresses{}, "")
	if err != nil {
		return nil, err
	}
	return loaded.stack, nil
}

// load resolves the template with the values for a platform with these addresses. endpoint is the URL of SQS, "" for
// the URL of AWS.
func load(config Config, at Addresses, endpoint string) (*functions, error) {
	var values Values
	if config.Values != nil {
		values = config.Values(at)
	}
	s, err := stack.Load(config.Template, stack.Options{
		StackName: stackName, Account: Account, Region: cmp.Or(config.Region, defaultRegion), QueueEndpoint: endpoint,
		Overrides: values.Variables, Defaults: values.Parameters,
	})
	if err != nil {
		return nil, err
	}
	loaded := newFunctions(config, s)
	if _, _, err = findAPIs(s); err != nil {
		err = fmt.Errorf("%s: %w", config.Template, err)
	}
	return loaded, errors.Join(err, loaded.checkSources())
}

// checkFunctions starts functions once from the binaries in a folder, so that a variable that is not valid is found
// now, and not by the first request. Functions with the same problem share a line of the error.
func (p *Platform) checkFunctions(ctx context.Context, dir string, all []resources.Function) error {
	problems := make([]error, len(all))
	var group errgroup.Group
	group.SetLimit(goruntime.GOMAXPROCS(0))
	for i, f := range all {
		group.Go(func() error {
			problems[i] = p.runtime.Check(ctx, f.Name, p.functions.binary(dir, f))
			return nil
		})
	}
	_ = group.Wait()
	names := map[string][]string{} // of functions, by message
	for i, err := range problems {
		if err != nil {
			names[err.Error()] = append(names[err.Error()], all[i].Name)
		}
	}
	var joined []error
	for _, message := range slices.Sorted(maps.Keys(names)) {
		joined = append(joined, fmt.Errorf("%s: cannot start: %s", strings.Join(names[message], ", "), message))
	}
	return errors.Join(joined...)
}
