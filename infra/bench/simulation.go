package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// simulation runs the simulation of the delivery lanes, which is a test because it calls unexported functions.
func (b *bench) simulation(ctx context.Context) error {
	b.line("")
	b.line("SIMULATION of the delivery lanes: the decision code under a simulated clock")
	path := filepath.Join(b.scratch, "simulation.txt")
	command := exec.CommandContext(ctx, "go", "test", "-count=1", "-timeout=60m", "-run=^TestFullSimulation$",
		"./shared/webhook/delivery")
	command.Env = append(os.Environ(), "SIMULATION="+path)
	if output, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, output)
	}
	table, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("the test has written no table: %w", err)
	}
	for line := range strings.Lines(string(table)) {
		b.line("%s", strings.TrimRight(line, "\n"))
	}
	return nil
}
