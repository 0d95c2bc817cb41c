// Package infra carries what is kept of the product outside its code: the OpenAPI document.
package infra

import _ "embed"

// OpenAPI is infra/openapi.json, the OpenAPI 3.1 document of the whole API as `make openapi` wrote it.
//
//go:embed openapi.json
var OpenAPI []byte
