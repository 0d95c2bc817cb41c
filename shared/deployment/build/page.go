package build

import (
	"bytes"
	"cmp"
	"fmt"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"golang.org/x/net/html"

	"devplatform/shared/deployment/tree"
)

// page is an HTML page of the project.
type page struct {
	path    string // in the output
	source  string // path in the project, or "" if the page is generated
	data    []byte
	web     string  // folder of the project that is the root of the site
	base    string  // folder that relative references are relative to
	entries []entry // in the order of the document
	headEnd int     // offset of </head>, or -1. Style sheets of scripts are inserted before it.
	site    *pages
	// isUnbundled reports whether scripts that browsers can run stay as they are: the page of a static project has an
	// import map with scopes, which depend on the paths of the scripts.
	isUnbundled bool
}

// entry is a script or style sheet of a page, or a part of the page that is left out.
type entry struct {
	start, end int        // offsets of the part of the page that is replaced
	tag        html.Token // the start tag; with the path of the bundle, it replaces the part
	file       string     // path in the project; of the page, if the content is inline; "" if the part is left out
	line       int
	code       string // content of an inline script or style sheet
}

func (e entry) isInline() bool { return e.code != "" }

// isStyle reports whether the entry is an inline style sheet.
func (e entry) isStyle() bool { return e.tag.Data == "style" }

// key identifies an entry in the bundler.
func (e entry) key() string {
	if e.isInline() {
		return fmt.Sprintf("%s?%d", e.file, e.start)
	}
	return e.file
}

