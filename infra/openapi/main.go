// Command openapi prints the OpenAPI 3.1 document of the API. It derives the paths, parameters and schemas from the
// endpoints that the API's packages register. It adds examples, the errors of the HTTP edge and of the gateway, and the
// requests that webhooks send. The description of an endpoint belongs in the package that registers it.
package main

import (
	"fmt"
	"io"
	"os"

	"devplatform/shared/account"
	"devplatform/shared/assistant"
	"devplatform/shared/deployment"
	"devplatform/shared/docs"
	"devplatform/shared/httpapi"
	"devplatform/shared/project"
	"devplatform/shared/project/export"
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

// run writes the document to w.
func run(w io.Writer) error {
	examples, err := readExamples(examplesJSON)
	if err != nil {
		return err
	}
	d, err := newDocument(allRoutes(), examples)
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

// allRoutes returns the endpoints of all packages, in the order of the groups in the document.
func allRoutes() *httpapi.Routes {
	routes := &httpapi.Routes{}
	for _, register := range []func(*httpapi.Routes){
		new(account.Service).Register,
		new(workspace.Service).Register,
		new(project.Service).Register,
		new(file.Service).Register,
		new(export.Service).Register,
		new(deployment.Service).Register,
		new(assistant.Service).Register,
		new(webhook.Service).Register,
		new(webhook.Service).RegisterTest,
		new(docs.Service).Register,
	} {
		register(routes)
	}
	return routes
}
