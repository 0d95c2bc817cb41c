// Package routes lists the endpoints of all functions, for programs and tests that need every endpoint of the API. The
// endpoints can read requests, but not handle them, because their services have no storage.
package routes

import (
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

// All returns the endpoints of all packages, in the order of the groups in the document.
func All() *httpapi.Routes {
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
