// Command openapi prints the OpenAPI 3.1 document of the whole API. It derives the document from the endpoints that the
// slices register, as they do in their functions, and adds what only readers of the document need: examples, errors of
// the edge and the gateway, and the requests that webhooks receive. No endpoint is described in this package.
package main

import (
	"fmt"
	"io"
	"os"

	"devplatform/shared/account"
	"devplatform/shared/assistant"
	"devplatform/shared/docs"
	"devplatform/shared/httpapi"
	"devplatform/shared/project"
	"devplatform/shared/project/file"
	"devplatform/shared/webhook"
	"devplatform/shared/workspace"
)

func main() {
	if err := run(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "openapi:", err)
		os.Exit(1)
	}
}

// run writes the document.
func run(w io.Writer) error {
	routes := &httpapi.Routes{}
	for _, register := range []func(*httpapi.Routes){
		new(account.Service).Register,
		new(workspace.Service).Register,
		new(project.Service).Register,
		new(file.Service).Register,
		new(assistant.Service).Register,
		new(webhook.Service).Register,
		new(docs.Service).Register,
	} {
		register(routes)
	}
	given, err := readExamples(examplesJSON)
	if err != nil {
		return err
	}
	d, err := newDocument(routes, given)
	if err != nil {
		return err
	}
	for id := range given {
		return fmt.Errorf("examples.json has examples of %s, and there is no such operation", id)
	}
	if err := d.addEvents("Webhooks"); err != nil {
		return err
	}
	d.openSchemas()
	d.closeErrors()
	d.share()
	data, err := d.encode()
	if err != nil {
		return err
	}
	if _, err := w.Write(data); err != nil {
		return fmt.Errorf("write: %w", err)
	}
	return nil
}
