package api

import (
	"fmt"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json/jsontext"
)

// OpenAPI is the OpenAPI 3.1 document of everything that registers: JSON, indented, the same
// bytes for the same operations. cfg needs a name and a version only.
func OpenAPI(cfg Config, register ...func(huma.API)) ([]byte, error) {
	e := &edge{cfg: cfg, mux: http.NewServeMux()}
	document := e.newAPI(register).OpenAPI()
	if schema, ok := document.Components.Schemas.Map()["Error"]; ok {
		schema.AdditionalProperties = false // exactly two fields
	}
	data, err := document.MarshalJSON()
	if err != nil {
		return nil, fmt.Errorf("api: document: %w", err)
	}
	value := jsontext.Value(data)
	if err := value.Indent(jsontext.WithIndent("  ")); err != nil {
		return nil, fmt.Errorf("api: document: %w", err)
	}
	return append(value, '\n'), nil
}
