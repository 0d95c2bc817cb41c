// Command openapi prints the OpenAPI 3.1 document of the whole API, made from the code that serves it. The slices
// register themselves here as they do in their functions; nothing about an endpoint may be written down in this package.
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
	document, err := httpapi.OpenAPI(httpapi.Config{Name: "Development Platform API", Version: "1.0.0"},
		new(account.Service).Register,
		new(workspace.Service).Register,
		new(project.Service).Register,
		new(assistant.Service).Register,
		new(webhook.Service).Register,
		webhook.Describe,
		new(docs.Service).Register,
	)
	if err != nil {
		return err
	}
	if _, err := w.Write(document); err != nil {
		return fmt.Errorf("write: %w", err)
	}
	return nil
}
