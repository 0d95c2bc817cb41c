package docs

import (
	"embed"
	"fmt"
	"io/fs"

	"github.com/swaggest/swgui/v5/static"
)

// pagePolicy is the page's own Content-Security-Policy. It allows scripts, styles and requests of this origin only, and
// nothing inline. Swagger UI sets a few styles through the DOM, which a policy does not restrict, and has icons as data
// URLs in its style sheet.
const pagePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

//go:embed page
var own embed.FS

// file is a file of the page.
type file struct {
	from   fs.FS
	path   string
	kind   string
	packed bool // stored as gzip
}

const (
	htmlType   = "text/html; charset=utf-8"
	scriptType = "text/javascript; charset=utf-8"
	styleType  = "text/css; charset=utf-8"
	iconType   = "image/svg+xml"
)

var index = file{from: own, path: "page/index.html", kind: htmlType}

// files are the files that the page loads, by name. The module with Swagger UI has more.
var files = map[string]file{
	"docs.js":              {from: own, path: "page/docs.js", kind: scriptType},
	"docs.css":             {from: own, path: "page/docs.css", kind: styleType},
	"icon.svg":             {from: own, path: "page/icon.svg", kind: iconType},
	"swagger-ui-bundle.js": {from: static.FS, path: "swagger-ui-bundle.js.gz", kind: scriptType, packed: true},
	"swagger-ui.css":       {from: static.FS, path: "swagger-ui.css.gz", kind: styleType, packed: true},
}

// answer returns the file for a client that accepts gzip, or does not. The page's own files are too small to be packed.
func (f file) answer(gzip bool) (*Answer, error) {
	body, err := fs.ReadFile(f.from, f.path)
	if err != nil {
		return nil, fmt.Errorf("docs: %w", err)
	}
	a := &Answer{ContentType: f.kind, Body: body}
	switch {
	case f.packed && gzip:
		a.ContentEncoding = gzipCoding
	case f.packed:
		if a.Body, err = unpack(body); err != nil {
			return nil, err
		}
	}
	if f.packed {
		a.Vary = varyByCoding
	}
	return a, nil
}
