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

// The paths of the operations.
const (
	documentPath = "/api/openapi.json"
	pagePath     = "/api/docs"
	filePath     = pagePath + "/{file}"
)

const gzipCoding = "gzip"

var varyByCoding = []string{"Accept-Encoding"}

// Answer is a file. Like every response, it must not be stored, so it has no ETag.
type Answer struct {
	ContentType     string   `header:"Content-Type" hidden:"true"`
	ContentEncoding string   `header:"Content-Encoding" hidden:"true"`
	Vary            []string `header:"Vary" hidden:"true"`
	// Policy replaces the Content-Security-Policy of every response, unless it is empty.
	Policy string `header:"Content-Security-Policy" hidden:"true"`
	Body   []byte
}

// acceptInput has the content codings that the client accepts.
type acceptInput struct {
	Encoding string `header:"Accept-Encoding" hidden:"true"`
}

// gzip reports whether the client accepts gzip (RFC 9110 §12.5.3): it or * is named with a weight that is not zero.
func (a acceptInput) gzip() bool {
	any, named := false, false
	for coding := range strings.SplitSeq(strings.ToLower(a.Encoding), ",") {
		name, parameters, _ := strings.Cut(coding, ";")
		accepted := true
		if weight, found := strings.CutPrefix(strings.TrimSpace(parameters), "q="); found {
			q, err := strconv.ParseFloat(weight, 64)
			accepted = err == nil && q > 0
		}
		switch strings.TrimSpace(name) {
		case gzipCoding, "x-gzip":
			if named = true; accepted {
				return true
			}
		case "*":
			any = accepted
		}
	}
	return any && !named
}

// Register adds the endpoints of the documentation.
func (s *Service) Register(r *httpapi.Routes) {
	httpapi.Public(r, httpapi.Operation{
		ID: "getOpenAPI", Method: http.MethodGet, Path: documentPath, Tag: tag,
		Summary:     "Read this document",
		Description: "The OpenAPI 3.1 document of the whole API. It names the server that received the request.",
	}, s.readDocument)
	httpapi.Public(r, httpapi.Operation{
		ID: "showDocs", Method: http.MethodGet, Path: pagePath, Tag: tag,
		Summary:     "Show this document",
		Description: "A page that shows the document and sends requests, with the session of the browser.",
	}, s.showPage)
	httpapi.Public(r, httpapi.Operation{
		ID: "readDocsFile", Method: http.MethodGet, Path: filePath, Tag: tag,
		Summary: "Read a file of the documentation page", Description: "The scripts, styles and icons that the page loads.",
		Errors: []*fault.Error{errNoFile},
	}, s.readFile)
	httpapi.Public(r, httpapi.Operation{ // the page's links are relative, so it has one path only
		ID: "redirectDocs", Method: http.MethodGet, Path: pagePath + "/{$}", Status: http.StatusPermanentRedirect, Hidden: true,
	}, toPage)
}

func (s *Service) readDocument(ctx context.Context, in *acceptInput) (*Answer, error) {
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
	acceptInput
	File string `path:"file" doc:"The file's name" example:"swagger-ui.css"`
}) (*Answer, error) {
	f, found := files[in.File]
	if !found {
		return nil, errNoFile
	}
	return f.answer(in.gzip())
}

var errNoFile = fault.New(fault.CodeRouteNotFound, "There is no such path.")

// toPage redirects from the path with a trailing slash to the page. It is relative, because the path may begin with a stage.
func toPage(context.Context, *struct{}) (*struct {
	Location string `header:"Location"`
}, error) {
	return &struct {
		Location string `header:"Location"`
	}{"../docs"}, nil
}
