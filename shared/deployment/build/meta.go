package build

import (
	"bytes"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/evanw/esbuild/pkg/api"

	"devplatform/shared/deployment/failure"
)

// Vite evaluates import.meta.glob(…) and new URL("./file", import.meta.url) during the build, and esbuild does not. So
// these expressions are replaced by imports before esbuild sees the file. The imports are resolved like all others.

// metaRewriter replaces the expressions in one file.
type metaRewriter struct {
	*bundler

	file     string // of the project or of a package
	code     []byte
	edits    []edit
	imports  []string             // declarations that are appended to the file
	added    map[[2]string]string // the names of the imports
	warnings []metaWarning
}

// edit is the replacement of a part of the code.
type edit struct {
	start, end int
	text       string
}

// metaWarning is a warning at an offset of the code.
type metaWarning struct {
	offset int
	text   string
}

// metaError is an error at an offset of the code.
type metaError struct {
	offset int
	*failure.Error
}

var (
	metaUse = regexp.MustCompile(`import\s*\.\s*meta\s*\.\s*(?:glob|url)`)
	metaURL = regexp.MustCompile(`^import\s*\.\s*meta\s*\.\s*url\b`)
	// urlArgument matches the code before import.meta.url. Its groups are the constructor of a worker, and the path.
	urlArgument = regexp.MustCompile(
		"(\\bnew\\s+(?:\\w+\\.)?(?:Shared)?Worker\\s*\\(\\s*)?\\bnew\\s+URL\\s*\\(\\s*(\"[^\"\\n]*\"|'[^'\\n]*'|`[^`]*`)\\s*,\\s*$")
)

// maxURLArgument is the number of bytes before import.meta.url that are searched.
const maxURLArgument = 500

// rewrite replaces the expressions in the code. The lines keep their numbers.
func (r *metaRewriter) rewrite(options api.TransformOptions) *metaError {
	if !metaUse.Match(r.code) {
		return nil
	}
	for _, offset := range metaOffsets(r.code, options) {
		rest := r.code[offset:]
		switch {
		case metaURL.Match(rest):
			if err := r.rewriteURL(offset); err != nil {
				return err
			}
		case metaGlob.Match(rest) && !isInPackage(r.file):
			if err := r.rewriteGlob(offset); err != nil {
				return err
			}
		}
	}
	r.apply()
	return nil
}

var lineEnds = regexp.MustCompile("\r\n|[\r\n\u2028\u2029]")

// metaOffsets returns the offsets of import.meta in the code, without those in comments and strings. They come from the
// bundler, which warns of each use if its options say that browsers do not have import.meta.
func metaOffsets(code []byte, options api.TransformOptions) []int {
	options.Supported = map[string]bool{"import-meta": false}
	options.LogLevel = api.LogLevelSilent
	options.LogOverride = map[string]api.LogLevel{"empty-import-meta": api.LogLevelWarning}
	lines := []int{0}
	for _, end := range lineEnds.FindAllIndex(code, -1) {
		lines = append(lines, end[1])
	}
	var offsets []int
	for _, w := range api.Transform(string(code), options).Warnings {
		if w.ID != "empty-import-meta" || w.Location == nil || w.Location.Line > len(lines) {
			continue
		}
		offset := lines[w.Location.Line-1] + w.Location.Column
		if bytes.HasPrefix(code[min(offset, len(code)):], []byte("import")) {
			offsets = append(offsets, offset)
		}
	}
	slices.Sort(offsets)
	return slices.Compact(offsets)
}

// apply applies the edits.
func (r *metaRewriter) apply() {
	if len(r.edits) == 0 {
		return
	}
	var out bytes.Buffer
	end := 0
	for _, e := range r.edits {
		if e.start < end {
			continue // a part of an expression that was replaced
		}
		out.Write(r.code[end:e.start])
		out.WriteString(e.text)
		out.WriteString(strings.Repeat("\n", bytes.Count(r.code[e.start:e.end], []byte("\n"))))
		end = e.end
	}
	out.Write(r.code[end:])
	for _, declaration := range r.imports {
		out.WriteString("\n;" + declaration)
	}
	r.code = out.Bytes()
}

