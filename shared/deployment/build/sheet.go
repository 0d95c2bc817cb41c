package build

import (
	"bytes"
	"cmp"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
	"github.com/go-json-experiment/json"

	"devplatform/shared/deployment/constant"
	"devplatform/shared/deployment/failure"
	"devplatform/shared/deployment/tree"
)

// usesTailwind matches code that only Tailwind CSS understands, and loadsTailwind code that loads it.
var (
	loadsTailwind = regexp.MustCompile(`@tailwind\s|@import\s+(?:url\(\s*)?["']tailwindcss[/"']`)
	usesTailwind  = regexp.MustCompile(`@(?:tailwind|apply|theme|plugin|config|source|utility|custom-variant|variant|` +
		`reference|screen)\s|@import\s+(?:url\(\s*)?["']tailwindcss[/"']|@layer\s+(?:base|components|utilities)\s*\{|` +
		`\btheme\(|--(?:spacing|alpha|theme)\(`)
	cssImport   = regexp.MustCompile(`@import\s+(?:url\(\s*)?["']([^"'\n]+)["']`)
	cssComments = regexp.MustCompile(`(?s)/\*.*?\*/`)
)

// sheetUse reports whether a style sheet uses Tailwind CSS, and which style sheets of the project it imports.
type sheetUse struct {
	tailwind bool
	imports  []string
}

// findSheetUse returns the sheetUse of a style sheet.
func (b *bundler) findSheetUse(file string, css []byte) (use sheetUse) {
	css = cssComments.ReplaceAll(css, nil)
	use.tailwind = usesTailwind.Match(css)
	for _, m := range cssImport.FindAllSubmatch(css, -1) {
		if found, err := b.findSheet(string(m[1]), file); err == nil && !tree.IsInPackage(found) {
			use.imports = append(use.imports, found)
		}
	}
	return use
}

// needsTailwind reports whether a style sheet, or a style sheet that it imports directly or indirectly, uses Tailwind
// CSS. It reads each imported style sheet once in a build.
func (b *bundler) needsTailwind(s script) bool {
	use, seen := b.findSheetUse(s.file, s.code), map[string]bool{}
	for next := use.imports; !use.tailwind && len(next) > 0; next = append(next[1:], use.imports...) {
		file := next[0]
		known, ok := b.sheets.Load(file)
		if !ok {
			data, _ := b.load(file) // nil if it cannot be read, which the bundler reports
			known, _ = b.sheets.LoadOrStore(file, b.findSheetUse(file, data))
		}
		use, _ = known.(sheetUse)
		if seen[file] {
			use.imports = nil
		}
		seen[file] = true
	}
	return use.tailwind
}

// findSheet returns the style sheet that an import means. Errors: *failure.Error.
func (b *bundler) findSheet(id, importer string) (string, error) {
	folder := path.Dir(importer)
	id, _, _ = strings.Cut(id, "?")
	if _, ok := join(folder, id); isRelative(id) && !ok {
		return "", errLeavesProject(id)
	}
	specs := []string{"./" + id, strings.TrimPrefix(id, "~")}
	switch {
	case isRelative(id):
		specs = []string{id}
	case strings.HasPrefix(id, "/"):
		specs, folder = []string{"." + b.web + id}, "/"
	case tree.IsInPackage(importer):
		specs = specs[1:]
	}
	for _, spec := range specs {
		ref := reference{importer: importer, isStyle: true, kind: api.ResolveCSSImportRule}
		found, ok := b.find(b.pb, ref, spec, b.file(folder))
		if !ok {
			home, name := tree.PackageOf(tree.PackageFolder + spec)
			found.file, ok = b.packageSheet(home, strings.TrimPrefix(spec, name), "style")
		}
		if !ok {
			continue
		}
		switch {
		case tree.IsInPackage(importer) && !tree.IsInPackage(found.file):
			return "", errLeavesPackage(importer)
		case !isStyleSheet(found.file):
			return "", failf(failure.BuildFailed, "%s is not a style sheet. Import CSS or Sass.", found.file)
		}
		return found.file, nil
	}
	return "", b.errMissing(importer, id)
}

