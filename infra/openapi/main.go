// Command openapi prints the OpenAPI 3.1 document of the API. It derives the paths, parameters and schemas from the
// endpoints that the API's packages register. It adds examples, the errors of the HTTP edge and of the gateway, and the
// requests that webhooks send. The description of an endpoint belongs in the package that registers it.
package main

import (
	"fmt"
	"io"
	"os"

	"devplatform/infra/routes"
)

func main() {
	if err := run(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "openapi:", err)
		os.Exit(1)
	}
}

// run writes the document to w.
func run(w io.Writer) error {
	examples, err := readExamples(examplesJSON)
	if err != nil {
		return err
	}
	d, err := newDocument(routes.All(), examples)
	if err != nil {
		return err
	}
	if err := d.addEvents(); err != nil {
		return err
	}
	d.complete()
	data, err := d.encode()
	if err != nil {
		return err
	}
	if _, err := w.Write(data); err != nil {
		return fmt.Errorf("write: %w", err)
	}
	return nil
}
