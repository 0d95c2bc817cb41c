package docs

import (
	"embed"
	"fmt"
	"io/fs"

	"github.com/swaggest/swgui/v5/static"
)

// pagePolicy is the Content-Security-Policy of the page. It allows only scripts and styles from this origin, and only
// requests to this origin. It does not allow inline scripts or styles. Swagger UI sets some styles through the DOM,
// which a policy does not restrict, and its style sheet contains icons as data URLs.
const pagePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

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

// response returns the file. gzip reports whether the client accepts gzip. The page's own files are too small to be
// compressed.
func (f file) response(gzip bool) (*fileResponse, error) {
	body, err := fs.ReadFile(f.from, f.path)
	if err != nil {
		return nil, fmt.Errorf("docs: %w", err)
	}
	response := &fileResponse{ContentType: f.mediaType, Body: body}
	switch {
	case f.compressed && gzip:
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
