package build

import (
	"bytes"
	"cmp"
	"fmt"
	"html"
	"path"
	"regexp"
	"slices"
	"strings"

	"devplatform/shared/deployment/failure"
)

// pages contains the pages of a project and the files to which they refer.
type pages struct {
	list          []*page
	links         map[string]bool // files that pages refer to without bundling them, such as images and plain scripts
	importMapKeys []string        // keys of import maps
}

// findPages returns the pages of the project. Errors: *failure.Error.
func (p *project) findPages() (*pages, error) {
	s := &pages{links: map[string]bool{}}
	for _, file := range p.names {
		name, isPublic, ok := p.sitePath(file)
		if !ok || isPublic || !isPage(name, p.isApp) {
			continue
		}
		data, err := p.readPage(file)
		if err != nil {
			return nil, err
		}
		if publicFile := p.public + name; p.has(publicFile) {
			return nil, failIn(publicFile, failure.BuildFailed, "%s and %s would both be published as %s. Delete one of them.",
				publicFile, file, name)
		}
		s.parse(name, file, data, p)
	}
	if !p.has(p.web + "/index.html") {
		if err := p.addIndex(s); err != nil {
			return nil, err
		}
	}
	for _, page := range s.list {
		for _, e := range page.entries {
			if compilers[strings.ToLower(path.Ext(e.file))].tool != "" {
				f := errNeedsTool(e.file)
				f.Path, f.Line, f.Column = page.source, e.line, 1
				return nil, f
			}
			if e.file != "" && !e.isInline() && !p.has(e.file) {
				return nil, &failure.Error{Code: failure.EntryNotFound, Path: page.source, Line: e.line, Column: 1,
					Message: fmt.Sprintf("The page loads the script %s, which does not exist. Add the file, or correct the "+
						"attribute src of the script.", e.file)}
			}
			if id := p.mountPoint(e.file); id != "" && !bytes.Contains(page.data, []byte(id)) {
				p.warnings.add("%s: The script renders into the element with the id %s, which the page %s does not have. Add "+
					"the element to the page.", e.file, quote(id), page.path)
			}
		}
	}
	return s, nil
}

// mountCall matches the call that renders an app, in React, Vue and Svelte.
var mountCall = regexp.MustCompile(`(?:(?:createRoot|hydrateRoot|render)\([^;]*?|target:\s*)document\.` +
	`(?:getElementById\(\s*["']|querySelector\(\s*["']#)([\w-]+)["']|\.mount\(\s*["']#([\w-]+)["']`)

// mountPoint returns the ID of the element into which a script renders the app, or "".
func (p *project) mountPoint(script string) string {
	code, err := p.tree.Read(script)
	if m := mountCall.FindSubmatch(code); m != nil && err == nil {
		return string(m[1]) + string(m[2])
	}
	return ""
}

// maxPageBytes limits the size of a page, because parsing needs many times its memory.
const maxPageBytes = 5 << 20

// readPage returns a page in which constants are replaced by their values. Errors: *failure.Error.
func (p *project) readPage(name string) ([]byte, error) {
	if n := p.files[name]; n > maxPageBytes {
		return nil, failIn(name, failure.BuildFailed, "The page has %d bytes, and the limit is %d (5 MiB). Move large data "+
			"into files of their own.", n, maxPageBytes)
	}
	data, err := p.tree.Read(name)
	if err != nil {
		return nil, failf(failure.BuildFailed, "The page %s cannot be read. If its name is very long, rename it.", name)
	}
	return p.replaceConstants(name, data), nil
}

// pageConstant matches a constant in a page, as in Vite and Create React App.
var pageConstant = regexp.MustCompile(`%[A-Z][A-Z0-9_]*%`)

// replaceConstants replaces the constants in a page with their values. A constant without a value is not changed. If it
// has the name of a public variable, replaceConstants adds a warning.
func (p *project) replaceConstants(file string, page []byte) []byte {
	return pageConstant.ReplaceAllFunc(page, func(constant []byte) []byte {
		name := string(constant[1 : len(constant)-1])
		if value, ok := p.env[name]; ok {
			return []byte(fmt.Sprint(value))
		}
		if isPublicVariable(name) && len(p.warnings) < maxWarnings {
			line := 1 + bytes.Count(page[:bytes.Index(page, constant)], []byte("\n"))
			p.warnings.add("%s:%d: %s", file, line, errNoValue(name).Message)
		}
		return constant
	})
}

// addIndex adds the page of a project without /index.html: a generated page, or /public/index.html with the entry.
// Errors: *failure.Error.
func (p *project) addIndex(s *pages) error {
	publicIndex := p.public + "/index.html"
	file, isPublic := sourceEntry(p.files), p.has(publicIndex)
	switch {
	case (file == "" || p.web != "") && isPublic:
		return nil // /public is a site of its own
	case file == "" || p.web != "":
		return failf(failure.EntryNotFound, "The project has no page. Add /index.html, which loads the scripts and styles "+
			"of the project, or a script /src/main.jsx, for which a page is generated.")
	}
	p.isApp = true
	template := fmt.Appendf(nil, generatedPage, cmp.Or(p.mountPoint(file), "root"))
	if isPublic {
		var err error
		if template, err = p.readPage(publicIndex); err != nil {
			return err
		}
		if len((&pages{links: map[string]bool{}}).parse("/index.html", "", template, p).entries) > 0 {
			return nil // it is published as it is, because it loads its own scripts or styles
		}
	}
	tag := `<script type="module" src="` + html.EscapeString(file) + `"></script>`
	at := bytes.LastIndex(template, []byte("</body>"))
	if at < 0 {
		at = len(template)
	}
	s.parse("/index.html", "", slices.Concat(template[:at], []byte(tag), template[at:]), p)
	return nil
}

const generatedPage = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>App</title>
<link rel="icon" href="data:,">
</head>
<body>
<div id="%s"></div>
</body>
</html>
`

// sourceEntry returns the script that starts the app if no page names one, or "".
func sourceEntry[V any](files map[string]V) string {
	for _, name := range []string{"/src/main", "/src/index"} {
		for _, ext := range []string{".tsx", ".ts", ".jsx", ".js", ".mjs"} {
			if _, ok := files[name+ext]; ok {
				return name + ext
			}
		}
	}
	return ""
}

// noPageFolders matches the files in folders whose HTML files are not pages.
var noPageFolders = regexp.MustCompile(`^/(public|src|node_modules)/|/\.|/node_modules/`)

// isPage reports whether a file is an HTML page whose references are bundled.
func isPage(name string, app bool) bool {
	ext := strings.ToLower(path.Ext(name))
	return (ext == ".html" || ext == ".htm") && !noPageFolders.MatchString(name) && !testFiles.MatchString(name) &&
		(!app || !isSource(name))
}