// add returns the name of an import, which is appended to the file. binding is a format for the name, such as
// "* as %s".
func (r *metaRewriter) add(binding, spec string) string {
	key := [2]string{binding, spec}
	name, ok := r.added[key]
	if !ok {
		name = fmt.Sprintf("__deployment_%d", len(r.imports))
		r.added[key] = name
		r.imports = append(r.imports, "import "+fmt.Sprintf(binding, name)+" from "+quoteJSON(spec)+";")
	}
	return name
}

// rewriteURL replaces the path in new URL(path, import.meta.url) by the URL of the published file. If there is no such
// file, the path stays as it is.
func (r *metaRewriter) rewriteURL(offset int) *metaError {
	start := max(0, offset-maxURLArgument)
	m := urlArgument.FindSubmatchIndex(r.code[start:offset])
	if m == nil {
		return nil
	}
	isWorker, begin, end := m[2] >= 0, start+m[4], start+m[5]
	literal := string(r.code[begin:end])
	if strings.Contains(literal, `\`) {
		return nil
	}
	if strings.Contains(literal, "${") && literal[0] == '`' {
		return r.rewriteURLTemplate(begin, end, literal)
	}
	ref, suffix := literal[1:len(literal)-1], ""
	if i := strings.IndexAny(ref, "?#"); i > 0 {
		ref, suffix = ref[:i], ref[i:]
	}
	file, ok := join(path.Dir(r.file), ref)
	if ref == "" || strings.HasPrefix(ref, "/") || scheme.MatchString(ref) {
		return nil
	}
	_, isPackage := r.home(r.file, ref)
	isPackage = isPackage && !isRelative(ref)
	if (!ok || !r.has(file)) && !isPackage {
		r.warn(begin, "The file %s does not exist, so the URL stays as it is.", quote(ref))
		return nil
	}
	spec := file + "?" + nsURL
	switch {
	case !r.has(file):
		spec = ref + "?" + nsURL // a file of a package
	case isWorker:
		spec = file + "?" + workerURLKey
	case needsTranspiling(file) && isInPackage(r.file):
		return nil
	case needsTranspiling(file):
		return &metaError{begin, failf(failure.BuildFailed, "new URL(%s, import.meta.url) publishes the file as it is, and "+
			"browsers cannot run TypeScript or JSX. Import the file instead.", quote(ref))}
	}
	text := r.add("%s", spec)
	if suffix != "" {
		text = "(" + text + "+" + quoteJSON(suffix) + ")"
	}
	r.edits = append(r.edits, edit{begin, end, text})
	return nil
}

var templatePart = regexp.MustCompile(`\$\{[^{}` + "`" + `]*\}`)

// rewriteURLTemplate replaces a path with parts that are computed by a look-up in the files that it can mean.
func (r *metaRewriter) rewriteURLTemplate(begin, end int, literal string) *metaError {
	g := glob{patterns: []string{templatePart.ReplaceAllString(literal[1:len(literal)-1], "*")},
		eager: true, name: "default", query: "?url", assets: true}
	if !strings.HasPrefix(g.patterns[0], "./") && !strings.HasPrefix(g.patterns[0], "../") ||
		strings.Contains(g.patterns[0], "$") || isInPackage(r.file) {
		return nil
	}
	text, err := r.expand(g)
	if err != nil {
		return &metaError{begin, err}
	}
	r.edits = append(r.edits, edit{begin, end, text + "[" + literal + "]"})
	return nil
}

// warn adds a warning about a file of the project, up to maxWarnings in a build.
func (r *metaRewriter) warn(offset int, format string, args ...any) {
	if !isInPackage(r.file) && r.warned.Add(1) <= maxWarnings {
		r.warnings = append(r.warnings, metaWarning{offset, fmt.Sprintf(format, args...)})
	}
}

// needsTranspiling reports whether a file is a script that browsers cannot run.
func needsTranspiling(file string) bool {
	return slices.Contains([]string{".ts", ".tsx", ".mts", ".cts", ".jsx"}, strings.ToLower(path.Ext(file)))
}