func errLeavesProject(spec string) *failure.Error {
	return failf(failure.BuildFailed, "%s is outside of the project. Use a path inside.", quote(spec))
}

// packageSheet returns the style sheet that a package exports with the first of several conditions, such as "style", or
// that its manifest names in the field of this name. home is the folder of the package. part is "" or the path in the
// package, such as "/theme".
func (b *bundler) packageSheet(home, part string, fields ...string) (file string, ok bool) {
	var manifest map[string]any
	data, err := b.tree.Read(home + "/package.json")
	if err != nil || json.Unmarshal(data, &manifest, tree.JSON) != nil {
		return "", false
	}
	exports, _ := manifest["exports"].(map[string]any)
	target := exports["."+part]
	conditions, hasConditions := target.(map[string]any)
	for _, field := range fields {
		if hasConditions {
			target = conditions[field]
		} else if part == "" && target == nil {
			target = cmp.Or(exports[field], manifest[field])
		}
		text, isText := target.(string)
		file, isInside := join(home, "./"+text)
		if isText && isInside && b.tree.Has(file) && isWithin(home, file) {
			return file, true
		}
		target = exports["."+part]
	}
	return "", false
}

// relativeURL matches url() with a path that is relative to its style sheet.
var relativeURL = regexp.MustCompile(`(?i)\burl\(\s*("[^"\n]*"|'[^'\n]*'|[^"')\s]+)\s*\)`)

// moveURLs changes the relative URLs of a style sheet in the folder from, so that they mean the same files in the
// folder to. Errors: *failure.Error.
func moveURLs(css, from, to string) (string, error) {
	if from == to {
		return css, nil
	}
	var failed error
	css = relativeURL.ReplaceAllStringFunc(css, func(text string) string {
		ref := strings.Trim(relativeURL.FindStringSubmatch(text)[1], "\"'")
		if ref == "" || strings.ContainsAny(ref[:1], "/#") || scheme.MatchString(ref) || strings.HasPrefix(ref, "var(") {
			return text
		}
		file, ok := join(from, ref)
		if !ok || tree.IsInPackage(from+"/") && !tree.IsInPackage(file) {
			failed = errLeavesProject(ref)
			return text
		}
		rel, _ := filepath.Rel(to, file)
		return "url(" + constant.Quote("./"+filepath.ToSlash(rel)) + ")"
	})
	return css, failed
}

var (
	// leadingRule matches what may be before an import. Its group is the URL of an import.
	leadingRule = regexp.MustCompile(`(?is)/\*.*?\*/|@import\s*(url\(\s*(?:"[^"\n]*"|'[^'\n]*'|[^"'\s)]*)\s*\)|"[^"\n]*"|` +
		`'[^'\n]*')[^;{}]*;|@charset\s[^;{}]*;|@layer\s[^;{}]*;`)
	remoteURL = regexp.MustCompile(`(?i)^(?:url\(\s*)?["']?(?:https?:)?//`)
)

// withRemoteImportsFirst moves the imports of style sheets of other sites, such as fonts, before the first rule, as
// Vite does. Browsers ignore them after it. Lines keep their numbers.
func withRemoteImportsFirst(css []byte) []byte {
	var out, remote []byte
	first, end := -1, 0 // the offset of the first rule in out, and of what follows the last match in css
	for _, m := range leadingRule.FindAllSubmatchIndex(css, -1) {
		if first < 0 && len(bytes.TrimSpace(css[end:m[0]])) > 0 {
			first = len(out)
		}
		out = append(out, css[end:m[0]]...)
		rule := css[m[0]:m[1]]
		if first >= 0 && m[2] >= 0 && remoteURL.Match(css[m[2]:m[3]]) {
			remote = append(remote, bytes.ReplaceAll(rule, []byte("\n"), []byte(" "))...)
			rule = bytes.Repeat([]byte("\n"), bytes.Count(rule, []byte("\n")))
		}
		out = append(out, rule...)
		end = m[1]
	}
	if remote == nil {
		return css
	}
	return bytes.Join([][]byte{out[:first], remote, out[first:], css[end:]}, nil)
}
