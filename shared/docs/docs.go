// Package docs shows the API to people and tools: the OpenAPI document as the function is given it, and a page that shows it and
// sends requests. Everything that the page loads comes from here: its own few files, and Swagger UI out of a Go module that carries
// the released files as they are. The package knows no endpoint but its own; what is said of the others is in the document.
package docs

import (
	"bytes"
	"cmp"
	"compress/gzip"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Service answers the operations of the documentation.
type Service struct {
	// before and after are the document around the value of its servers.
	before, after []byte
	// latest is the document as it was served last: nearly always to the same base URL.
	latest atomic.Pointer[served]
}

// served is the document for one base URL.
type served struct {
	base          string
	plain, packed []byte
}

// New is a service for a document. Error: it is no JSON object that names its servers.
func New(document []byte) (*Service, error) {
	before, after, err := aroundServers(document)
	if err != nil {
		return nil, fmt.Errorf("docs: the OpenAPI document: %w", err)
	}
	return &Service{before: before, after: after}, nil
}

// aroundServers cuts the value of "servers" out of the document's object. The rest stays as it is, to the byte.
func aroundServers(document []byte) (before, after []byte, err error) {
	in := jsontext.NewDecoder(bytes.NewReader(document))
	if open, err := in.ReadToken(); err != nil || open.Kind() != '{' {
		return nil, nil, errors.Join(errors.New("it is no JSON object"), err)
	}
	for in.PeekKind() == '"' {
		name, err := in.ReadToken()
		if err != nil {
			return nil, nil, fmt.Errorf("a name: %w", err)
		}
		found := name.String() == "servers"
		if found {
			before = document[:in.InputOffset()]
		}
		if err := in.SkipValue(); err != nil {
			return nil, nil, fmt.Errorf("a value: %w", err)
		}
		if found {
			return before, document[in.InputOffset():], nil
		}
	}
	return nil, nil, errors.New("it names no servers")
}

// document is the document of the API that is reached at a base URL. A tool that read it knows where to send requests, whatever
// stage or domain it came through; what is committed, and what a client gets that names no host, can only say "/".
func (s *Service) document(base string) (*served, error) {
	if latest := s.latest.Load(); latest != nil && latest.base == base {
		return latest, nil
	}
	servers, err := json.Marshal([]map[string]string{{"url": cmp.Or(base, "/")}})
	if err != nil {
		return nil, fmt.Errorf("docs: servers: %w", err)
	}
	made := &served{base: base, plain: bytes.Join([][]byte{s.before, []byte(": "), servers, s.after}, nil)}
	if made.packed, err = pack(made.plain); err != nil {
		return nil, err
	}
	s.latest.Store(made)
	return made, nil
}

func pack(plain []byte) ([]byte, error) {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write(plain); err != nil {
		return nil, fmt.Errorf("docs: gzip: %w", err)
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("docs: gzip: %w", err)
	}
	return packed.Bytes(), nil
}

func unpack(packed []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, fmt.Errorf("docs: gunzip: %w", err)
	}
	plain, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("docs: gunzip: %w", err)
	}
	return plain, nil
}

// OpenAPI is the OpenAPI 3.1 document of the whole API, as `make openapi` wrote it. A test compares it with the code. To
// derive it at every start would link all slices into the function.
//
//go:embed openapi.json
var OpenAPI []byte
