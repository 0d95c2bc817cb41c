package process

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
)

// raceFlag is the flag of the race detector, which needs cgo.
const raceFlag = "-race"

// Build compiles packages of the project whose folder is root. arguments are further flags of `go build`, such as -o,
// and the packages. The other flags are the same as in the Makefile, so that Go does not compile a package twice.
func Build(ctx context.Context, root string, arguments ...string) error {
	flags := []string{"build", "-trimpath", "-tags=lambda.norpc", "-ldflags=-s", "-gcflags=all=-dwarf=false"}
	command := exec.CommandContext(ctx, "go", append(flags, arguments...)...)
	command.Dir = root
	cgo := "CGO_ENABLED=0"
	if slices.Contains(arguments, raceFlag) {
		cgo = "CGO_ENABLED=1"
	}
	command.Env = append(os.Environ(), cgo)
	if output, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, output)
	}
	return nil
}
