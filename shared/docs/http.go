package docs

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"net/http"
	"strconv"
	"strings"

	"github.com/swaggest/swgui/v5/static"

	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
)

var tag = httpapi.Tag{Name: "Documentation", Description: "The OpenAPI document and a page that shows it."}

// The paths of the operations.
const (
	documentPath = "/api/openapi.json"
	pagePath     = "/api/docs"
	filePath     = pagePath + "/{file}"
)

const gzipCoding = "gzip"

var varyByCoding = []string{"Accept-Encoding"}

// fileResponse is a response with the content of a file. Like all responses, it must not be cached, so it has no ETag.
type fileResponse struct {
	ContentType     string   `header:"Content-Type" hidden:"true"`
	ContentEncoding string   `header:"Content-Encoding" hidden:"true"`
	Vary            []string `header:"Vary" hidden:"true"`
	// Policy replaces the default Content-Security-Policy if it is not empty.
	Policy string `header:"Content-Security-Policy" hidden:"true"`
	Body   []byte
}

// acceptInput contains the content codings that the client accepts.
type acceptInput struct {
	Encoding string `header:"Accept-Encoding" hidden:"true"`
}

// acceptsGzip reports whether the client accepts gzip (RFC 9110 §12.5.3). If the list contains gzip, the weight of gzip
// must not be zero. Otherwise, the list must contain * with a weight other than zero.
func (a acceptInput) acceptsGzip() bool {
	acceptsAny, isNamed := false, false
	for coding := range strings.SplitSeq(strings.ToLower(a.Encoding), ",") {
		name, parameters, _ := strings.Cut(coding, ";")
		accepted := true
		if weight, found := strings.CutPrefix(strings.TrimSpace(parameters), "q="); found {
			q, err := strconv.ParseFloat(weight, 64)
			accepted = err == nil && q > 0
		}
		switch strings.TrimSpace(name) {
		case gzipCoding, "x-gzip":
			isNamed = true
			if accepted {
				return true
			}
		case "*":
			acceptsAny = accepted
		}
	}
	return acceptsAny && !isNamed
}

// Register adds the endpoints of the documentation.
func (s *Service) Register(r *httpapi.Routes) {
	httpapi.Public(r, httpapi.Operation{
		ID: "getOpenAPI", Method: http.MethodGet, Path: documentPath, Tag: tag,
		Summary:     "Read this document",
		Description: "Returns the OpenAPI 3.1 document of the whole API. Its `servers` contain the URL of this service.",
	}, s.readDocument)
	httpapi.Public(r, httpapi.Operation{
		ID: "showDocs", Method: http.MethodGet, Path: pagePath, Tag: tag,
		Summary:     "Show this document as a web page",
		Description: "Returns a web page that shows the document. The page can send requests with the browser's session.",
	}, s.showPage)
	httpapi.Public(r, httpapi.Operation{
		ID: "readDocsFile", Method: http.MethodGet, Path: filePath, Tag: tag,
		Summary:     "Read a file of the documentation page",
		Description: "Returns a script, a style sheet or an icon of the page.",
		Errors:      []*fault.Error{httpapi.ErrNoRoute},
	}, s.readFile)
	httpapi.Public(r, httpapi.Operation{ // the page's relative links work only without a trailing slash
		ID: "redirectDocs", Method: http.MethodGet, Path: pagePath + "/{$}",
		Status: http.StatusPermanentRedirect, Hidden: true,
	}, redirectToPage)
}

func (s *Service) readDocument(ctx context.Context, in *acceptInput) (*fileResponse, error) {
	document, err := s.document(httpapi.RequestInfoFrom(ctx).BaseURL)
	if err != nil {
		return nil, err
	}
	if in.acceptsGzip() {
		return &fileResponse{
			ContentType: jsonType, ContentEncoding: gzipCoding, Vary: varyByCoding, Body: document.compressed,
		}, nil
	}
	return &fileResponse{ContentType: jsonType, Vary: varyByCoding, Body: document.plain}, nil
}

func (s *Service) showPage(context.Context, *struct{}) (*fileResponse, error) {
	response, err := index.response(false)
	if err != nil {
		return nil, err
	}
	response.Policy = pagePolicy
	return response, nil
}

func (s *Service) readFile(_ context.Context, in *struct {
	acceptInput
	File string `path:"file" doc:"The name of the file" example:"swagger-ui.css"`
}) (*fileResponse, error) {
	f, found := files[in.File]
	if !found {
		return nil, httpapi.ErrNoRoute
	}
	return f.response(in.acceptsGzip())
}

// redirectToPage redirects from the path with a trailing slash to the page. The location is relative, because the path
// may begin with a stage.
func redirectToPage(context.Context, *struct{}) (*struct {
	Location string `header:"Location"`
}, error) {
	return &struct {
		Location string `header:"Location"`
	}{"../docs"}, nil
}

// pagePolicy is the Content-Security-Policy of the page. It allows only scripts and styles from this origin, and only
// requests to this origin. It does not allow inline scripts or styles. Swagger UI sets some styles through the DOM,
// which a policy does not restrict, and its style sheet contains icons as data URLs.
const pagePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; " +
	"connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// own contains the files of the page that do not come from Swagger UI.
//
//go:embed page
var own embed.FS

// file is a file of the page.
type file struct {
	from       fs.FS
	path       string
	mediaType  string
	compressed bool // whether it is stored as gzip
}

const (
	htmlType   = "text/html; charset=utf-8"
	scriptType = "text/javascript; charset=utf-8"
	styleType  = "text/css; charset=utf-8"
	iconType   = "image/svg+xml"
	jsonType   = "application/json"
)

var index = file{from: own, path: "page/index.html", mediaType: htmlType}

// files contains the files that the page loads, by name. Other files of the Swagger UI module are not served.
var files = map[string]file{
	"docs.js":              {from: own, path: "page/docs.js", mediaType: scriptType},
	"docs.css":             {from: own, path: "page/docs.css", mediaType: styleType},
	"icon.svg":             {from: own, path: "page/icon.svg", mediaType: iconType},
	"swagger-ui-bundle.js": {from: static.FS, path: "swagger-ui-bundle.js.gz", mediaType: scriptType, compressed: true},
	"swagger-ui.css":       {from: static.FS, path: "swagger-ui.css.gz", mediaType: styleType, compressed: true},
}

// response returns the file. acceptsGzip reports whether the client accepts gzip. The page's own files are too small to
// be compressed.
func (f file) response(acceptsGzip bool) (*fileResponse, error) {
	body, err := fs.ReadFile(f.from, f.path)
	if err != nil {
		return nil, fmt.Errorf("docs: %w", err)
	}
	response := &fileResponse{ContentType: f.mediaType, Body: body}
	switch {
	case f.compressed && acceptsGzip:
		response.ContentEncoding = gzipCoding
	case f.compressed:
		if response.Body, err = decompress(body); err != nil {
			return nil, err
		}
	}
	if f.compressed {
		response.Vary = varyByCoding
	}
	return response, nil
}