// parse adds a page and finds its entries and links. It adds a warning if a style sheet or a script that
// stays as it is does not exist.
func (s *pages) parse(output, source string, data []byte, project *project) *page {
	p := &page{
		path: output, source: source, data: data, web: project.web, base: path.Dir(output), headEnd: -1, site: s,
	}
	s.list = append(s.list, p)
	previous := entry{} // of the previous token: before the text of a script or a style sheet, this is its start tag
	start, line := 0, 1
	for z := html.NewTokenizer(bytes.NewReader(data)); z.Next() != html.ErrorToken; {
		raw := string(z.Raw())
		e := entry{start: start, end: start + len(raw), line: line, tag: z.Token()}
		switch e.tag.Type {
		case html.TextToken:
			previous.end, previous.line, previous.code = e.end, e.line, raw
			p.addInline(previous, project)
		case html.EndTagToken:
			if e.tag.Data == "head" && p.headEnd < 0 {
				p.headEnd = start
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			p.addTag(e, project)
		}
		previous = e
		start = e.end
		line += strings.Count(raw, "\n")
	}
	return p
}

// addTag adds a script or style sheet, unless it is external or a file of /public, and the links of other elements.
func (p *page) addTag(e entry, project *project) {
	var ok bool
	e.file, ok = p.resolve(attribute(e.tag, "src") + attribute(e.tag, "href"))
	isFile := ok && project.has(e.file)
	public := project.public + strings.TrimPrefix(e.file, p.web)
	isPublic := project.has(public)
	isScript := e.tag.Data == "script" && attribute(e.tag, "src") != ""
	needsBundling := isScript && isModule(e.tag) && (!p.isUnbundled || needsTranspiling(e.file))
	if isScript && isFile && !needsBundling && !p.isUnbundled && attribute(e.tag, "type") == "" {
		code, err := project.tree.Read(e.file)
		needsBundling = err == nil && usesModules.Match(code)
	}
	if ok && !isFile && !isPublic && (isScript && !needsBundling || hasRel(e.tag, "stylesheet")) {
		project.warnings.add("%s:%d: The file %s does not exist. Add it, or remove the reference.",
			cmp.Or(p.source, p.path), e.line, e.file)
	}
	if needsBundling && isPublic {
		p.checkImports(public, project)
	}
	switch {
	case e.tag.Data == "base":
		if href := attribute(e.tag, "href"); strings.HasPrefix(href, "/") && !strings.HasPrefix(href, "//") {
			p.base = path.Dir(href + "x")
		}
	case needsBundling, hasRel(e.tag, "stylesheet"):
		if isFile || ok && needsBundling && !isPublic { // a script that does not exist is an error later
			p.entries = append(p.entries, e)
		}
	case hasRel(e.tag, "modulepreload") && isFile && !isPublic: // would load the source of a script, beside the bundle
		p.entries = append(p.entries, entry{start: e.start, end: e.end})
	default:
		p.addLinks(e.tag)
	}
}

// packageImport matches the import of a package at the beginning of a line.
var packageImport = regexp.MustCompile(`(?m)^\s*import\b[^"'\n]*["']([@\w][@\w./-]*)["']`)

// checkImports adds a warning if a script of /public, which is published as it is, imports a package.
func (p *page) checkImports(file string, project *project) {
	code, err := project.tree.Read(file)
	if m := packageImport.FindSubmatch(code); err == nil && m != nil && !isMapped(p.site.importMapKeys, string(m[1])) {
		project.warnings.add("%s: The script imports %s, and browsers cannot load packages by their names. Move the script "+
			"out of %s, so that it is bundled.", file, quote(string(m[1])), project.public)
	}
}

// addInline adds an inline module script that imports something, an inline style sheet that must be compiled, and the
// references of import maps and of other style sheets.
func (p *page) addInline(e entry, project *project) {
	switch {
	case e.tag.Type != html.StartTagToken:
	case e.tag.Data == "style" && project.compilesStyle(e):
		e.file = p.web + p.path
		p.entries = append(p.entries, e)
	case e.tag.Data == "style":
		p.addStyle(e.code)
	case e.tag.Data != "script" || attribute(e.tag, "src") != "":
	case strings.EqualFold(attribute(e.tag, "type"), "importmap"):
		var m struct {
			Imports map[string]any `json:"imports"`
			Scopes  map[string]any `json:"scopes"`
		}
		if json.Unmarshal([]byte(e.code), &m, tree.JSON) == nil {
			p.isUnbundled = len(m.Scopes) > 0 && !project.isApp
			for key, value := range m.Imports {
				p.site.importMapKeys = append(p.site.importMapKeys, key)
				if ref, ok := value.(string); ok {
					p.addLink(ref)
				}
			}
		}
	case p.isUnbundled:
	case isModule(e.tag) && strings.Contains(e.code, "import"),
		attribute(e.tag, "type") == "" && usesModules.MatchString(e.code):
		e.file = p.web + p.path
		p.entries = append(p.entries, e)
	}
}

// addLinks adds the files that an element refers to.
func (p *page) addLinks(tok html.Token) {
	for _, a := range tok.Attr {
		switch a.Key {
		case "src", "href", "poster", "data", "content":
			p.addLink(a.Val)
		case "style":
			p.addStyle(a.Val)
		case "srcset", "imagesrcset":
			for _, candidate := range strings.Split(a.Val, ",") {
				if fields := strings.Fields(candidate); len(fields) > 0 {
					p.addLink(fields[0])
				}
			}
		}
	}
}

// styleURL matches url() in a style sheet.
var styleURL = regexp.MustCompile(`(?i)\burl\(\s*("[^"\n]*"|'[^'\n]*'|[^"')\s]*)`)

// addStyle adds the files that url() in a style sheet of the page refers to. They are published as they are.
func (p *page) addStyle(css string) {
	for _, m := range styleURL.FindAllStringSubmatch(css, -1) {
		p.addLink(strings.Trim(m[1], "\"'"))
	}
}

func (p *page) addLink(ref string) {
	if file, ok := p.resolve(ref); ok {
		p.site.links[file] = true
	}
}

// resolve returns the path in the project that a reference of the page refers to. ok is false if it is not a path.
func (p *page) resolve(ref string) (file string, ok bool) {
	u, err := url.Parse(strings.TrimSpace(ref))
	if err != nil || u.Scheme != "" || u.Host != "" || u.Path == "" {
		return "", false
	}
	if strings.HasPrefix(u.Path, "/") {
		return p.web + path.Clean(u.Path), true
	}
	return p.web + path.Join(p.base, u.Path), true
}

// render returns the page with the references to the bundled files. The rest of the document stays as it is.
func (p *page) render(b *bundleResult) []byte {
	var styles []string
	at := p.headEnd // where the style sheets are inserted
	for _, e := range p.entries {
		sheet := b.entries[e.key()].styles
		if sheet == "" || slices.Contains(styles, sheet) {
			continue
		}
		styles = append(styles, sheet)
		if at < 0 {
			at = e.start
		}
	}
	var out bytes.Buffer
	end := 0
	for _, e := range append(p.entries, entry{start: len(p.data), end: len(p.data)}) {
		if at >= end && at <= e.start {
			out.Write(p.data[end:at])
			for _, s := range styles {
				out.WriteString(`<link rel="stylesheet" href="` + html.EscapeString(s) + `">`)
			}
			end, at = at, -1
		}
		out.Write(p.data[end:e.start])
		switch bundled := b.entries[e.key()]; {
		case e.isStyle():
			out.WriteString(e.tag.String() + bundled.text)
		case e.file != "":
			out.WriteString(withReference(e.tag, bundled.path))
		}
		end = e.end
	}
	return out.Bytes()
}

// withReference returns the tag of a script or style sheet with a new reference.
func withReference(tok html.Token, ref string) string {
	key := "src"
	if tok.Data == "link" {
		key = "href"
	}
	attrs := []html.Attribute{}
	for _, a := range tok.Attr {
		// The integrity is the hash of the file before it was bundled.
		if a.Key != key && a.Key != "integrity" && (key == "href" || a.Key != "type") {
			attrs = append(attrs, a)
		}
	}
	if key == "src" {
		attrs = append(attrs, html.Attribute{Key: "type", Val: "module"})
	}
	tok.Attr = append(attrs, html.Attribute{Key: key, Val: ref})
	return tok.String()
}

// usesModules matches a statement that only modules can have. Browsers do not run it in other scripts.
var usesModules = regexp.MustCompile(`(?m)^\s*(?:import\s*[\w{*"']|export\s+(?:default|const|function|class|\{|\*))`)

// isModule reports whether an element is a module script. A script in TypeScript or JSX counts as one, because browsers
// cannot run it.
func isModule(tok html.Token) bool {
	if tok.Data != "script" {
		return false
	}
	kind := strings.ToLower(attribute(tok, "type"))
	return kind == "module" || (kind == "" || kind == "text/javascript") && needsTranspiling(attribute(tok, "src"))
}

// hasRel reports whether an element is a link with a relation.
func hasRel(tok html.Token, rel string) bool {
	return tok.Data == "link" && slices.Contains(strings.Fields(strings.ToLower(attribute(tok, "rel"))), rel)
}

func attribute(tok html.Token, key string) string {
	for _, a := range tok.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}
