package platform

import (
	"context"
	"errors"
	"fmt"
	goruntime "runtime"
	"strings"

	"golang.org/x/sync/errgroup"

	"devplatform/infra/local/stack"
)

// checkFunctions starts functions once from the binaries in a folder, so that a variable that is not valid is found
// now, and not by the first request. Functions with the same problem share a line of the error.
func (p *Platform) checkFunctions(ctx context.Context, dir string, all []stack.Function) error {
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
	var messages []string
	names := map[string][]string{} // of functions, by message
	for i, err := range problems {
		if err == nil {
			continue
		}
		if names[err.Error()] == nil {
			messages = append(messages, err.Error())
		}
		names[err.Error()] = append(names[err.Error()], all[i].Name)
	}
	var joined []error
	for _, message := range messages {
		joined = append(joined, fmt.Errorf("%s: cannot start: %s", strings.Join(names[message], ", "), message))
	}
	return errors.Join(joined...)
}
