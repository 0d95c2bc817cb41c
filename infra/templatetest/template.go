// Package templatetest reads template.yaml for tests: as it is written, and as what SAM's transform makes of it, which is what AWS
// gets. Its own tests hold the template to the house's rules; the end-to-end tests ask it what roles grant. Only tests import this
// package, and no values are worked out here: that is infra/local/stack's.
package templatetest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"go.yaml.in/yaml/v3"
)

// Template is a template's sections. Intrinsic functions have their long form: {"Fn::GetAtt": ["Table", "Arn"]}.
type Template struct {
	Parameters map[string]map[string]any
	Rules      map[string]any
	Conditions map[string]any
	Resources  map[string]Resource
	Outputs    map[string]any
	Metadata   map[string]any
}

// Resource is an entry of Resources.
type Resource struct {
	Type, Condition, DeletionPolicy, UpdateReplacePolicy string

	DependsOn  any // a name, or a list of them
	Properties map[string]any
}

// Root is the project's folder.
func Root() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "..", "..")
}

// Source is the template as it is written.
func Source(t testing.TB) *Template {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(Root(), "template.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return Parse(t, content)
}

// Parse reads a template, YAML or JSON.
func Parse(t testing.TB, content []byte) *Template {
	t.Helper()
	var document yaml.Node
	if err := yaml.Unmarshal(content, &document); err != nil {
		t.Fatal(err)
	}
	plain, err := longForm(&document)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(plain)
	if err != nil {
		t.Fatal(err)
	}
	var parsed Template
	if err := json.Unmarshal(text, &parsed); err != nil {
		t.Fatal(err)
	}
	return &parsed
}

var transformed = sync.OnceValues(func() ([]byte, error) {
	if err := exec.CommandContext(context.Background(), "python3", "-c", "import samtranslator, boto3, moto").Run(); err != nil {
		return nil, errTools
	}
	return python("sam_transform.py", "template.yaml")
})

var errTools = fmt.Errorf("templatetest: SAM's transform takes python3 with aws-sam-translator, boto3 and moto")

// Transformed is what SAM's transform makes of the template. Where there is no transform the test is skipped, and in CI it fails.
func Transformed(t testing.TB) *Template {
	t.Helper()
	content, err := transformed()
	switch {
	case err == nil:
		return Parse(t, content)
	case err == errTools && os.Getenv("CI") != "true": //nolint:errorlint // it is this one, and wrapped by nobody
		t.Skip(err)
	default:
		t.Fatal(err)
	}
	return nil
}

// python runs one of CI's scripts in the project's folder.
func python(script string, args ...string) ([]byte, error) {
	command := exec.CommandContext(context.Background(), "python3", append([]string{filepath.Join(".ci", script)}, args...)...) //nolint:gosec // our own scripts
	command.Dir = Root()
	var stderr bytes.Buffer
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", script, err, stderr.String())
	}
	return out, nil
}

// longForm turns YAML into plain values, with !GetAtt and its like as CloudFormation's JSON writes them.
func longForm(n *yaml.Node) (any, error) {
	if name, short := strings.CutPrefix(n.Tag, "!"); short && !strings.HasPrefix(name, "!") {
		plain := *n
		plain.Tag = ""
		value, err := longForm(&plain)
		switch {
		case err != nil:
			return nil, err
		case name == "Ref" || name == "Condition":
			return map[string]any{name: value}, nil
		case name == "GetAtt" && n.Kind == yaml.ScalarNode:
			id, attribute, _ := strings.Cut(n.Value, ".")
			return map[string]any{"Fn::GetAtt": []any{id, attribute}}, nil
		}
		return map[string]any{"Fn::" + name: value}, nil
	}
	switch n.Kind {
	case yaml.DocumentNode:
		return longForm(n.Content[0])
	case yaml.MappingNode:
		all := map[string]any{}
		for i := 0; i < len(n.Content); i += 2 {
			value, err := longForm(n.Content[i+1])
			if err != nil {
				return nil, err
			}
			all[n.Content[i].Value] = value
		}
		return all, nil
	case yaml.SequenceNode:
		all := []any{}
		for _, item := range n.Content {
			value, err := longForm(item)
			if err != nil {
				return nil, err
			}
			all = append(all, value)
		}
		return all, nil
	default:
		var value any
		err := n.Decode(&value)
		return value, err //nolint:wrapcheck // a scalar's own
	}
}
