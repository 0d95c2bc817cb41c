package docs

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
)

var tag = httpapi.Tag{Name: "Documentation", Description: "This document, for tools and for people."}

// Where an operation is answered.
const (
	documentPath = "/api/openapi.json"
	pagePath     = "/api/docs"
	filePath     = pagePath + "/{file}"
)

const gzipCoding = "gzip"

var varyByCoding = []string{"Accept-Encoding"}

// Answer is a file as it is sent. Nothing may keep it (API.md §1), so that there is no ETag and If-None-Match means nothing.
type Answer struct {
	ContentType     string   `header:"Content-Type" hidden:"true"`
	ContentEncoding string   `header:"Content-Encoding" hidden:"true"`
	Vary            []string `header:"Vary" hidden:"true"`
	// Policy, if there is one, takes the place of the policy of every answer.
	Policy string `header:"Content-Security-Policy" hidden:"true"`
	Body   []byte
}

// Accepting are the inputs that say which codings the client takes. (Exported for huma's sake, as every embedded struct.)
type Accepting struct {
	Encoding string `header:"Accept-Encoding" hidden:"true"`
}

// gzip reports whether the client takes gzip (RFC 9110 §12.5.3): it is named, or else everything is, with a weight that is not zero.
func (a Accepting) gzip() bool {
	any, named := false, false
	for coding := range strings.SplitSeq(strings.ToLower(a.Encoding), ",") {
		name, parameters, _ := strings.Cut(coding, ";")
		taken := true
		if weight, found := strings.CutPrefix(strings.TrimSpace(parameters), "q="); found {
			q, err := strconv.ParseFloat(weight, 64)
			taken = err == nil && q > 0
		}
		switch strings.TrimSpace(name) {
		case gzipCoding, "x-gzip":
			if named = true; taken {
				return true
			}
		case "*":
			any = taken
		}
	}
	return any && !named
}

// Register adds the endpoints of the documentation.
func (s *Service) Register(r *httpapi.Routes) {
	httpapi.Public(r, httpapi.Operation{
		ID: "getOpenAPI", Method: http.MethodGet, Path: documentPath, Tag: tag,
		Summary:     "Read this document",
		Description: "The OpenAPI 3.1 document of the whole API. Its server is the one that was asked.",
	}, s.readDocument)
	httpapi.Public(r, httpapi.Operation{
		ID: "showDocs", Method: http.MethodGet, Path: pagePath, Tag: tag,
		Summary:     "Show this document",
		Description: "A page that shows the document and sends requests, with the session of the browser that it is open in.",
	}, s.showPage)
	httpapi.Public(r, httpapi.Operation{
		ID: "readDocsFile", Method: http.MethodGet, Path: filePath, Tag: tag,
		Summary: "Read a file of the page", Description: "What the page loads: its scripts, its style and its icons.",
		Errors: []*fault.Error{errNoFile},
	}, s.readFile)
	httpapi.Public(r, httpapi.Operation{ // the page's addresses are relative to its own; and no API has two paths for one thing
		ID: "redirectDocs", Method: http.MethodGet, Path: pagePath + "/{$}", Status: http.StatusPermanentRedirect, Hidden: true,
	}, toPage)
}

func (s *Service) readDocument(ctx context.Context, in *Accepting) (*Answer, error) {
	document, err := s.document(httpapi.RequestInfoFrom(ctx).BaseURL)
	if err != nil {
		return nil, err
	}
	if in.gzip() {
		return &Answer{ContentType: "application/json", ContentEncoding: gzipCoding, Vary: varyByCoding, Body: document.packed}, nil
	}
	return &Answer{ContentType: "application/json", Vary: varyByCoding, Body: document.plain}, nil
}

func (s *Service) showPage(context.Context, *struct{}) (*Answer, error) {
	a, err := index.answer(false)
	if err != nil {
		return nil, err
	}
	a.Policy = pagePolicy
	return a, nil
}

func (s *Service) readFile(_ context.Context, in *struct {
	Accepting
	File string `path:"file" doc:"The file's name" example:"swagger-ui.css"`
}) (*Answer, error) {
	f, found := files[in.File]
	if !found {
		return nil, errNoFile
	}
	return f.answer(in.gzip())
}

var errNoFile = fault.New(fault.CodeRouteNotFound, "There is no such path.")

// toPage leads from the path with a slash at its end to the page. It is relative, for there may be a stage before the path.
func toPage(context.Context, *struct{}) (*struct {
	Location string `header:"Location"`
}, error) {
	return &struct {
		Location string `header:"Location"`
	}{"../docs"}, nil
}
