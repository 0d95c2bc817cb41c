package stack

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"go.yaml.in/yaml/v3"

	"devplatform/infra/local/resources"
)

// Options are the values with which a template is resolved.
type Options struct {
	// StackName, Region and Account are the values of the pseudo parameters. The defaults are "local", "us-east-1" and
	// "000000000000".
	StackName, Region, Account string
	// Parameters are values of the template's parameters. Other parameters have their defaults.
	Parameters map[string]string
	// Defaults replace the defaults of parameters. Parameters that the template does not have are ignored.
	Defaults map[string]string
	// QueueEndpoint is the beginning of the URLs of queues, such as http://127.0.0.1:4566. The default is the endpoint of
	// SQS.
	QueueEndpoint string
	// Overrides replace variables of functions. A variable that the template does not set for a function is not added.
	Overrides map[string]string
}

// Load reads the template at path and resolves it. If the file is YAML but not a valid template, the error is an
// *[Error] with all problems.
func Load(path string, options Options) (*resources.Stack, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the template: %w", err)
	}
	loaded, err := Parse(path, content, options)
	if err != nil {
		return nil, err
	}
	if loaded.Dir, err = filepath.Abs(filepath.Dir(path)); err != nil {
		return nil, fmt.Errorf("find the template's folder: %w", err)
	}
	return loaded, nil
}

// Parse resolves the content of a template. name is its name in messages. Dir stays empty.
func Parse(name string, content []byte, options Options) (*resources.Stack, error) {
	root, err := read(name, content)
	if err != nil {
		return nil, err
	}
	options.StackName = cmp.Or(options.StackName, "local")
	options.Region = cmp.Or(options.Region, "us-east-1")
	options.Account = cmp.Or(options.Account, "000000000000")
	e := newEvaluator(name, root, options)
	b := &builder{evaluator: e, stack: &resources.Stack{Region: options.Region}}
	e.loadSections()
	e.checkRules()
	b.build()
	if err := e.err(); err != nil {
		return nil, err
	}
	return b.stack, nil
}

// read parses YAML, which includes JSON, into a tree.
func read(name string, content []byte) (*node, error) {
	decoder := yaml.NewDecoder(bytes.NewReader(content))
	var document, second yaml.Node
	if err := decoder.Decode(&document); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	found := &problems{file: name}
	if err := decoder.Decode(&second); err == nil {
		found.add(place{}, second.Line, "a second YAML document begins here, but a template is a single one")
		return nil, found.err()
	}
	if len(document.Content) == 0 || document.Content[0].Kind != yaml.MappingNode {
		found.add(place{}, 1, "is not a template: it has no Resources")
		return nil, found.err()
	}
	root := parser{found}.mapping(place{}, document.Content[0])
	return root, found.err()
}
