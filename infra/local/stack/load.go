package stack

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"go.yaml.in/yaml/v3"
)

// Load reads the template at path and resolves it. What is wrong with the template is a single *[Error] that names
// everything found; an unreadable file is an error of its own.
func Load(path string, options Options) (*Stack, error) {
	content, err := os.ReadFile(path) //nolint:gosec // the template is the one that the caller named
	if err != nil {
		return nil, fmt.Errorf("read the template: %w", err)
	}
	dir, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		return nil, fmt.Errorf("find the template's folder: %w", err)
	}
	loaded, err := Parse(path, content, options)
	if err != nil {
		return nil, err
	}
	loaded.Dir = dir
	if err := loaded.findModules(); err != nil {
		return nil, err
	}
	return loaded, nil
}

// Parse resolves a template that has been read already. The name is only for messages; Dir of the stack stays empty.
func Parse(name string, content []byte, options Options) (*Stack, error) {
	root, err := read(name, content)
	if err != nil {
		return nil, err
	}
	r := newResolver(name, root, withDefaults(options))
	loaded := r.resolve()
	if err := r.err(); err != nil {
		return nil, err
	}
	return loaded, nil
}

func withDefaults(options Options) Options {
	for _, setting := range []struct {
		value    *string
		fallback string
	}{{&options.StackName, "local"}, {&options.Region, "us-east-1"}, {&options.Account, "000000000000"}} {
		if *setting.value == "" {
			*setting.value = setting.fallback
		}
	}
	return options
}

// read parses YAML, of which JSON is a part, into our tree.
func read(name string, content []byte) (*node, error) {
	decoder := yaml.NewDecoder(bytes.NewReader(content))
	var document yaml.Node
	if err := decoder.Decode(&document); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	var second yaml.Node
	if err := decoder.Decode(&second); err == nil {
		return nil, &Error{[]Problem{{File: name, Line: second.Line, Message: "a template is one YAML document, here begins another"}}}
	}
	found := &problems{file: name}
	if len(document.Content) == 0 || document.Content[0].Kind != yaml.MappingNode {
		found.add(place{}, 1, "is not a template: it has no Resources")
		return nil, found.err()
	}
	root := parser{found}.mapping(place{}, document.Content[0])
	if err := found.err(); err != nil {
		return nil, err
	}
	return root, nil
}
