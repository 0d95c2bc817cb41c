// Package templatetest parses template.yaml for tests, either unchanged or after the AWS SAM transform, which produces
// the template that AWS deploys. Its own tests check the project's rules for the template. The end-to-end tests use it
// to compare the permissions of roles with the calls of functions. Only tests import this package. It does not evaluate
// intrinsic functions. The package infra/local/stack does.
package templatetest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"go.yaml.in/yaml/v3"
)

// Template contains the sections of a template. Intrinsic functions have their long form:
// {"Fn::GetAtt": ["Table", "Arn"]}.
type Template struct {
	Parameters map[string]map[string]any
	Rules      map[string]any
	Conditions map[string]any
	Resources  map[string]Resource
	Outputs    map[string]any
	Metadata   map[string]any
}

// Resource is an entry of the section Resources.
type Resource struct {
	Type, Condition, DeletionPolicy, UpdateReplacePolicy string

	DependsOn    any // a name or a list of names
	Properties   map[string]any
	UpdatePolicy map[string]any
}

// Root is the root folder of the repository, relative to the folder of a package directly below infra.
const Root = "../.."

// Source returns template.yaml before the SAM transform.
func Source(t testing.TB) *Template {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(Root, "template.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return Parse(t, content)
}

// Parse parses a template in YAML or JSON.
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

// transformed returns the template after the SAM transform, which runs once. It returns errTools if the transform is
// not installed.
var transformed = sync.OnceValues(func() ([]byte, error) {
	imports := exec.CommandContext(context.Background(), "python3", "-c", "import samtranslator, boto3, moto")
	if imports.Run() != nil {
		return nil, errTools
	}
	return python("sam_transform.py", "template.yaml")
})

var errTools = errors.New("the SAM transform needs python3 with aws-sam-translator, boto3 and moto")

// Transformed returns template.yaml after the SAM transform. If the transform is not installed, it skips the test, or
// fails it if CI=true.
func Transformed(t testing.TB) *Template {
	t.Helper()
	content, err := transformed()
	switch {
	case err == nil:
		return Parse(t, content)
	case errors.Is(err, errTools) && os.Getenv("CI") != "true":
		t.Skip(err)
	default:
		t.Fatal(err)
	}
	return nil
}

// python runs a script of the folder .ci and returns its output.
func python(script string, args ...string) ([]byte, error) {
	args = append([]string{filepath.Join(".ci", script)}, args...)
	command := exec.CommandContext(context.Background(), "python3", args...)
	command.Dir = Root
	var stderr bytes.Buffer
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", script, err, stderr.String())
	}
	return out, nil
}

// longForm converts YAML to plain values. It converts tags such as !GetAtt to the long form of intrinsic functions.
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
		fields := map[string]any{}
		for i := 0; i < len(n.Content); i += 2 {
			value, err := longForm(n.Content[i+1])
			if err != nil {
				return nil, err
			}
			fields[n.Content[i].Value] = value
		}
		return fields, nil
	case yaml.SequenceNode:
		items := []any{}
		for _, item := range n.Content {
			value, err := longForm(item)
			if err != nil {
				return nil, err
			}
			items = append(items, value)
		}
		return items, nil
	default:
		var value any
		err := n.Decode(&value)
		return value, err //nolint:wrapcheck // the error of yaml is complete
	}
}
