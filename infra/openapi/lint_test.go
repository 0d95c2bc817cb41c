package main

import (
	"embed"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"devplatform/infra/npmtest"
	"devplatform/shared/docs"
)

//go:embed redocly/.npmrc redocly/package.json redocly/package-lock.json redocly/redocly.yaml
var redocly embed.FS

// TestRedoclyAcceptsDocument checks the document with Redocly's linter. The rules are in redocly/redocly.yaml.
func TestRedoclyAcceptsDocument(t *testing.T) {
	t.Parallel()
	output, err := lint(t, docs.OpenAPI)
	if err != nil || !strings.Contains(output, `"warnings": 0`) {
		t.Errorf("the linter reports problems (error %v):\n%s", err, output)
	}
}

// TestRedoclyReportsErrors checks that the linter reads the document and applies the rules.
func TestRedoclyReportsErrors(t *testing.T) {
	t.Parallel()
	output, err := lint(t, []byte(strings.Replace(string(docs.OpenAPI), `"summary":`, `"unknown":`, 1)))
	if err == nil || !strings.Contains(output, "unknown") {
		t.Errorf("got the error %v and the output\n%s\nwant an error about the unknown field", err, output)
	}
}

// lint returns the output of the linter for a document. It returns an error if the linter found an error or failed.
func lint(t *testing.T, document []byte) (string, error) {
	t.Helper()
	files, err := fs.Sub(redocly, "redocly")
	if err != nil {
		t.Fatal(err)
	}
	dir := npmtest.Need(t, files)
	path := filepath.Join(t.TempDir(), "openapi.json")
	if err := os.WriteFile(path, document, 0o600); err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), filepath.Join(dir, "node_modules", ".bin", "redocly"),
		"lint", "--config", filepath.Join(dir, "redocly.yaml"), "--format", "json", path)
	command.Env = append(os.Environ(), "REDOCLY_TELEMETRY=off", "REDOCLY_SUPPRESS_UPDATE_NOTICE=true")
	output, err := command.Output()
	return string(output), err
}
