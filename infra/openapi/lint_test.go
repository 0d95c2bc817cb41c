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

// TestRedoclyFindsNothing holds the document to Redocly's linter; redocly/redocly.yaml has the rules.
func TestRedoclyFindsNothing(t *testing.T) {
	t.Parallel()
	output, err := lint(t, docs.OpenAPI)
	if err != nil || !strings.Contains(output, `"warnings": 0`) {
		t.Errorf("%v\n%s", err, output)
	}
}

// TestRedoclyFinds shows that the linter looks at the document and knows the rules.
func TestRedoclyFinds(t *testing.T) {
	t.Parallel()
	output, err := lint(t, []byte(strings.Replace(string(docs.OpenAPI), `"summary":`, `"gist":`, 1)))
	if err == nil || !strings.Contains(output, "gist") {
		t.Errorf("%v\n%s", err, output)
	}
}

// lint is what the linter says of a document. Error: it has found something, or could not look.
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
