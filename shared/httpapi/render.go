package httpapi

import (
	"fmt"
	"net/http"
	"reflect"
	"strconv"

	"github.com/go-json-experiment/json"
)

// rendering writes the output of an endpoint.
type rendering struct {
	headers []outputHeader
	// status and body are the indexes of the fields Status and Body, or nil if there is no such field.
	status, body []int
}

type outputHeader struct {
	name  string
	index []int // of the struct field, for reflect
}

func newRendering(output reflect.Type) *rendering {
	r := &rendering{}
	for _, field := range reflect.VisibleFields(output) {
		switch name := field.Tag.Get("header"); {
		case name != "":
			r.headers = append(r.headers, outputHeader{http.CanonicalHeaderKey(name), field.Index})
		case field.Name == "Status" && len(field.Index) == 1:
			r.status = field.Index
		case field.Name == "Body" && len(field.Index) == 1:
			r.body = field.Index
		}
	}
	return r
}

// write writes an output, which is a pointer to a struct. If the body cannot be encoded, it writes nothing and returns
// an error.
func (r *rendering) write(to http.ResponseWriter, status int, output any) error {
	out := reflect.ValueOf(output).Elem()
	if r.status != nil {
		status = int(out.FieldByIndex(r.status).Int())
	}
	var body []byte
	if r.body != nil && status != http.StatusNotModified {
		var err error
		value := out.FieldByIndex(r.body).Interface()
		if raw, isRaw := value.([]byte); isRaw {
			body = raw
		} else if body, err = json.Marshal(value); err != nil {
			return fmt.Errorf("httpapi: response: %w", err)
		}
		to.Header().Set("Content-Type", jsonType)
	}
	for _, h := range r.headers {
		writeHeader(to.Header(), h.name, out.FieldByIndex(h.index))
	}
	to.WriteHeader(status)
	_, err := to.Write(body)
	return err
}

// writeHeader sets a header to a text or a number. It ignores an empty text. For a list of texts, it adds one header
// line for each of them.
func writeHeader(to http.Header, name string, value reflect.Value) {
	switch value.Kind() {
	case reflect.Slice:
		for i := range value.Len() {
			to.Add(name, value.Index(i).String())
		}
	case reflect.Int:
		to.Set(name, strconv.FormatInt(value.Int(), 10))
	default:
		if text := value.String(); text != "" {
			to.Set(name, text)
		}
	}
}
