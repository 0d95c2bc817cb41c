package main

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"unicode/utf8"
)

// runMake runs make in the project's folder. The variables of make invoke are empty unless arguments set them.
func runMake(t *testing.T, arguments ...string) (output string, status int) {
	t.Helper()
	if _, err := os.Stat("../../Makefile"); err != nil { // so that go test runs again when the file changes
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), "make", append(arguments, "-C", "../..")...)
	command.Env = append(command.Environ(), "FUNCTION=", "EVENT=", "MAKEFLAGS=", "MAKELEVEL=")
	printed, err := command.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return string(printed), command.ProcessState.ExitCode()
}

// TestMakeHelp checks that the list of targets is a table that fits a terminal.
func TestMakeHelp(t *testing.T) {
	t.Parallel()
	output, status := runMake(t, "help")
	targets := 0
	for line := range strings.Lines(output) {
		line = strings.TrimRight(line, "\n")
		target, isTarget := strings.CutPrefix(line, "  make ")
		if !isTarget {
			continue
		}
		targets++
		name, help, _ := strings.Cut(target, " ")
		column := len(name) + len(help) - len(strings.TrimLeft(help, " "))
		if utf8.RuneCountInString(line) > 100 || strings.Contains(line, "$(") || column != len("vulnerable  ") {
			t.Errorf("%q", line)
		}
	}
	if status != 0 || targets < 10 {
		t.Errorf("%d, %d targets: %s", status, targets, output)
	}
}

// TestMakeInvoke checks the message about missing variables.
func TestMakeInvoke(t *testing.T) {
	t.Parallel()
	for _, arguments := range [][]string{{"invoke"}, {"invoke", "FUNCTION=AuthFunction"}, {"invoke", "EVENT=events/auth-me.json"}} {
		output, status := runMake(t, arguments...)
		hasExample := strings.Contains(output, "make invoke FUNCTION=AuthFunction EVENT=events/auth-me.json\n")
		if !hasExample || status != 2 || strings.Contains(output, "usage") {
			t.Errorf("%v: %d %s", arguments, status, output)
		}
	}
}

// TestMakeRunDebug checks that DEBUG=1 does not build functions without symbols, which are not used.
func TestMakeRunDebug(t *testing.T) {
	t.Parallel()
	for debug, isBuilt := range map[string]bool{"DEBUG=": true, "DEBUG=1": false} {
		output, status := runMake(t, "-n", "run", debug)
		if status != 0 || strings.Contains(output, "./functions/...") != isBuilt {
			t.Errorf("%s: got exit status %d and the commands %s, want the functions built: %v", debug, status, output, isBuilt)
		}
	}
}
