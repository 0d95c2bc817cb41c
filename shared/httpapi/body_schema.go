package httpapi

import (
	"bytes"
	"errors"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/validation"
	"github.com/go-json-experiment/json/jsontext"

	"devplatform/shared/fault"
)

// bodySchema is what an operation says of its JSON body: for what huma does not hold a body against, or too late.
type bodySchema struct {
	schemas huma.Registry
	root    *huma.Schema
}

// bodySchemaOf is the schema of the body of an operation that takes one, with a root of nil if it is not JSON.
func bodySchemaOf(schemas huma.Registry, op *huma.Operation) bodySchema {
	s := bodySchema{schemas: schemas}
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
	return fault.Invalid(whole(validation.MsgExpectedObject))
}

// nulls are the places, some if there are very many, where a body that checkJSON has read has null though its schema
// allows none. Huma takes the null of an optional field for an absent one, and so would the decoder: a client that
// means to empty the field would hear of success.
func (s bodySchema) nulls(body []byte) []error {
	var found []error
	d := jsontext.NewDecoder(bytes.NewReader(body))
	_ = s.readNulls(d, s.root, &found) // no error: it has been read before
	return found
}

// readNulls reads the next value, which is to be as the schema says; nil of one that nobody asked for.
func (s bodySchema) readNulls(d *jsontext.Decoder, schema *huma.Schema, found *[]error) error {
	kind := d.PeekKind()
	schema = s.resolve(schema)
	if schema == nil || kind != '{' && kind != '[' && kind != 'n' || len(*found) == maxPlaces {
		return d.SkipValue() //nolint:wrapcheck // nobody reads it
	}
	if _, err := d.ReadToken(); err != nil {
		return err //nolint:wrapcheck // nobody reads it
	}
	if kind == 'n' {
		if rule := s.refusesNull(schema); rule != "" {
			*found = append(*found, place(d, d.StackPointer(), rule))
		}
		return nil
	}
	for end := d.PeekKind(); end != '}' && end != ']'; end = d.PeekKind() {
		inner := schema.Items
		if kind == '{' {
			name, err := d.ReadToken()
			if err != nil {
				return err //nolint:wrapcheck // nobody reads it
			}
			inner = property(schema, name.String())
		}
		if err := s.readNulls(d, inner, found); err != nil {
			return err
		}
	}
	_, err := d.ReadToken()
	return err //nolint:wrapcheck // nobody reads it
}

// property is the schema of an object's field, nil if the object takes it without looking.
func property(schema *huma.Schema, name string) *huma.Schema {
	if found := schema.Properties[name]; found != nil {
		return found
	}
	others, _ := schema.AdditionalProperties.(*huma.Schema)
	return others
}

// refusesNull is the rule that null breaks, "" if it may be.
func (s bodySchema) refusesNull(schema *huma.Schema) string {
	var result huma.ValidateResult
	huma.Validate(s.schemas, schema, huma.NewPathBuffer(nil, 0), huma.ModeWriteToServer, nil, &result)
	var detail *huma.ErrorDetail
	if len(result.Errors) == 0 || !errors.As(result.Errors[0], &detail) {
		return ""
	}
	return detail.Message
}

// resolve follows references; nil stays nil.
func (s bodySchema) resolve(schema *huma.Schema) *huma.Schema {
	for schema != nil && schema.Ref != "" {
		schema = s.schemas.SchemaFromRef(schema.Ref)
	}
	return schema
}
