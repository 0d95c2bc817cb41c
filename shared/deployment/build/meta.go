package build

import (
	"bytes"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/evanw/esbuild/pkg/api"

	"devplatform/shared/deployment/constant"
	"devplatform/shared/deployment/failure"
	"devplatform/shared/deployment/tree"
)

// Vite evaluates import.meta.glob(…) and new URL("./file", import.meta.url) during the build, and esbuild does not. So
// these expressions are replaced by calls of require and import before esbuild sees the file.

// script is the code of a script or a style sheet: of a file, or of an element of a page.
type script struct {
	file string
	line int // of the beginning of the code
	code []byte
	// source is the component or the style sheet in Sass from which the code was compiled, or nil.
	source []byte
}

// at returns an error at an offset of the code.
func (s script) at(offset int, f *failure.Error) *failure.Error {
	if s.source != nil {
		offset = max(0, min(offset, len(s.code)))
		begin := bytes.LastIndexByte(s.code[:offset], '\n') + 1
		line, _, _ := bytes.Cut(s.code[begin:], []byte("\n"))
		placed := &failure.Error{Code: f.Code, Message: f.Message, Path: s.file}
		placed.Line, placed.Column = sourcePosition(s.source, string(line), offset-begin, 0)
		return placed
	}
	f = f.At(s.file, s.code, offset)
	f.Line += s.line - 1
	return f
}

// rewriter replaces the expressions in a script.
type rewriter struct {
	*bundler
	script

	edits []edit
}

// edit is the replacement of a part of the code.
type edit struct {
	start, end int
	text       string
}

var (
	metaUse = regexp.MustCompile(`import\s*\.\s*meta\s*\.\s*(?:glob|url)`)
	metaURL = regexp.MustCompile(`^import\s*\.\s*meta\s*\.\s*url\b`)
	// urlArgument matches the code before import.meta.url. Its groups are the constructor of a worker, and the path.
	urlArgument = regexp.MustCompile(
		"(\\bnew\\s+(?:\\w+\\.)?(?:Shared)?Worker\\s*\\(\\s*)?\\bnew\\s+URL\\s*\\(\\s*(\"[^\"\\n]*\"|'[^'\\n]*'|`[^`]*`)\\s*,\\s*$")
)

// maxURLArgument is the maximum number of bytes before import.meta.url that are searched.
const maxURLArgument = 500

// rewrite returns the code with the replaced expressions. Lines keep their numbers.
func (r *rewriter) rewrite(options api.TransformOptions) ([]byte, *failure.Error) {
	if !metaUse.Match(r.code) {
		return r.code, nil
	}
	for _, start := range metaOffsets(r.code, options) {
		var err *failure.Error
		if metaURL.Match(r.code[start:]) {
			err = r.rewriteURL(start)
		} else if m := metaGlob.Find(r.code[start:]); m != nil && !tree.IsInPackage(r.file) {
			err = r.rewriteGlob(start, len(m))
		}
		if err != nil && err.Path == "" {
			err = r.at(start, err)
		}
		if err != nil {
			return nil, err
		}
	}
	return r.apply(), nil
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

// apply returns the code with the edits.
func (r *rewriter) apply() []byte {
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
	return out.Bytes()
}

// rewriteURL replaces the path in new URL(path, import.meta.url) by the URL of the published file. If there is no such
// file, the path stays as it is.
func (r *rewriter) rewriteURL(offset int) *failure.Error {
	start := max(0, offset-maxURLArgument)
	m := urlArgument.FindSubmatchIndex(r.code[start:offset])
	if m == nil {
		return nil
	}
	isWorker, begin, end := m[2] >= 0, start+m[4], start+m[5]
	literal := string(r.code[begin:end])
	ref, suffix := literal[1:len(literal)-1], ""
	switch {
	case strings.Contains(literal, `\`):
		return nil
	case literal[0] == '`' && strings.Contains(literal, "${"):
		return r.rewriteURLTemplate(begin, end, literal)
	case ref == "" || strings.HasPrefix(ref, "/") || scheme.MatchString(ref):
		return nil
	}
	if i := strings.IndexAny(ref, "?#"); i > 0 {
		ref, suffix = ref[:i], ref[i:]
	}
	file, ok := join(path.Dir(r.file), ref)
	ok = ok && r.has(file)
	spec := file + "?" + kindURL
	switch {
	case !ok && (isRelative(ref) || !r.hasPackage(r.file, ref)):
		if !tree.IsInPackage(r.file) {
			r.warn(lineAt(r.at(begin, failf("", "The file %s does not exist, so the URL stays as it is.", quote(ref)))))
		}
		return nil
	case !ok:
		spec = ref + "?" + kindURL // a file of a package
	case isWorker:
		spec = file + "?worker&url"
	case needsTranspiling(file) && tree.IsInPackage(r.file):
		return nil
	case needsTranspiling(file):
		return r.at(begin, failf(failure.BuildFailed, "new URL(%s, import.meta.url) publishes the file as it is, and "+
			"browsers cannot run TypeScript or JSX. Import the file instead.", quote(ref)))
	}
	text := requireCall(spec)
	if suffix != "" {
		text = "(" + text + "+" + constant.Quote(suffix) + ")"
	}
	r.edits = append(r.edits, edit{begin, end, text})
	return nil
}

var templatePart = regexp.MustCompile(`\$\{[^{}` + "`" + `]*\}`)

// rewriteURLTemplate replaces a path that has computed parts with a look-up in the files that the path can mean.
func (r *rewriter) rewriteURLTemplate(begin, end int, literal string) *failure.Error {
	pattern := templatePart.ReplaceAllString(literal[1:len(literal)-1], "*")
	if !isRelative(pattern) || strings.Contains(pattern, "$") || tree.IsInPackage(r.file) {
		return nil
	}
	text, err := r.expand(globCall{
		patterns: []string{pattern}, eager: true, name: "default", query: "?url", assets: true,
	})
	r.edits = append(r.edits, edit{begin, end, text + "[" + literal + "]"})
	return err
}

// needsTranspiling reports whether a file is a script that browsers cannot run.
func needsTranspiling(file string) bool {
	return slices.Contains([]string{".ts", ".tsx", ".mts", ".cts", ".jsx"}, strings.ToLower(path.Ext(file)))
}

func requireCall(spec string) string { return "require(" + constant.Quote(spec) + ")" }
