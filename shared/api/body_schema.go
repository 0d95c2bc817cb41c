package api

import (
	"bytes"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/validation"
	"github.com/go-json-experiment/json/jsontext"
)

// bodySchema is what an operation says of its JSON body: for what huma does not hold a body against, or too late.
type bodySchema struct {
	schemas huma.Registry
	root    *huma.Schema
}

// bodySchemaOf is the schema of an operation's body, with a root of nil if it has none.
func bodySchemaOf(schemas huma.Registry, op *huma.Operation) bodySchema {
	s := bodySchema{schemas: schemas}
	if op.RequestBody == nil {
		return s
	}
	if media := op.RequestBody.Content[jsonType]; media != nil {
		s.root = s.resolve(media.Schema)
	}
	return s
}

// checkKind refuses a body that is no object where one is asked for. Huma would too, but together with every field that
// a resolver then misses.
func (s bodySchema) checkKind(body []byte) error {
	if s.root == nil || s.root.Type != huma.TypeObject || s.root.Nullable ||
		jsontext.NewDecoder(bytes.NewReader(body)).PeekKind() == '{' {
		return nil
	}
	return ValidationError(whole(validation.MsgExpectedObject))
}

// resolve follows references; nil stays nil.
func (s bodySchema) resolve(schema *huma.Schema) *huma.Schema {
	for schema != nil && schema.Ref != "" {
		schema = s.schemas.SchemaFromRef(schema.Ref)
	}
	return schema
}
