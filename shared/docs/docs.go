// Package docs serves the OpenAPI document, and a web page that shows it and can send requests. It serves all files of
// the page: the files in the folder page, and the files of Swagger UI, which come from a Go module. It defines only the
// endpoints of the documentation.
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

// Service serves the documentation.
type Service struct {
	// before is the part of the document that precedes its list of servers. after is the part that follows the list.
	before, after []byte
	// latest is a cache of the last document. Nearly all requests use the same base URL.
	latest atomic.Pointer[servedDocument]
}

// servedDocument is the document for one base URL.
type servedDocument struct {
	base              string
	plain, compressed []byte
}

// New returns a service for a document. It returns an error if the document is not a JSON object with servers.
func New(document []byte) (*Service, error) {
	before, after, err := splitAtServers(document)
	if err != nil {
		return nil, fmt.Errorf("docs: the OpenAPI document: %w", err)
	}
	return &Service{before: before, after: after}, nil
}

// splitAtServers returns the parts of the document before and after the value of "servers", unchanged.
func splitAtServers(document []byte) (before, after []byte, err error) {
	in := jsontext.NewDecoder(bytes.NewReader(document))
	if open, err := in.ReadToken(); err != nil || open.Kind() != '{' {
		return nil, nil, errors.Join(errors.New("it is not a JSON object"), err)
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
	return nil, nil, errors.New("it has no servers")
}

// document returns the document with the base URL of the request as its server, so that tools send requests to the
// stage or domain that they read the document from. Without a base URL, the server is "/".
func (s *Service) document(base string) (*servedDocument, error) {
	if latest := s.latest.Load(); latest != nil && latest.base == base {
		return latest, nil
	}
	servers, err := json.Marshal([]map[string]string{{"url": cmp.Or(base, "/")}})
	if err != nil {
		return nil, fmt.Errorf("docs: servers: %w", err)
	}
	document := &servedDocument{base: base, plain: bytes.Join([][]byte{s.before, []byte(": "), servers, s.after}, nil)}
	if document.compressed, err = compress(document.plain); err != nil {
		return nil, err
	}
	s.latest.Store(document)
	return document, nil
}

func compress(plain []byte) ([]byte, error) {
	var compressed bytes.Buffer
	w := gzip.NewWriter(&compressed)
	if _, err := w.Write(plain); err != nil {
		return nil, fmt.Errorf("docs: gzip: %w", err)
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("docs: gzip: %w", err)
	}
	return compressed.Bytes(), nil
}

func decompress(compressed []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(compressed))
	if err != nil {
		return nil, fmt.Errorf("docs: gunzip: %w", err)
	}
	plain, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("docs: gunzip: %w", err)
	}
	return plain, nil
}

// OpenAPI is the OpenAPI 3.1 document of the whole API. `make openapi` generates it, and a test compares it with the
// code. It is not generated when the function starts, because that would link all services into the function.
//
//go:embed openapi.json
var OpenAPI []byte
